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
/**
 * BM25 a stem of the question. Small talk stays under 2 in nineteen of twenty cases, a sentence of a skill's body is over 3 in nine of
 * ten; two words that the header shares, or one of its name, are enough when the rest does not speak against it.
 */
const BODY_SPEAKS = 2.2;
const HEADER_SPEAKS = 1;
/** Among so few, BM25 says little. */
const FEW = 50;

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
  const fitting = ranked.filter((skill) => isWorthReading(skill, stems, total));
  return fitting.length === 0 ? undefined : offerPart(fitting.map(({ header }) => header));
}

/** Found by meaning alone, by much of its body, by its name or a tag, or by two words of its header. */
function isWorthReading({ header, wordScore }: RankedSkill, stems: ReadonlySet<string>, total: number): boolean {
  if (wordScore === 0) return true;
  const perStem = wordScore / stems.size;
  if (stems.size > 1 && perStem >= BODY_SPEAKS) return true;
  const { name, description, whenToUse, tags } = header;
  const common = (text: string) => new Set(contentStems(text).filter((stem) => stems.has(stem))).size;
  const named = common(`${name} ${tags.join(' ')}`);
  return (perStem >= HEADER_SPEAKS || total < FEW) && (named > 0 || common(`${description} ${whenToUse}`) > 1);
}

function offerPart(headers: readonly SkillHeader[]): TextPart {
  const lines = headers.map(({ name, description }) => `- ${name}: ${ellipsize(description, DESCRIPTION_SIZE)}`);
  const text = `${PROCEDURAL_MEMORY} Skills that may fit this request; read one with skill_view before use:\n${lines.join('\n')}`;
  return { type: 'text', text, origin: 'foreign', label: 'context' };
}
