// Owns the signs that a question is about a conversation of ours: its saying, its deciding, its time, its name. English.
// Invariant: pure; without such a sign a recall is at most asked about (reflex 4, 8).

import { nearWord } from '#core/reflex/line/near-word.ts';

/** 1 with a cue of a past conversation; less without one: the owner is asked, or nothing is searched. */
export function cueOf(slots: Readonly<Record<string, string>>, said: string): number {
  const words = withoutSlips(said);
  if (TOLD.test(words)) return WEAK;
  if (slots.session !== undefined || RECALLING.test(words)) return 1;
  if (CONVERSATION.test(words) && !INDEFINITE.test(words)) return 1;
  if (isElsewhere(words) || !isPast(slots, words)) return WEAK;
  if (SAID.test(words) || DECIDED.test(words)) return 1;
  return slots.when !== undefined && OURS.test(words) ? 1 : WEAK;
}

/** Something that was said or done by us or by somebody named; not what somebody would, could or should do. */
function isPast(slots: Readonly<Record<string, string>>, words: string): boolean {
  if (OPINION.test(words) || (EVER.test(words) && !MENTIONED.test(words))) return false;
  if (ASKED_PAST.test(words) || DONE_PAST.test(words)) return true;
  if (PASSED.test(words)) return OURS.test(words) || !PUBLIC.test(words);
  if (isNamed(slots.person, words) || slots.when !== undefined) return PAST_VERB.test(words);
  return false;
}

/** `the customers` are anybody; `Maria` is somebody. */
function isNamed(person: string | undefined, words: string): boolean {
  if (person === undefined) return false;
  const name = person.replace(/[^\p{L}\p{N} ]/gu, '.');
  return !new RegExp(`\\b(?:the|an?|one|most|all)\\b[^?]*\\b${name}`, 'iu').test(words);
}

const WEAK = 0.55;

/** What is asked for stands in a text, in the world, or nowhere. */
function isElsewhere(words: string): boolean {
  if (PRESENT.test(words) || IDLE.test(words) || TEXT_VOICE.test(words)) return true;
  return (FILE.test(words) && !OURS_SAID.test(words)) || (STRANGERS.test(words) && !SAID.test(words));
}

/** A conversation of ours by its name. */
const CONVERSATION =
  /\b(?:our|my|your|us|past|previous|last|earlier|old|older|prior|recent|latest|former|all|any|these|those|which|what|list|search|through|open|show)\s+(?:the\s+|of\s+|our\s+|my\s+|me\s+)*(?:\w+\s+){0,2}?(?:convos?|conversations?|chats?|sessions?|transcripts?|archive|history|discussions?|messages?|talks|threads?|exchanges?)\b|\b(?:the|that|this)\s+(?:\w+\s+)?(?:convos?|conversations?|chats?|sessions?)\s+(?:about|on|where|when|with|from|in|that|we|i)\b|\b(?:convos?|conversations|chats|sessions)\b/i;
/** Remembering by its verb, or the place where we were. */
const RECALLING =
  /\b(?:recall|recap|remind me|remember (?:when|what|how|where|which|that)|(?:do|can) you (?:remember|recall|recollect)|refresh my memory|jog my memory|leave off|left off|last time (?:we|i|you))\b/i;
