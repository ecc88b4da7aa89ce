// Owns what is found in the words of a request: verb, objects, pronouns without an antecedent. Reads English; says when it cannot.
// Invariant: total and linear on any string; it judges nothing.
import * as lexicon from './request-words.ts';

export interface ReadRequest {
  readonly text: string;
  readonly words: readonly string[];
  /** Too little of it is English to be measured by these words. */
  readonly foreign: boolean;
  readonly question: boolean;
  readonly verb: 'clear' | 'open' | null;
  /** Content words that name something. */
  readonly objects: readonly string[];
  readonly unresolved: string | null;
}

/** What is longer is a text and no request; its beginning says what is asked. */
const LONGEST = 4_000;
const TOKEN = /[\p{L}\p{N}][\p{L}\p{N}_./-]*[\p{L}\p{N}]|[\p{L}\p{N}]|["“„«][^"”“»\n]{1,80}["”“»]|[.!?;,:]/gu;

export function readRequest(request: string): ReadRequest {
  const text = request.slice(0, LONGEST).normalize('NFKC').toLowerCase().replace(/’/g, "'");
  const tokens = text.match(TOKEN) ?? [];
  const words = tokens.filter((token) => !/^[.!?;,:]$/.test(token));
  const question = isQuestion(words, text);
  const verb = verbOf(words, question);
  return {
    text,
    words,
    foreign: isForeign(words, verb),
    question,
    verb,
    objects: words.filter((word, at) => isObject(word, at, words)),
    unresolved: unresolvedPronoun(tokens),
  };
}

function isQuestion(words: readonly string[], text: string): boolean {
  const first = words[0] ?? '';
  if (isPolite(words)) return false;
  if (
    /(?:[,;:]|^(?:to|from|in|at|by|for|with|on|of))\s*(?:whom|whose|what|which|who|where|when|why|how)\b[^?]*\?/.test(
      text,
    )
  )
    return true;
  return lexicon.QUESTION_WORDS.has(first) && (text.includes('?') || !lexicon.OPEN_VERBS.has(first));
}

/** "Can you …" asks for a deed. */
function isPolite(words: readonly string[]): boolean {
  return /^(?:can|could|would|will)$/.test(words[0] ?? '') && words[1] === 'you';
}

function verbOf(words: readonly string[], question: boolean): ReadRequest['verb'] {
  if (words.some((word, at) => lexicon.CLEAR_VERBS.has(word) && isVerbPlace(words, at))) return 'clear';
  if (question || isFormNoun(words) || isCommand(words) || isNominal(words)) return 'clear';
  return words.some((word, at) => lexicon.OPEN_VERBS.has(word) && isVerbPlace(words, at)) ? 'open' : null;
}

const BEFORE_VERB = /^(?:please|you|to|and|then|also|first|let|just|us|not|or|now|me|i|we|kindly|help)$/;

/** At the beginning or after a word that a verb follows; "the list" holds none. */
function isVerbPlace(words: readonly string[], at: number): boolean {
  const before = words[at - 1];
  return (
    before === undefined ||
    BEFORE_VERB.test(before) ||
    (at > 1 && !lexicon.FUNCTION_WORDS.has(before) && words.length > 5)
  );
}

/** "I would like to have an overview of …" still begins with its form. */
const LATEST_FORM_NOUN = 8;

function isFormNoun(words: readonly string[]): boolean {
  const at = words.findIndex((word) => lexicon.FORM_NOUNS.has(word));
  return at >= 0 && at < LATEST_FORM_NOUN && /^(?:of|for|by|between|with|about)$/.test(words[at + 1] ?? '');
}

const DETERMINER =
  /^(?:the|a|an|each|every|all|both|any|my|our|which|what|how|where|why|whether|\d+|two|three|four|five|ten)$/;
const PARTICLE = /^(?:down|up|out|off|over|through|on|for|from|into|in|me|us)$/;

/** A word at the beginning with its object after it is a verb, known or not: "Provide a …", "Break down the …". */
function isCommand(words: readonly string[]): boolean {
  const at = words.findIndex((word) => !/^(?:please|kindly|then|and|now|can|could|would|will|you|to)$/.test(word));
  const rest = words.slice(Math.max(0, at));
  if (saysLittle(rest[0] ?? '')) return false;
  if (/^(?:down|up|out|off)$/.test(rest[1] ?? '')) return true;
  const next = rest.slice(1).find((word) => !PARTICLE.test(word)) ?? '';
  return DETERMINER.test(next) && rest.indexOf(next) <= 3;
}

/** "Key findings of the study in three sentences": a title of what is wanted. */
function isNominal(words: readonly string[]): boolean {
  const whole = /^(?:all|every|each)$/.test(words[0] ?? '');
  if (!whole && (saysLittle(words[0] ?? '') || !words.some((word) => /^(?:of|by|per|between)$/.test(word))))
    return false;
  return words.filter((word, at) => isObject(word, at, words)).length >= 3;
}

function saysLittle(word: string): boolean {
  return lexicon.FUNCTION_WORDS.has(word) || lexicon.EMPTY_WORDS.has(word) || lexicon.OPEN_VERBS.has(word);
}

function isObject(word: string, at: number, words: readonly string[]): boolean {
  if (lexicon.FUNCTION_WORDS.has(word) || lexicon.EMPTY_WORDS.has(word)) return false;
  const isVerb = lexicon.CLEAR_VERBS.has(word) || lexicon.OPEN_VERBS.has(word);
  return !isVerb || (at > 0 && !BEFORE_VERB.test(words[at - 1] ?? ''));
}

function isForeign(words: readonly string[], verb: ReadRequest['verb']): boolean {
  if (verb !== null || words.length < 3) return false;
  const known = words.filter((word) => lexicon.FUNCTION_WORDS.has(word) || lexicon.EMPTY_WORDS.has(word)).length;
  return known / words.length < 0.25;
}

/** The first pronoun before which the request names nothing it could stand for. */
function unresolvedPronoun(tokens: readonly string[]): string | null {
  for (const [at, token] of tokens.entries()) {
    if (!lexicon.PRONOUNS.has(token) || !standsAlone(tokens, at)) continue;
    const before = tokens.slice(0, at).filter((word) => /[\p{L}\p{N}]/u.test(word));
    if (!before.some((word, place) => isObject(word, place, before))) return token;
  }
  return null;
}

function standsAlone(tokens: readonly string[], at: number): boolean {
  const token = tokens[at] ?? '';
  const next = tokens[at + 1];
  if (token === 'it') return !/^(?:true|possible|clear|necessary|likely)$/.test(tokens[at + 1] ?? '');
  if (!lexicon.DEMONSTRATIVES.has(token)) return token !== 'one' || !/^(?:of|\p{L})/u.test(next ?? '');
  return next === undefined || /^[.!?;,:]$/.test(next) || lexicon.AFTER_ALONE.has(next);
}
