// Owns finding skills by shared words (seed 002, candidates; curator notes 6). Pure and deterministic: the order of the input does not
// matter. Skills that share no word come last, with a score of 0.
import { roundHalfEven } from '#base/number/round-half-even.ts';
import { comparePoints } from '#base/text/code-points.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-preview.ts';
import { withoutBlock } from '#mind/skills/format/managed-block.ts';

export interface SearchedSkill {
  readonly name: string;
  readonly text: string;
}

/** A skill of a folder; `path` is carried through. */
interface PlacedSkill extends SearchedSkill {
  readonly path: string;
}

export interface LexicalCandidate {
  readonly skill_name: string;
  /** Share of the query's words that the skill has, 4 decimals. */
  readonly score: number;
  /** Up to 8 of those words, sorted. */
  readonly reasons: readonly string[];
}

const DEFAULT_LIMIT = 10;
const MOST_REASONS = 8;

/**
 * Skills by the words that they share with a query (seed 002, candidates; notes 6). In: the query, skills as name and text, and `limit`
 * (default 10, at least 1). Out: name, `score` (share of the query's words, 0 to 1, 4 decimals) and up to 8 of those words, best first,
 * equal ones by name; a skill without a shared word has 0. Ours does not read managed blocks. Throws nothing.
 */
export function lexicalCandidates(
  query: string,
  skills: readonly SearchedSkill[],
  limit: number = DEFAULT_LIMIT,
  { compat }: CompatOptions = {},
): readonly LexicalCandidate[] {
  const own = (text: string) => (compat === 'upstream' ? text : withoutBlock(text));
  const placed = skills.map(({ name, text }) => ({ name, text: own(text), path: '' }));
  return candidatesByWords(query, placed, limit).map(({ path: _nowhere, ...candidate }) => candidate);
}

/** The same of whole texts, with the place of each skill. */
export function candidatesByWords(
  query: string,
  skills: readonly PlacedSkill[],
  limit: number,
): readonly (LexicalCandidate & { readonly path: string })[] {
  const asked = tokensOf(query);
  const scored = skills.map((skill) => ({ ...scoreSkill(skill, asked), path: skill.path }));
  scored.sort(
    (a, b) =>
      b.score - a.score ||
      comparePoints(a.skill_name, b.skill_name) ||
      comparePoints(a.reasons.join('\n'), b.reasons.join('\n')) ||
      comparePoints(a.path, b.path),
  );
  return scored.slice(0, Math.max(1, Math.trunc(limit ?? DEFAULT_LIMIT)));
}

function scoreSkill({ name, text }: SearchedSkill, asked: ReadonlySet<string>): LexicalCandidate {
  const held = tokensOf(text);
  const shared = [...asked].filter((word) => held.has(word)).sort(comparePoints);
  const score = roundHalfEven(shared.length / Math.max(asked.size, 1), 4);
  const reasons = shared.slice(0, MOST_REASONS);
  return { skill_name: name, score, reasons };
}

/** Letters, digits and underscore of every script, as the original's language counts word characters. */
const WORD = /[\p{L}\p{N}_-]+/gu;

function tokensOf(text: string): ReadonlySet<string> {
  const words = text.match(WORD) ?? [];
  return new Set(words.filter((word) => /../u.test(word)).map((word) => word.toLowerCase()));
}
