// Owns what is found in the words of a request: verb, objects, pronouns without an antecedent. Reads English and German; says when it cannot.
// Invariant: total and linear on any string; it judges nothing.
import { GERMAN, GERMAN_PRONOUNS, GERMAN_SIGNS } from './german-words.ts';
import { joinLexicons, type Lexicon } from './lexicon.ts';
import { unresolvedPronoun } from './read-pronouns.ts';
import { HANDLING_PHRASES } from './request-phrases.ts';
import { ENGLISH, FORM_NOUNS } from './request-words.ts';
import { isTypingSlip } from './typing-slip.ts';

export interface ReadRequest {
  readonly text: string;
  readonly words: readonly string[];
  /** Too little of it is known to be measured by these words. */
  readonly foreign: boolean;
  readonly question: boolean;
  readonly verb: 'clear' | 'open' | 'handling' | null;
  /** Content words that name something. */
  readonly objects: readonly string[];
  /** Those of them that say more than "the file". */
  readonly specific: readonly string[];
  readonly unresolved: string | null;
}

/** What is longer is a text and no request; its beginning says what is asked. */
const LONGEST = 4_000;
const TOKEN = /[\p{L}\p{N}][\p{L}\p{N}_./-]*[\p{L}\p{N}]|[\p{L}\p{N}]|["“„«][^"”“»\n]{1,80}["”“»]|[.!?;,:]/gu;
const BOTH = joinLexicons(ENGLISH, GERMAN);

export function readRequest(request: string): ReadRequest {
  const text = request
    .slice(0, LONGEST)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/’/g, "'")
    .replaceAll("won't", 'will not');
  const plain = HANDLING_PHRASES.reduce((rest, phrase) => rest.replace(phrase, 'handle'), text);
  const found = plain.match(TOKEN) ?? [];
  const lexicon = found.some(isGerman) ? BOTH : ENGLISH;
  const tokens = mendFirst(found, lexicon);
  const words = tokens.filter((token) => !/^[.!?;,:]$/.test(token));
  const question = isQuestion(words, plain, lexicon);
  const [verb, command] = verbOf({ words, question, asked: text.trimEnd().endsWith('?'), lexicon });
  const objects = words.filter((_, at) => at !== command && isObject(words, at, lexicon));
  const specific = objects.filter((word) => !lexicon.genericNouns.has(word));
  const pronoun = unresolvedPronoun(tokens, lexicon === BOTH ? GERMAN_PRONOUNS : null, (before, at) =>
    isObject(before, at, lexicon),
  );
  return {
    text,
    words,
    foreign: isForeign(words, verb, lexicon),
    question,
    verb,
    objects,
    specific,
    unresolved: (verb === 'clear' || verb === 'open') && specific.length > 0 && isTarget(pronoun) ? null : pronoun,
  };
}

function isGerman(token: string): boolean {
  if (GERMAN_SIGNS.has(token)) return true;
  return (
    [GERMAN.clearVerbs, GERMAN.openVerbs, GERMAN.handlingVerbs].some((verbs) => verbs.has(token)) && !isEnglish(token)
  );
}

function isEnglish(token: string): boolean {
  return Object.values(ENGLISH).some((known: ReadonlySet<string>) => known.has(token));
}

/** "What does it say about refunds?": the target is named apart, so that `it` may be the target when the rest says what is wanted. */
function isTarget(pronoun: string | null): boolean {
  return pronoun === 'it' || pronoun === 'its' || pronoun === 'this';
}

/** The first word decides most: a slip of the hand in it is mended when it is no word that is known. */
function mendFirst(tokens: readonly string[], lexicon: Lexicon): readonly string[] {
  const first = tokens[0] ?? '';
  if (first === '' || Object.values(lexicon).some((known: ReadonlySet<string>) => known.has(first))) return tokens;
  for (const known of [lexicon.questionWords, lexicon.clearVerbs])
    for (const meant of known) if (isTypingSlip(first, meant)) return [meant, ...tokens.slice(1)];
  return tokens;
}

