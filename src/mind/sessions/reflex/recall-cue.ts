// Owns the signs that a question is about a conversation of ours: its saying, its deciding, its time, its name. English.
// Invariant: pure; without such a sign a recall is at most asked about (reflex 4, 8).

import { nearWord } from '#core/reflex/line/near-word.ts';

/** 1 with a cue of a past conversation; less without one: the owner is asked, or nothing is searched. */
export function cueOf(slots: Readonly<Record<string, string>>, words: string): number {
  if (TOLD.test(words)) return WEAK;
  if (slots.session !== undefined || slots.browse !== undefined || CONVERSATION.test(words)) return 1;
  if (isElsewhere(words)) return WEAK;
  if (SAID.test(words) || DECIDED.test(words) || hasSlip(words)) return 1;
  return slots.when !== undefined && OURS.test(words) ? 1 : WEAK;
}

const WEAK = 0.55;

/** What is asked for stands in a text, in the world, or nowhere. */
function isElsewhere(words: string): boolean {
  if (PRESENT.test(words) || IDLE.test(words) || TEXT_VOICE.test(words)) return true;
  return (FILE.test(words) && !OURS_SAID.test(words)) || (STRANGERS.test(words) && !SAID.test(words));
}

/** A conversation by its name, or remembering by its verb. */
const CONVERSATION =
  /\b(?:convos?|conversations?|chats?|sessions?|transcripts?|archive|history|discussions?|messages?|talks|recall|recap|(?:do|can) you (?:remember|recall)|refresh my memory|jog my memory|leave off|left off|last time (?:we|i|you))\b/i;
/** What is told about a conversation: `our talk was hard`. */
const TOLD =
  /^(?:the|our|my|that|this)\b.*\b(?:conversations?|chats?|talks?|sessions?|discussions?|meetings?|calls?)\b.*\b(?:was|were|is|got|felt|went|lasted|ended|made|broke|took|left|would|will|should|could)\b/i;
/** What somebody says or thinks as a habit: `what does the author want to say`. */
const PRESENT = /^(?:what|why|how|where|when|who|which \w+|what \w+)\s+(?:do|does)\s+(?!we have\b)/i;
const FILE = /(?:^|\s)["'“`]?[\w./-]+\.[a-z][a-z0-9]{1,4}["'”`?.!,;:)]*(?:\s|$)/i;
const OURS = /\b(?:we|i|you|us|our|my)\b/i;
const OURS_SAID = /\b(?:we|i|you|us)\b/i;
/** Small talk with the agent, and what mankind did. */
const IDLE =
  /\bto each other\b|\byour (?:own )?(?:name|age|job|opinion|feelings?|hobby|hobbies|favou?rite)\b|\bdid we land on\b|\bbecome an?\b|\b(?:did|have|had) (?:i|we|you) (?:dream|dreamt|eat|drink|wear|watch|sleep|cook|smell|feel|laugh|cry)\b|\b(?:i['’]?m|i am)(?: so| really| very)? (?:hungry|tired|bored|sad|happy|angry|cold|sick|sorry|old|lonely|scared)\b|\bi (?:love|hate|miss|adore) (?:you|him|her|it|them)\b/i;
/** Somebody outside: only what they said can stand in a conversation of ours. */
const STRANGERS =
  /^(?:(?:what|when|where|how|why|who)\s+)?(?:did|have|had|has|was|were)\s+(?:they|he|she|people|everyone|anyone)\b/i;
/** The voices of a text: what they say stands in the text. */
const TEXT_VOICE =
  /\b(?:the|this|that|its|an?) (?:author|writer|narrator|poet|speaker|interviewee|interviewer|protagonist|hero|heroine|villain|character|article|book|paper|movie|film|report|document|poem|song|essay|novel|study|chapter|compiler|linter|law|bible|news|press|judge|critics?|experts?|scientists?|researchers?|singer|painter|prophet|oracle)\b/i;
const SAID =
  /\b(?:say|says|said|saying|tell|told|telling|mention(?:s|ed|ing)?|talk(?:ed|ing)?|discuss(?:ed|ing)?|ask(?:ed)?|suggest(?:ed)?|recommend(?:ed)?|propos(?:e|ed)|promis(?:e|ed)|explain(?:ed)?|brought up|bring up|wrote|write|noted|(?:we|i|you) note|spoke|speak|chat(?:ted)?|claim(?:ed)?|report(?:ed)?|complain(?:ed)?|argued?|stated?|went (?:over|through)|think|thought|want(?:ed)?|need(?:ed)?)\b/i;
const DECIDED =
  /\b(?:decid(?:e|ed|ing)|decision|conclusion|outcome|verdict|agree(?:d|ment)?|consensus|upshot|settle[dn]?|conclude[ds]?|chose|choose|chosen|pick(?:ed)?|plan(?:ned|ning)?|went with|go with|end(?:ed)? up|land(?:ed)? on|resolved?|work(?:ed|ing)?(?: out| on)?|figured? out|came up with|come up with|determined?|arranged?|rule[d]? out|reject(?:ed)?|commit(?:ted)? to|doing|up to|do about|do with|did about|set up|fix(?:ed)?|solved?|use[d]?|call(?:ed)?|named?)\b/i;
/** The cues that are mistyped most; `deicde` is one of them. */
const SLIPPED = [
  'decide',
  'decided',
  'discuss',
  'discussed',
  'mention',
  'mentioned',
  'talked',
  'agreed',
  'suggested',
  'recommended',
  'settled',
];

function hasSlip(words: string): boolean {
  const typed = words.toLowerCase().split(/[^\p{L}]+/u);
  return typed.some((word) => SLIPPED.some((cue) => nearWord(word, cue) > 0));
}
