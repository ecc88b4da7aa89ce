// Owns what a claim is about: the words after its verb, as far as they belong to it. English. Pure.
// Invariant: a piece of the sentence, nothing added; what names nothing is no object.

import { contentStems } from '#base/text/content-stems.ts';
import { stemWord } from '#base/text/stem-word.ts';
import { ellipsize } from '#base/text.ts';
import { SUMMARY_CAPS } from '../../summary/summary-shape.ts';

const END =
  /\s(?:but|because|so|while|although|though|whereas|since|however|unless|if|when|until|before|after|please|thanks|thank you|thx|cheers|asap|as soon as|right now|at the moment|these days|today|tomorrow|tonight|this week|this month|next week|next month|soon)\b|,\s*(?:and\s+)?(?:i|we|he|she|they|you|it|this|that|can|could|would|do|does|is|are|please|thanks|who|which|so|but|any|anyone|someone|let|if|maybe|perhaps|or|thank|not|as|though)\b|\sand\s(?:i|we|he|she|they|you|it|can|could|please|would|will|am|is|are)\b|\s[–—-]{1,2}\s|[;:()!?…]|\.(?=\s|$)/i;
const FILLER =
  /^(?:[\s,:*]+|(?:some|any|a bit of|a little|more|really|urgently|also|with|about|the following|mostly|mainly|good|currently|of|and)\s+)/i;
const TRAILING =
  /[\s,:*"'-]+$|\s(?:and|or|for|with|to|of|in|on|the|a|an|as|from|by|at|too|also|here|there|again|(?:for|of|with|on|about|to) (?:that|this|it|them|you|me|us))$/i;
/** A need of these is none that an introduction could meet; nor is an offer. */
const VOID =
  /^(?:your?|him|her|them|it|this|that|these|those|me|us|to|is|are|was|were|be|nothing|no|nobody|none|neither|one|both|everything|anything|not|he|she|they|i|we|what|which|out|up|down|over|so|too|myself|yourself|himself|herself|ourselves|yours|mine|there|here|my (?:keys?|bag|phone|cat|dog|glasses|wallet)|something|things?|stuff|(?:an?|the|some) (?:\w+ )?way|(?:an?|the|some) (?:answer|reply|response|update|confirmation|decision|word|moment|minute|second|break|coffee)|\w+ (?:it|this|that|these|those|you|them|him|her|my|me|us|mine|ours|yours)\b(?! with))\b|^[^\p{L}\p{N}"'(@#+.]/iu;
const LOFTY =
  /\b(?:world|difference|dreams?|hopes?|love|joy|happiness|journeys?|kindness|(?:like|as) (?:you|this|that|these|us|them))\b/i;
/** What alone is no need that an introduction could meet. */
const IDLE_WORDS =
  'break coffee minute moment second sleep rest time vacation holiday drink nap favor favour hug shower lunch dinner food hand water bed beer tea tip suggestion assistance recommendation idea detail question info ' +
  'walk day hour week bit lot help advice support guidance input feedback sense luck fun trouble purpose answer reply question friend someone ' +
  'anyone somebody anybody people person everyone need space money';
const IDLE: ReadonlySet<string> = new Set(IDLE_WORDS.split(' ').map(stemWord));

/** Empty when there is no object. */
export function objectOf(after: string): string {
  let object = after.trim();
  for (let cut = FILLER.exec(object); cut !== null; cut = FILLER.exec(object)) object = object.slice(cut[0].length);
  const end = END.exec(object);
  if (end !== null) object = object.slice(0, end.index);
  for (let cut = TRAILING.exec(object); cut !== null; cut = TRAILING.exec(object)) object = object.slice(0, cut.index);
  if (object === '' || VOID.test(object) || LOFTY.test(object) || isIdle(object)) return '';
  return ellipsize(object, SUMMARY_CAPS.item);
}

function isIdle(object: string): boolean {
  return contentStems(object.toLowerCase()).every((stem) => IDLE.has(stem) || stem.length < 2);
}
