// Owns the writing half of a run (curator notes 8.6): each planned entry through the door, in the plan's order. Knows no evidence.
// Invariants: what is written is what was planned, for the text that it was planned for; an entry that a gate refuses is skipped and its
// slot goes to the next skill, never is a gate overridden; the number of tries is bounded.

import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { throwIfAborted } from '#base/abort.ts';
import { errorCode } from '#base/errors.ts';
import type { Verifier } from '#mind/skills/door/verify/verifier.ts';
import { locateBlock } from '#mind/skills/format/managed-block.ts';
import type { WriteTrail } from '#mind/skills/skill-door.ts';
import type { PreparedUpdate } from '../../block/prepare-update.ts';
import { prunableReferences } from '../../block/reference-file.ts';
import type { AutoRunRequest } from '../../plan/auto-run-request.ts';
import { type PlannedWrite, planWrites } from '../../plan/plan-auto-run.ts';
import { skipped } from '../../plan/planned-skill.ts';
import { refusedSkill } from '../gather/gather-skills.ts';
import { type AppliedEntry, type AutoRun, GATES, withOutcomes } from '../run-outcome.ts';
import { type WriteParts, writeSkill } from './write-skill.ts';

export interface PassParts extends WriteParts {
  readonly verifiers: readonly Verifier[];
  /** But for the source, which is the entry's. */
  readonly trail: WriteTrail;
  readonly isPinned: (skill: string) => boolean;
}

/** As many as the most that one run may plan. */
const MOST_TRIES = 25;

export async function writePass(parts: PassParts, first: AutoRunRequest, signal: AbortSignal): Promise<AutoRun> {
  const outcomes = new Map<string, AppliedEntry>();
  let request = first;
  for (;;) {
    const { plan, writes } = planWrites(request);
    const due = writes.filter(({ entry }) => !outcomes.has(entry.skill_name)).slice(0, MOST_TRIES - outcomes.size);
    for (const write of due) {
      throwIfAborted(signal);
      outcomes.set(write.entry.skill_name, await writeOne(parts, write, signal));
    }
    const isRefused = due.some(({ entry }) => outcomes.get(entry.skill_name)?.status === 'skipped');
    if (!isRefused || outcomes.size >= MOST_TRIES) return withOutcomes(plan, outcomes);
    request = withoutRefused(first, outcomes);
  }
}

function withoutRefused(request: AutoRunRequest, outcomes: ReadonlyMap<string, AppliedEntry>): AutoRunRequest {
  const skills = request.skills.map((skill) => {
    const outcome = outcomes.get(skill.name);
    return outcome?.status === 'skipped' ? refusedSkill(skill, outcome.reason ?? '') : skill;
  });
  return { ...request, skills };
}

async function writeOne(parts: PassParts, { entry, update }: PlannedWrite, signal: AbortSignal): Promise<AppliedEntry> {
  const { skill_name: name, target_path: target } = entry;
  if (target === null || entry.current_sha256 === undefined) throw new TypeError('a planned entry has a file');
  const pruned = staleReferences(target, name, update);
  const files = [
    ...update.supportFiles.map(({ path, text }) => ({ path, content: text })),
    ...pruned.map((path) => ({ path, content: null })),
  ];
  const request = {
    name,
    change: { action: 'edit', content: update.content, files },
    actor: 'curator',
    approved: true,
    expectedHash: entry.current_sha256,
    verifiers: parts.verifiers,
    trail: { ...parts.trail, source: entry.source },
  } as const;
  const result = await writeSkill(parts, { request, target }, signal);
  if (result.applied)
    return { ...entry, status: 'applied', apply_result: pruned.length ? { ...result, pruned_files: pruned } : result };
  const reason = result.reason === 'read-only' && parts.isPinned(name) ? 'pinned-skill' : result.reason;
  const told = { ...result, reason };
  return { ...(GATES.has(reason) ? skipped(entry, reason) : entry), apply_result: told };
}

/** Paths below the skill's folder, oldest first; nothing when no new file comes and the block stays. */
function staleReferences(target: string, skill: string, update: PreparedUpdate): readonly string[] {
  const [current] = update.supportFiles;
  if (current === undefined && locateBlock(update.content).state !== 'none') return [];
  return prunableReferences(referencesIn(dirname(target)), skill, current?.path);
}

function referencesIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(join(folder, 'references'), { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => `references/${name}`);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return [];
  }
}
