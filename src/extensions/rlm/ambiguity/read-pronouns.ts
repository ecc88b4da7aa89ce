// Owns the first pronoun of a request before which nothing is named that it could stand for. Knows no verbs; what names something is asked.
// Invariant: linear in the tokens; a person's pronoun is only resolved by a person.

import { wordSet } from './lexicon.ts';
import { AFTER_ALONE } from './request-words.ts';

const PRONOUNS = wordSet('it its they them their he him his she her this that these those one ones');
const DEMONSTRATIVES = wordSet('this that these those das dies');
const PERSONAL = wordSet('he him his she her');

/** Words that name a person, by their ending or by themselves. */
const PERSON =
  /(?:(?<!numb|pap|lett|ord|chapt|fold|numm)er|or|ist|ian|ee|(?<!docum|statem|argum|judgm|agreem|paym|mom|elem|segm|segment|accid|incid)(?:ant|dent|ient))$|^(?:man|woman|wife|husband|mother|father|son|daughter|boss|chief|judge|clerk|witness|person|minister|dr|mr|mrs|ms)$/;

/** Whether the word at a place names something. */
type Names = (words: readonly string[], at: number) => boolean;

export function unresolvedPronoun(
  tokens: readonly string[],
  more: ReadonlySet<string> | null,
  names: Names,
): string | null {
  const seen: Seen = { words: [], named: false, person: false };
  for (const [at, token] of tokens.entries()) {
    const pronoun = PRONOUNS.has(token) || more?.has(token) === true;
    if (pronoun && standsAlone(tokens, at) && !isResolved(token, seen, names)) return token;
    if (!/[\p{L}\p{N}]/u.test(token)) continue;
    seen.words.push(token);
    const naming = names(seen.words, seen.words.length - 1);
    seen.named ||= naming;
    seen.person ||= naming && PERSON.test(token);
  }
  return null;
}

interface Seen {
  readonly words: string[];
  named: boolean;
  person: boolean;
}

/** "The first one": what stands right before `one` belongs to it and names nothing. */
function isResolved(token: string, seen: Seen, names: Names): boolean {
  if (PERSONAL.has(token)) return seen.person;
  if (token !== 'one' && token !== 'ones') return seen.named;
  return seen.words.slice(0, -1).some((_, at) => names(seen.words, at));
}

function standsAlone(tokens: readonly string[], at: number): boolean {
  const token = tokens[at] ?? '';
  const next = tokens[at + 1];
  if (token === 'it' || token === 'es') return !/^(?:true|possible|clear|necessary|likely|gibt)$/.test(next ?? '');
  if (!DEMONSTRATIVES.has(token)) return token !== 'one' || !/^(?:of|\p{L})/u.test(next ?? '');
  return next === undefined || /^[.!?;,:]$/.test(next) || AFTER_ALONE.has(next);
}
