// Owns where a proposal takes the text of its skill from: the file that was named, else the library. Writes nothing.
import { readFileSync } from 'node:fs';
import { errorCode } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { type Failure, refused } from '#core/agent/command-failure.ts';
import { openEvidence } from '../backfill/open-evidence.ts';
import type { CuratorGround, CuratorMind } from '../curator-ground.ts';
import { reportOf } from './report-of.ts';

/** Empty for a skill that the library does not know. */
export async function skillText(mind: Pick<CuratorMind, 'skills'>, name: string, signal: AbortSignal): Promise<string> {
  await mind.skills.ready(signal);
  return mind.skills.get(name)?.text ?? '';
}

/** Longer than anything is kept. */
const ALL_DAYS = 3650;

/** The refusal of a command about a skill that the library has not and that no evidence names; undefined for any other. */
export async function noSuchSkill(
  ground: CuratorGround,
  name: string,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  const { mind } = await openEvidence(ground, signal);
  await mind.skills.ready(signal);
  if (mind.skills.get(name)) return undefined;
  if (reportOf(ground, mind, { days: ALL_DAYS, skill: name }).summary.tool_events > 0) return undefined;
  return refused('no-such-skill', `There is no skill ${name}.`, '`talaria skills list` shows them.');
}

/** A text file as the person named it; bytes that are no UTF-8 are replaced. */
export function namedFile(path: string): Result<string, 'file-not-readable'> {
  try {
    return ok(readFileSync(path, 'utf8'));
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    return refuse('file-not-readable', `${path} cannot be read (${code}).`);
  }
}