/** `did we`, `have I`: a question about what was. */
const ASKED_PAST =
  /\b(?:did(?:n['’]?t)?|have(?:n['’]?t)?|had(?:n['’]?t)?|has(?:n['’]?t)?|was|were|d['’]?ya)\s+(?:not\s+|the\s+)?(?:we|i|you|u|us|ya|they|he|she)\b/i;
/** `we said`, `you had told me`. */
const DONE_PAST =
  /(?<!\b(?:would|could|should|might|must|may|will|can|do|does|to)\s)\b(?:we|i|you|u|us|they|he|she)(?:['’](?:ve|d))?\s+(?:(?:had|have|has|were|was|just|last|first|ever|once|already|all|both|finally|originally|actually|also|recently|never|been|even)\s+)*(?:said|told|mention(?:ed|ing)|talk(?:ed|ing)|discuss(?:ed|ing)|asked|suggested|recommended|proposed|promised|explained|brought|wrote|noted|spoke|speaking|saying|chatted|chatting|claimed|reported|complained|argued|stated|went|thought|wanted|needed|decided|deciding|agreed|settled|concluded|chose|chosen|picked|planned|planning|ended|landed|resolved|worked|working|doing|figured|came|determined|arranged|ruled|rejected|committed|did|set|fixed|solved|used|called|named|covered|changed|tried|left|found|made|built)\b/i;
/** `was it decided`, `the decision on`, `who said`. */
const PASSED =
  /\b(?:was|were|been|got|get|is|are)\b.*\b(?:said|decided|discussed|mentioned|agreed|settled|brought up|chosen|concluded|planned|talked about|decision|conclusion|outcome|verdict|agreement|consensus|upshot)\b|^(?:who|what|anything)\s+(?:said|decided|suggested|mentioned|proposed|asked|told|recommended|promised|talked)\b|\b(?:our|final|the) (?:decision|conclusion|agreement|verdict|outcome)\b/i;
const PAST_VERB =
  /\b(?:did|have|had|has|was|were|\w+ed|said|told|wrote|spoke|thought|went|chose|sent|brought|left|made|built|came)\b/i;
/** Small talk with the agent, unless it is about what was said. */
const EVER = /\b(?:have|did|had) (?:you|u|they|he|she) (?:\w+ )?ever\b/i;
const MENTIONED =
  /\b(?:say|said|tell|told|mention(?:ed)?|talk(?:ed)?|discuss(?:ed)?|ask(?:ed)?|suggest(?:ed)?|recommend(?:ed)?|explain(?:ed)?|promised?|decided?|agreed?)\b/i;
/** Said or decided where the world looks on. */
const PUBLIC =
  /\b(?:in|at) (?:the )?\p{Lu}|\b(?:elections?|speech|treaty|summit|trial|war|courts?|law|match|game|film|movie|series|book|novel|study|vote|referendum|experiment|battle|revolution|constitution|debate|championship|race)\b/u;
/** Any conversation, a new one, or a word beside: none of ours. */
const INDEFINITE =
  /\b(?:an?|some|good|new|best|better|longest)\s+(?:\w+\s+)?(?:convo|conversation|chat|session|discussion|message|talk|thread|transcript|archive|history)\b|\b(?:conversation|chat|discussion)s?\s+(?:apps?|forums?|starters?|topics?|rooms?|bots?|in \p{Lu})/u;
/** What somebody would do or likes: to be understood, not to be looked up. */
const OPINION =
  /\b(?:would|should|could|might|shall)\s+(?:you|u|we|i|one|they|he|she|people|it|be|this|that|the)\b(?!.*\b(?:did|had) (?:we|i|you)\b)(?<!\b(?:did|had) (?:we|i|you)\b.*)(?<!\b(?:we|i|you) (?:said|agreed|decided|told you|told me|mentioned)\b.*)|\b(?:did|do|have|had) (?:you|u) (?:\w+ )?(?:like|love|enjoy|prefer|hate|feel|think|choose (?!on\b|for (?:us|me|the)\b))\b(?!.*\b(?:we|our|last|yesterday|ago|earlier)\b)|^(?!.*\b(?:we|our)\b).*\b(?:better|best|worse|worst|worth)\b/i;
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

/** The words with those cues spelled as they were meant. */
function withoutSlips(words: string): string {
  return words.replace(/\p{L}+/gu, (word) => SLIPPED.find((cue) => isSlip(word.toLowerCase(), cue)) ?? word);
}

function isSlip(word: string, cue: string): boolean {
  return word !== cue && word.length > 4 && !SAID.test(word) && !DECIDED.test(word) && nearWord(word, cue) > 0;
}
