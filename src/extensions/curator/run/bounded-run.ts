// Owns how much of a run is told: skills of the evidence that have no file any more are many after a clean-up. Pure.
// Invariant: the counts stay those of all; what is left out is counted in a note.
import { plural } from '#base/text.ts';
import type { AutoRun } from './run-outcome.ts';

const MOST_MISSING = 500;

export function boundedRun(run: AutoRun, notes: readonly string[] = []): AutoRun {
  const missing = run.candidates.filter(({ reason }) => reason === 'skill-file-not-found');
  const cut = new Set(missing.slice(MOST_MISSING));
  const said = cut.size === 0 ? notes : [...notes, `left out: ${plural(cut.size, 'more skill')} without a SKILL.md`];
  if (said.length === 0) return run;
  return { ...run, candidates: run.candidates.filter((entry) => !cut.has(entry)), notes: said };
}
