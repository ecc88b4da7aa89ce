// Owns what a turn is told of skills that the prompt's index had no room for: the few that fit the request, in the USER message, so that
// the prefix stays as it is. Knows no hook; mind/learning and the app call it in beforeTurn.
// Invariant: says nothing when nothing fits well; text of skills is foreign, whoever wrote them.

import { contentStems } from '#base/text/content-stems.ts';
import { ellipsize } from '#base/text.ts';
import type { TextPart } from '#core/model/message.ts';
import type { SkillConditions } from '../library/offered.ts';
import type { SkillHeader } from '../skill.ts';
import type { RankedSkill, SkillRanker } from './rank-skills.ts';
import { PROCEDURAL_MEMORY } from './skill-index.ts';
import { questionStems } from './word-index.ts';

export interface OfferOptions {
  readonly ranker: SkillRanker;
  readonly conditions: SkillConditions;
  /** Names in the prompt's index: they need no offer. */
  readonly shown: ReadonlySet<string>;
  /** Skills that fit these surroundings (`SkillIndexText.total`). */
  readonly total: number;
  /** Default 5. */
  readonly limit?: number;
}

const LIMIT = 5;
const DESCRIPTION_SIZE = 160;
/** BM25 from which the body alone speaks for a skill: several rare words or a pair of them. */
const STRONG = 12;

/** A part for the user message, or undefined when there is nothing worth reading. */
export async function offerSkills(
  question: string,
  options: OfferOptions,
  signal: AbortSignal,
): Promise<TextPart | undefined> {
  const { ranker, shown, conditions, total, limit = LIMIT } = options;
  if (total <= shown.size) return undefined;
  const ranked = await ranker.rank(question, { limit, conditions, without: shown }, signal);
  const stems = new Set(questionStems(question));
  const fitting = ranked.filter((skill) => isWorthReading(skill, stems));
  return fitting.length === 0 ? undefined : offerPart(fitting.map(({ header }) => header));
}

/** Found by meaning, or by two words of its header (one of a short question), or by much of its body. */
function isWorthReading({ header, wordScore }: RankedSkill, stems: ReadonlySet<string>): boolean {
  if (wordScore === 0 || wordScore >= STRONG) return true;
  const { name, description, whenToUse, tags } = header;
  const own = new Set(contentStems(`${name} ${description} ${whenToUse} ${tags.join(' ')}`));
  const common = [...stems].filter((stem) => own.has(stem)).length;
  return common >= (stems.size <= 3 ? 1 : 2);
}

function offerPart(headers: readonly SkillHeader[]): TextPart {
  const lines = headers.map(({ name, description }) => `- ${name}: ${ellipsize(description, DESCRIPTION_SIZE)}`);
  const text = `${PROCEDURAL_MEMORY} Skills that may fit this request; read one with skill_view before use:\n${lines.join('\n')}`;
  return { type: 'text', text, origin: 'foreign', label: 'context' };
}
