/** What is done to skills while something breaks: each with the state before, one action, and nothing else. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SkillChange } from '#mind/skills/skill-door.ts';
import { type OpenDoor, type OpenDoorOptions, skillText } from '../../mind/skills/door/open-door.ts';

export interface DoorScenario {
  readonly name: string;
  readonly skill: string;
  readonly options?: OpenDoorOptions;
  readonly prepare: (opened: OpenDoor) => Promise<void>;
  readonly act: (opened: OpenDoor) => Promise<{ readonly ok: boolean }>;
}

const write = (name: string, change: SkillChange) => (opened: OpenDoor) =>
  opened.door.write({ name, change, actor: 'agent', approved: true });

const create = write('csv', { action: 'create', content: skillText('csv'), category: 'data' });
const patch = write('csv', { action: 'patch', oldString: 'Step one.', newString: 'First.' });
const addFile = write('csv', { action: 'write_file', filePath: 'references/a.md', content: 'a' });
const remove = write('csv', { action: 'delete' });

async function prepared(
  opened: OpenDoor,
  ...steps: readonly ((opened: OpenDoor) => Promise<{ ok: boolean }>)[]
): Promise<void> {
  // One write elsewhere, so that everything is loaded before anything is counted.
  await write('other', { action: 'create', content: skillText('other') })(opened);
  for (const step of steps) await step(opened);
}

const scenario = (
  name: string,
  act: DoorScenario['act'],
  ...before: Parameters<typeof prepared>[1][]
): DoorScenario => ({
  name,
  skill: 'csv',
  prepare: (opened) => prepared(opened, ...before),
  act,
});

const passing = { name: 'passing', verify: async () => ({ passed: true, detail: '' }) };

export const doorScenarios: readonly DoorScenario[] = [
  scenario('create', create),
  scenario('patch', patch, create),
  { ...scenario('patch with a verifier', patch, create), options: { verifiers: [passing] } },
  scenario('write_file', addFile, create),
  scenario('remove_file', write('csv', { action: 'remove_file', filePath: 'references/a.md' }), create, addFile),
  scenario('delete', remove, create, addFile),
  scenario('rollback of a patch', (opened) => opened.door.rollback({ skill: 'csv' }), create, patch),
  scenario('rollback of a creation', (opened) => opened.door.rollback({ skill: 'csv' }), create),
  scenario('rollback of a deletion', (opened) => opened.door.rollback({ skill: 'csv' }), create, addFile, remove),
  {
    ...scenario('install', (opened) => opened.door.install({ from: outside(), source: 'community', approved: true })),
    skill: 'digest',
  },
];

let folder: string | undefined;

function outside(): string {
  if (folder !== undefined) return folder;
  folder = mkdtempSync(join(tmpdir(), 'talaria-outside-'));
  mkdirSync(join(folder, 'scripts'));
  writeFileSync(join(folder, 'SKILL.md'), skillText('digest'));
  writeFileSync(join(folder, 'scripts/a.sh'), 'echo a\n');
  return folder;
}

export function removeOutside(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  folder = undefined;
}
