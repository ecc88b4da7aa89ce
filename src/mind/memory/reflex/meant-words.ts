// Owns what tells an order about the memory from talk: vague things, guesses, and corrections ordered in so many words. English.
// Invariant: pure; in doubt the words are talk, and the owner is asked (reflex 8).
import type { ReflexInput } from '#core/agent/reflex-rule.ts';
import { maskQuotes } from '#core/reflex/reading/mask-quotes.ts';

/** Words that name nothing by themselves. */
const VAGUE = new Set(
  'a an the this that these those it its one ones thing things thingy stuff something anything everything nothing someone somebody somewhere whatever whichever about some any few couple two three four five whole entire most much many half enough at bit bits part parts piece lot of on in for rest last first next other others another old new same previous earlier certain kind sort all both i you we he she they me him her us them what who how when where why is was are were be do did does so and or but to just only ever somehow for heard hear saw seen learned asked ask said say says told tell know knew mentioned mention talked saw did have had wrong right different else best past present future yesterday today tomorrow tonight moment second minute hour day days week weeks month months year years life happen happens happened now then later again way idea point matter case note notes entry entries memory memories fact facts info information data details detail please pls idc'.split(
    ' ',
  ),
);

/** `the thing`, `something`, `that one`, `what they say`: nothing that an entry could be found by. */
export function isVague(words: string): boolean {
  return words
    .toLowerCase()
    .split(/[^\p{L}\p{N}']+/u)
    .every((word) => word === '' || VAGUE.has(word));
}

const HEDGE =
  /\b(?:might|maybe|perhaps|possibly|probably|presumably|could|would|supposedly|apparently|i (?:think|guess|suppose|believe|wonder|doubt|hope|wish|fear|imagine)|thinking (?:of|about)|considering|wondering|not sure|unsure|as if|as though|if only|seems?|looks like|feels?)\b/i;

/** A guess or a wish: no fact. Quoted words do not count. */
export function isHedged(words: string): boolean {
  return HEDGE.test(maskQuotes(words));
}

const MEMORY =
  /\b(?:your|my|the) (?:memor(?:y|ies)|notes|records|profile)\b|\b(?:in|from|to|of) memory\b|\bwhat you (?:already |still )?(?:remember|know|have|stored|noted|kept)\b|\byou (?:remember|have stored|stored|noted|kept)\b/i;
const CORRECTION = /^\W*(?:(?:a|one|small|slight|quick|minor) )*(?:correction\b|correct(?:ion)?:)/i;
const TURN =
  /^\W*(?:(?:oh|oops|whoops|wait|no|nah|nope|sorry|actually|actualy|hmm+|well|ah|hold on|my bad|my mistake|scratch that|correction|i moved|(?:that(?:'s|’s| is|s)|is) (?:wrong|not (?:right|correct))|wrong|incorrect|you (?:got|have) (?:that|it) wrong)\b[\s,.!:;–—-]*)+/i;

/** What a person says once about themselves and rarely changes. */
const ATTRIBUTE =
  /\bi(?:['’]m| am| now| only| always)* prefer\b|\bmy (?:[\p{L}-]+ )?(?:name|nickname|surname|username|handle|birthday|birth ?date|e-?mail|phone|number|address|time ?zone|pronouns|job|title|employer|editor|shell|language|city|country|hometown|supervisor|manager|boss|team|account)\b[^,;.]* (?:is|are)\b/iu;
/** The same, worth it only with a name or a figure: `I work on a Thinkpad, not a Mac`. */
const PLACED =
  /\bi(?:['’]m| am| now| only| always)* (?:use|live|work|speak|come from|go by|was born|am (?:called|allergic|based))\b/iu;
const NAMED = /[\p{Lu}\d][^,]*,? not [^,]*[\p{Lu}\d]/u;

/** The memory is named, or a correction is announced, or a turn precedes one of the owner's lasting attributes. */
export function isOrdered(input: ReflexInput): boolean {
  const spoken = maskQuotes(input.text);
  if (MEMORY.test(spoken) || CORRECTION.test(spoken)) return true;
  const said = spoken.replace(TURN, '');
  if (said === spoken) return false;
  return ATTRIBUTE.test(said) || (PLACED.test(said) && NAMED.test(said.replace(/\bI\b/g, 'i')));
}
