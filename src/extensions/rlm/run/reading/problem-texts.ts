// Owns the form in which what was wrong with a reply is told: to the model that is asked again, and in events. Pure.
import type { EnvelopeProblem } from '../../envelope/envelope-problem.ts';
import type { RejectedClaim } from '../../guard/parent-claim.ts';

const MOST = 12;

export function problemTexts(problems: readonly EnvelopeProblem[]): readonly string[] {
  return problems
    .slice(0, MOST)
    .map(({ code, path, detail }) => `${path === '' ? 'reply' : path}: ${detail} (${code})`);
}

export function rejectionTexts(rejected: readonly RejectedClaim[]): readonly string[] {
  return rejected.slice(0, MOST).map(({ reason, detail, claim }) => `${claim.surface}: ${detail} (${reason})`);
}
