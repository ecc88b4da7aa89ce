/** What is done to skills while something breaks: each with the state before, one action, and nothing else. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '#base/ids.ts';
import type { SkillChange, Verifier } from '#mind/skills/skill.ts';
import { type OpenDoor, type OpenDoorOptions, skillText } from '../../mind/skills/skill-bench.ts';

export interface DoorScenario {
  readonly name: string;
  readonly skill: string;
  readonly options?: OpenDoorOptions;
  /** An unharmed run is refused and changes nothing. */
  readonly refuses?: boolean;
  /** For a moment there is no folder: only the next start finds a whole state again. */
  readonly swaps?: boolean;
  /** Verifiers are asked: what was not verified is put back at the next start. */
  readonly verifies?: boolean;
  /** Files that somebody else made in the folder: nobody takes them away after a kill. */
  readonly strays?: readonly string[];
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

const passing: Verifier = { name: 'passing', verify: async () => ({ passed: true, detail: '' }) };
const failing: Verifier = { name: 'failing', verify: async () => ({ passed: false, detail: 'no', exitCode: 3 }) };
/** Writes where it should not. */
const careless: Verifier = {
  name: 'careless',
  verify: async ({ path }) => {
    writeFileSync(join(path, 'references/made.md'), 'made');
    return { passed: true, detail: '' };
  },
};

/** What the curator does: SKILL.md and support files as one change, checked before it counts. */
const curate = (verifiers: readonly Verifier[]) => (opened: OpenDoor) =>
  opened.door.write({
    name: 'csv',
    change: {
      action: 'edit',
      content: skillText('csv', 'Step one.\nSee references/new.md.\n'),
      files: [
        { path: 'references/new.md', content: 'new' },
        { path: 'references/a.md', content: null },
        { path: 'assets/b.txt', content: 'replaced' },
      ],
    },
    actor: 'curator',
    approved: true,
    expectedHash: sha256(skillText('csv')),
    verifiers,
    trail: { source: 'local-agent-created', scheduler: { timer_path: '/units/curator.timer' } },
  });

const addAsset = write('csv', { action: 'write_file', filePath: 'assets/b.txt', content: 'as it was' });

/** What is no part of the skill and has to stay. */
async function addForeign(opened: OpenDoor): Promise<{ ok: boolean }> {
  writeFileSync(join(opened.root, 'data/csv/.notes'), 'hidden');
  symlinkSync('../csv/SKILL.md', join(opened.root, 'data/csv/link.md'));
  return { ok: true };
}

const undo = (opened: OpenDoor) => opened.door.rollback({ skill: 'csv' });
const asCurator = (name: string, verifiers: readonly Verifier[], more: Partial<DoorScenario> = {}): DoorScenario => ({
  ...scenario(name, curate(verifiers), create, addFile, addAsset, addForeign),
  swaps: true,
  verifies: verifiers.length > 0,
  ...more,
});

export const doorScenarios: readonly DoorScenario[] = [
  scenario('create', create),
  scenario('patch', patch, create),
  {
    ...scenario('patch with a verifier', patch, create),
    options: { verifiers: [passing] },
    verifies: true,
    swaps: true,
  },
  scenario('write_file', addFile, create),
  scenario('remove_file', write('csv', { action: 'remove_file', filePath: 'references/a.md' }), create, addFile),
  scenario('delete', remove, create, addFile),
  asCurator('edit with support files', []),
  asCurator('edit with support files and a verifier', [passing]),
  asCurator('edit that a verifier turns down', [failing], { refuses: true }),
  asCurator('edit whose verifier writes into the skill', [careless], { refuses: true, strays: ['references/made.md'] }),
  {
    ...scenario(
      'rollback of an edit with support files',
      undo,
      create,
      addFile,
      addAsset,
      curate([passing]),
      addForeign,
    ),
    swaps: true,
  },
  scenario('rollback of a patch', undo, create, patch),
  scenario('rollback of a creation', undo, create),
  scenario('rollback of a deletion', undo, create, addFile, remove),
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