const ASKING = '(?:whom|whose|what|which|who|where|when|why|how)\\b';
const BEFORE_ASKING =
  '(?:to|from|in|at|by|for|with|on|of|under|between|during|since|until|before|after|through|against|within|into|via)';
const LATE_QUESTION = new RegExp(`(?:[,;:]|^${BEFORE_ASKING})\\s*${ASKING}[^?]*\\?`);
const PREPOSITION_FIRST = new RegExp(`^${BEFORE_ASKING}\\s+${ASKING}`);

function isQuestion(words: readonly string[], text: string, lexicon: Lexicon): boolean {
  const first = words[0] ?? '';
  if (isPolite(words)) return false;
  if (LATE_QUESTION.test(text) || PREPOSITION_FIRST.test(text)) return true;
  if (!lexicon.questionWords.has(first)) return false;
  return !DEED_OR_QUESTION.test(first) || text.includes('?') || SUBJECT.test(words[1] ?? '');
}

/** "Do the first one" asks for a deed, "do we need consent" asks. */
const DEED_OR_QUESTION = /^(?:do|have)$/;
const SUBJECT = /^(?:i|we|you|they|any|all|there|these|those)$/;

/** "Can you …" asks for a deed. */
function isPolite(words: readonly string[]): boolean {
  return (
    (/^(?:can|could|would|will)$/.test(words[0] ?? '') && words[1] === 'you') ||
    (/^(?:kannst|könntest|könnten|würdest)$/.test(words[0] ?? '') && /^(?:du|sie|ihr)$/.test(words[1] ?? ''))
  );
}

interface Words {
  readonly words: readonly string[];
  readonly question: boolean;
  /** A question mark ends it. */
  readonly asked: boolean;
  readonly lexicon: Lexicon;
}

/** The verb's kind, and the place of a verb that only its place shows. */
function verbOf({ words, question, asked, lexicon }: Words): readonly [ReadRequest['verb'], number | null] {
  const holds = (verbs: ReadonlySet<string>): boolean =>
    words.some((word, at) => verbs.has(word) && isVerbPlace(words, at, lexicon));
  if (holds(lexicon.clearVerbs) || question || isFormNoun(words) || asksWithin(words, lexicon)) return ['clear', null];
  if (isNominal(words, asked, lexicon)) return ['clear', null];
  if (holds(lexicon.handlingVerbs)) return ['handling', null];
  if (holds(lexicon.openVerbs)) return ['open', null];
  const command = commandAt(words, lexicon);
  return command === null ? [null, null] : ['handling', command];
}

const BEFORE_VERB =
  /^(?:please|you|to|and|then|also|first|let|just|us|not|or|now|me|i|we|kindly|help|bitte|und|du|zu)$/;

/** At the beginning or after a word that a verb follows; "the list" holds none. */
function isVerbPlace(words: readonly string[], at: number, lexicon: Lexicon): boolean {
  const before = words[at - 1];
  return (
    before === undefined ||
    BEFORE_VERB.test(before) ||
    lexicon.emptyWords.has(before) ||
    (at > 1 && !lexicon.functionWords.has(before) && words.length > 5) ||
    isLateGermanVerb(words, at, lexicon)
  );
}

/** "Kannst du das mal fixen", "bitte die Fristen auflisten": the German verb comes last. */
function isLateGermanVerb(words: readonly string[], at: number, lexicon: Lexicon): boolean {
  return lexicon === BOTH && at === words.length - 1 && (words[at] ?? '').endsWith('en');
}

/** "I would like to have an overview of …" still begins with its form. */
const LATEST_FORM_NOUN = 8;

function isFormNoun(words: readonly string[]): boolean {
  const at = words.findIndex((word) => FORM_NOUNS.has(word));
  return at >= 0 && at < LATEST_FORM_NOUN && /^(?:of|for|by|between|with|about|von|der|des)$/.test(words[at + 1] ?? '');
}

