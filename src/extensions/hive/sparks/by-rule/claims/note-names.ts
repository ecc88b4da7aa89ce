// Owns keeping track of whom a pronoun means from one sentence to the next. English. Knows no claim.

import type { Antecedent, Speaker } from './speaker.ts';
import { isNamed } from './subject-of.ts';

const ACTOR =
  /^(\p{Lu}[\p{Ll}-]+)(?: \p{Lu}[\p{L}-]+)?(?:,| (?:is|was|has|had|will|can|works|lives|and|met|knows|runs|said|says|likes|does|did|owns|leads|just|also|told|asked|introduced|comes|here)\b)/u;
const NO_ACTOR =
  /^(?:The|This|That|These|Those|My|Our|Your|His|Her|Their|Its|I|We|You|He|She|They|It|Both|Also|And|But|So|Here|There|Someone|Everyone|Today|Currently)$/;
const RELATIVE =
  /\b(?:brother|sister|husband|wife|friend|colleague|partner|boss|manager|mother|father|son|daughter|cousin|neighbou?r|assistant|co-?founder|mentor|client)s?,? (?:named |called )?\p{Lu}\p{Ll}+/u;

/** Call it before a sentence is understood. */
export function noteActor(text: string, speaker: Speaker, antecedent: Antecedent): void {
  const actor = ACTOR.exec(text)?.[1];
  if (actor !== undefined && !NO_ACTOR.test(actor)) antecedent.isPeer = isNamed(actor, speaker);
}

/** Call it afterwards: `her brother Tom` may be whom the next `he` means. */
export function noteRelative(text: string, antecedent: Antecedent): void {
  if (antecedent.gender === undefined && RELATIVE.test(text)) antecedent.isPeer = false;
}