/** "Look into why the deploy failed", "check whether the totals match": a question inside, with something to ask for after it. */
function asksWithin(words: readonly string[], lexicon: Lexicon): boolean {
  const at = words.findIndex((word) => /^(?:why|whether|which|whom|whose|ob|warum|welche[rsnm]?)$/.test(word));
  return at > 0 && words.some((_, place) => place > at && isObject(words, place, lexicon));
}

const DETERMINER =
  /^(?:the|a|an|each|every|all|both|any|my|our|which|what|how|where|why|whether|\d+|two|three|four|five|ten)$/;
const PARTICLE = /^(?:down|up|out|off|over|through|on|for|from|into|in|me|us)$/;

/** A word at the beginning with its object after it is a verb, known or not: "Provide a …", "Break down the …". */
function commandAt(words: readonly string[], lexicon: Lexicon): number | null {
  const at = words.findIndex((word) => !/^(?:please|kindly|then|and|now|can|could|would|will|you|to)$/.test(word));
  const rest = words.slice(Math.max(0, at));
  if (saysLittle(rest[0] ?? '', lexicon)) return null;
  if (/^(?:down|up|out|off)$/.test(rest[1] ?? '')) return at;
  const next = rest.slice(1).find((word) => !PARTICLE.test(word)) ?? '';
  return DETERMINER.test(next) && rest.indexOf(next) <= 3 ? at : null;
}

const FORM_NAMED =
  /^(?:bullets?|bullet|table|list|csv|json|yaml|markdown|outline|timeline|words?|sentences?|paragraphs?|lines|stichpunkten?|tabelle|liste|sätzen?|wörtern)$/;

/** "Key findings of the study", "takeaways as bullets": a title of what is wanted. As a question too: "deadline for an appeal?" */
function isNominal(words: readonly string[], asked: boolean, lexicon: Lexicon): boolean {
  const first = words.find((word) => !POLITE.test(word)) ?? '';
  const specific = words.filter((_, at) => isObject(words, at, lexicon) && !lexicon.genericNouns.has(words[at] ?? ''));
  if (WHOLE.test(first)) return specific.length >= 3;
  if (saysLittle(first, lexicon)) return false;
  if (specific.length >= 3 && words.some((word) => /^(?:in|for|from|on|with|at|aus|im)$/.test(word))) return true;
  const links = asked ? /^(?:of|for|by|per|between|in|on|at|to|from|against)$/ : /^(?:of|per|between|from|von)$/;
  return specific.length >= 2 && (namesForm(words) || words.some((word) => links.test(word)));
}

const POLITE = /^(?:please|bitte|kindly|just|nur)$/;
const WHOLE = /^(?:all|every|each|alle|the|a|an|any|die|der|das)$/;

function namesForm(words: readonly string[]): boolean {
  const before = /^(?:as|in|als|an?|\d+|two|three|five|ten)$/;
  return words.some((word, at) => at > 1 && FORM_NAMED.test(word) && before.test(words[at - 1] ?? ''));
}

function saysLittle(word: string, lexicon: Lexicon): boolean {
  return (
    lexicon.functionWords.has(word) ||
    lexicon.emptyWords.has(word) ||
    lexicon.openVerbs.has(word) ||
    lexicon.handlingVerbs.has(word)
  );
}

function isObject(words: readonly string[], at: number, lexicon: Lexicon): boolean {
  const word = words[at] ?? '';
  if (lexicon.functionWords.has(word) || lexicon.emptyWords.has(word)) return false;
  const isVerb = lexicon.clearVerbs.has(word) || lexicon.openVerbs.has(word) || lexicon.handlingVerbs.has(word);
  const before = words[at - 1] ?? '';
  return (
    !isVerb ||
    !(at === 0 || BEFORE_VERB.test(before) || lexicon.emptyWords.has(before) || isLateGermanVerb(words, at, lexicon))
  );
}

function isForeign(words: readonly string[], verb: ReadRequest['verb'], lexicon: Lexicon): boolean {
  if (verb !== null || words.length < 3 || lexicon === BOTH) return false;
  const known = words.filter((word) => lexicon.functionWords.has(word) || lexicon.emptyWords.has(word)).length;
  return known / words.length < 0.25;
}
