// Owns the intent `correct`: one entry gets new words.
// Invariant: the new entry is the owner's sentence, or the old entry with the owner's words put in place of the old ones.
import type { ReflexInput, ReflexMatch, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import { maskQuotes } from '#core/reflex/reading/mask-quotes.ts';
import { targetOf } from './about-owner.ts';
import { amendedLast } from './amend-last.ts';
import { forms, texts } from './english.ts';
import { type KeptEntry, keptEntries, memoryWrites, type Target } from './kept-entries.ts';
import { clearMatch, matchEntries, overlap, sharesWord } from './match-entries.ts';
import { isHedged, isOrdered, isVague } from './meant-words.ts';
import { candidatesOf, isNotFound, sayWritten } from './memory-answer.ts';

type Slots = Readonly<Record<string, string>>;

interface Correction {
  readonly target: Target;
  readonly oldText: string;
  readonly content: string;
  /** The entry was seen in the snapshot or in this conversation. */
  readonly known: boolean;
}

export const correctRule: ReflexRule = {
  purpose: 'memory',
  intent: 'correct',
  effect: 'home',
  examples: [
    'correction: my editor is emacs',
    'change vim to emacs in your memory',
    'actually, my editor is emacs, not vim',
  ],

  match(input) {
    const amended = amendedLast(input);
    if (amended !== undefined) return { score: AMENDED, slots: { ...amended } };
    const fit = input.fit(forms.correct);
    const said =
      fit === undefined || isOther(fit, input) ? undefined : (afterNews(fit, input) ?? spokenMatch(fit, input.words));
    const plain = plainContrast(input) ?? restated(input);
    const best = said !== undefined && said.score >= (plain?.score ?? 0) ? said : plain;
    return best === undefined || best.missing !== undefined || isMeant(best.slots, input)
      ? best
      : { ...best, score: Math.min(best.score, GUESS) };
  },

  restate({ slots }) {
    if (slots.content !== undefined)
      return `correction: ${slots.content}${slots.old === undefined ? '' : `, not ${slots.old}`}`;
    if (slots.subject !== undefined)
      return slots.old === undefined
        ? `correction: ${slots.subject} is ${slots.new}`
        : `${slots.subject} is ${slots.new}, not ${slots.old}`;
    return `change "${slots.old}" to "${slots.new}" in your memory`;
  },

  missing: () => ({ type: 'ask', question: 'What is right?', choices: ['undo that'], fill: 'correction: {}' }),

  act(match, input, results) {
    const correction = correctionOf(match.slots, input);
    if (correction === undefined || (!correction.known && results.length > 1 && results.every(isNotFound)))
      return offerToRemember(match, input);
    return replace(correction, results);
  },
};

/** Said right after what it puts right. */
const AMENDED = 0.95;
/** Asked about, never done. */
const GUESS = 0.5;

/** Something kept is meant, or the owner orders a correction in so many words. */
function isMeant(slots: Slots, input: ReflexInput): boolean {
  const named = slots.content ?? slots.new ?? '';
  if (isVague(named) || (slots.old !== undefined && isVague(slots.old))) return false;
  if (meantEntry(slots, input, keptEntries(input)) !== undefined) return true;
  return isOrdered(input) && !isVague(slots.old ?? subjectOf(slots) ?? named);
}

/** A note that only mentions a change, a setting that is no entry, a contrast while nothing is kept. */
function isOther({ slots }: ReflexMatch, input: ReflexInput): boolean {
  if (isNoting(slots) || isWriting(slots, input.text)) return true;
  if (/^correction\s+\p{L}/iu.test(input.words) && !STATEMENT.test(slots.content ?? '')) return true;
  return isUnkept(slots, input);
}

function isNoting({ subject = '', content = '', old = '', ...said }: Slots): boolean {
  if (
    /[,.;]\s*(?:and |so |please |pls )*(?:remember|note|keep in mind|keep|do not forget|don['’]?t forget)\b/i.test(
      said.new ?? '',
    )
  )
    return true;
  const noting = /^(?:please )?(?:note|remember|rember|keep|jot|write|memo|log|record|store|save|mind)\b/i;
  return noting.test(subject) || /^me\b/i.test(content) || /\bsaid\b/i.test(old);
}

/** `correct this sentence: …`. */
function isWriting({ what = '', content = '' }: Slots, text: string): boolean {
  const named = /^\W*correct (?:this|that|the|my)\b/i.test(text) ? content.split(':')[0] : '';
  return WRITING.test(`${what} ${named}`);
}

function isUnkept(slots: Slots, input: ReflexInput): boolean {
  const entries = keptEntries(input);
  if (slots.entry !== undefined) return entries.every((entry) => !holds(entry.text, slots.old ?? ''));
  if (slots.kept !== undefined || slots.self !== undefined) return matchEntries(slots.old ?? '', entries).length === 0;
  return /^it(?:'s|’s| is) \w+ing\b/i.test(input.words) && entries.length === 0;
}

/** Texts to be corrected by somebody who understands them. */
const WRITING =
  /\b(?:sentences?|grammar|spelling|english|german|french|spanish|text|essay|code|paragraph|translation|homework|writing|typos?|letter|email|article|poem|punctuation|query|function)\b/i;

/** The old words stand in the entry, with or without their quotes. */
function holds(entry: string, old: string): boolean {
  const words = unquoted(old).toLowerCase();
  return words.length > 1 && entry.toLowerCase().includes(words);
}

function unquoted(words: string): string {
  return /^["“'`]([^"”'`]+)["”'`]/.exec(words)?.[1] ?? words;
}

const PRONOUN = /^(?:it|that|this|he|she|they|there|what)(?:['’]s|['’]re)?$/i;
/** After "no" only a statement about something named corrects; `no need to …` and `no, I am tired` are talk. */
const STATEMENT =
  /^(?:my|our|the|his|her|their|we|i (?:live|work|use|prefer|like|drive|speak)|it(?:'s| is)|that(?:'s| is)|\p{Lu}\p{Ll}+)\s.*\b(?:is|are|was|were|has|have|handles?|lives?|works?|uses?|prefers?|runs?|costs?|starts?|ends?|called|named|on|at|in)\b/u;

const NEWS = /^[^:]*\b(?:changed|news|update)\b[^:]*:\s+(.+,\s+not\s.+)$/i;

/** `things have changed: my boss is Henrik, not Amina`: what follows the colon. */
function afterNews(fit: ReflexMatch, { words }: ReflexInput): ReflexMatch | undefined {
  const told = NEWS.exec(words)?.[1]?.replace(/[.!\s]+$/, '');
  return told === undefined ? undefined : { score: fit.score, slots: contrasted({ content: told }) };
}

/** The owner's sentence as it was said, without the part that is no longer true. */
function spokenMatch(fit: ReflexMatch, words: string): ReflexMatch {
  const { slots } = fit;
  if (slots.entry !== undefined)
    return { ...fit, slots: { old: unquoted(slots.old ?? ''), new: unquoted(slots.new ?? '') } };
  if (slots.kept !== undefined) return { ...fit, slots: { subject: `the ${slots.old}`, new: slots.new ?? '' } };
  if (slots.self !== undefined) return { ...fit, slots: { subject: `my ${slots.old}`, new: slots.new ?? '' } };
  if (slots.subject === undefined) return plainMatch(fit);
  if (PRONOUN.test(slots.subject)) return pronounMatch(fit);
  const head = words.split(/\s+(?:not|no longer|isn't|aren't)\s+/i)[0] ?? words;
  const content =
    slots.old === undefined ? words : `${head.replace(/^(?:no|nope|wrong|sorry)[,.\s]+/i, '')} ${slots.new}`;
  return { score: fit.score, slots: { content, ...(slots.old === undefined ? {} : { old: slots.old }) } };
}

/** `not what it was`: more than three words, or words that name nothing. */
const LOOSE =
  /^(?:what|who|how|why|when|where|about|you|me|him|her|us|them|that|this|it|so|like|my fault)\b|^\S+(?:\s+\S+){4,}$/i;

/** A correction in a sentence of its own; after a mere "no" it must be a statement. */
function plainMatch({ score, slots }: ReflexMatch): ReflexMatch {
  const { denial, ...said } = slots;
  if (said.old !== undefined && said.new !== undefined && [said.old, said.new].some((part) => LOOSE.test(part)))
    return { score: 0.5, slots: said };
  const content = said.content?.replace(/^(?:(?:no|nope|wrong|sorry|actually)[,.\s]+)+/i, '');
  const kept = denial === undefined || STATEMENT.test(content ?? '');
  return { score: kept ? score : 0.45, slots: contrasted(content === undefined ? said : { ...said, content }) };
}

/** `it is not X, it is Y`: only names and figures are worth a correction; anything else is talk. */
function pronounMatch({ score, slots }: ReflexMatch): ReflexMatch {
  const { old = '' } = slots;
  const now = (slots.new ?? '').replace(/\s+[—–-]+\s.*$|[.;]\s.*$/, '');
  const named = slots.old !== undefined && [old, now].every((part) => /[\p{Lu}\d]/u.test(part));
  return { score: named ? score : 0.5, slots: { old, new: now } };
}

/** `my editor is emacs, not vim`, without any word of correcting. */
function plainContrast(input: ReflexInput): ReflexMatch | undefined {
  const { words } = input;
  if (isHedged(input.text)) return undefined;
  const slots = contrasted({ content: words.replace(/[.!\s]+$/, '').replace(TURN, '') });
  const { old = '', content = '' } = slots;
  const kept = keptEntries(input).some((entry) => overlap(old, entry.text) === 1 && overlap(content, entry.text) > 0);
  const clear = /,\s*(?:and )?not\s|instead of|rather than|\b(?:is|are|was|were)\b.+\snot\s/i.test(words);
  const long = (slots.content ?? '').split(/\s+/).length > 2;
  return slots.old === undefined || !(kept || isOrdered(input)) || !clear || !long || words.includes('?')
    ? undefined
    : { score: 0.7, slots };
}

const TURN =
  /^(?:(?:oh|oops|whoops|wait|no|nah|nope|sorry|actually|hmm+|well|ah|hold on|my bad|scratch that|i mean|correction)\b[\s,.!:–—-]*)+|[\s,]*\b(?:actually|in fact|as it turns out|after all|now|these days|nowadays)\b[\s.!]*$/i;
const SAYS =
  /^((?:\S+\s+){0,5}?\S+)\s+(?:is|are|was|were|has|uses?|lives?|works?|starts?|ends?|costs?|runs?|sits?|moved|became)\s+\S/i;

/** `actually, the server is at 10.0.4.9`: a turning word, and an entry with the same subject but other words. */
function restated(input: ReflexInput): ReflexMatch | undefined {
  const said = input.text.trim().replace(/[.!\s]+$/, '');
  const content = said.replace(TURN, '').replace(TURN, '').trim();
  const subject = content === said || content.includes('?') ? undefined : SAYS.exec(content)?.[1];
  if (subject === undefined || isHedged(content) || content.split(/\s+/).length > 14) return undefined;
  const kept = matchEntries(subject, keptEntries(input)).filter((entry) => overlap(subject, entry.text) === 1);
  return kept.length === 1 && kept[0]?.text !== content ? { score: 0.9, slots: { content } } : undefined;
}

/** `not now` sets a time, `not bad` a tone: no other words for a fact. */
const CONTRAST =
  /[,;]?\s+(?:and )?(?:not|instead of|rather than)\s+(?!(?:only|just|sure|yet|now|today|tonight|tomorrow|here|there|anymore|any|always|ever|really|very|too|so|that|to|bad|good|much|many|all|everything|me|him|her|us|them|you|yours|mine|because|when|if|until)\b)/i;

/** `Fridays, not Mondays`: the new words and the old ones apart. */
function contrasted(slots: Slots): Slots {
  const said = slots.content ?? '';
  const found = CONTRAST.exec(maskQuotes(said));
  if (found === null) return slots;
  const content = said.slice(0, found.index);
  const old = said.slice(found.index + found[0].length);
  if (
    /^\W*(?:it|that|this|he|she|they|i|we|you)?(?:'s|’s|'m|’m|\s+is|\s+am|\s+are)?\W*$/i.test(content) ||
    old.split(/\s+/).length > 6
  )
    return slots;
  return { ...slots, content: content.trim(), old: old.trim() };
}

function correctionOf(slots: Slots, input: ReflexInput): Correction | undefined {
  const entries = keptEntries(input);
  const entry = meantEntry(slots, input, entries);
  if (entry !== undefined)
    return { target: entry.target, oldText: entry.text, content: newWords(slots, entry.text), known: true };
  const oldText = slots.old ?? subjectOf(slots);
  if (oldText === undefined) return undefined;
  const content = newWords(slots, '');
  return { target: targetOf(`${slots.subject ?? ''} ${oldText} ${content}`), oldText, content, known: false };
}

/** The entry that holds the old words, else the one about the same subject, else the last one written here. */
function meantEntry(slots: Slots, input: ReflexInput, entries: readonly KeptEntry[]): KeptEntry | undefined {
  if (slots.whole !== undefined) return entries.findLast((entry) => entry.text === slots.whole);
  const about = [slots.old, slots.subject].filter((part) => part !== undefined).join(' ');
  const byOld = slots.old === undefined ? undefined : (clearMatch(about, entries) ?? clearMatch(slots.old, entries));
  if (byOld !== undefined) return byOld;
  const subject = subjectOf(slots) ?? '';
  const bySubject = matchEntries(subject, entries)[0];
  if (bySubject !== undefined && overlap(subject, bySubject.text) > 0.5) return bySubject;
  const last = memoryWrites(input).findLast((write) => write.after !== undefined);
  return slots.subject === undefined && slots.old === undefined && sharesWord(slots.content ?? '', last?.after ?? '')
    ? entries.findLast((entry) => entry.text === last?.after)
    : undefined;
}

/** The words before `is`: what a plain correction is about. */
function subjectOf(slots: Slots): string | undefined {
  const parts = slots.content?.split(/\s(?:is|are|was|=|on|at|in|by|to|for|uses?|lives?|works?|runs?)\s/) ?? [];
  return slots.subject ?? (parts.length > 1 ? parts[0] : undefined);
}

function newWords(slots: Slots, entry: string): string {
  if (slots.content !== undefined) return slots.content;
  const at = slots.old === undefined ? -1 : entry.toLowerCase().indexOf(slots.old.toLowerCase());
  if (at >= 0) return `${entry.slice(0, at)}${slots.new}${entry.slice(at + (slots.old?.length ?? 0))}`;
  if (slots.subject !== undefined) return `${slots.subject} is ${slots.new}`;
  return /^(?:it|they|he|she|that)\b/i.test(slots.new ?? '') && slots.old !== undefined
    ? `${slots.old}: ${slots.new}`
    : (slots.new ?? '');
}

function replace(correction: Correction, results: readonly ToolResultPart[]): ReflexStep {
  const { oldText, content, known } = correction;
  const targets: readonly Target[] = known
    ? [correction.target]
    : [correction.target, correction.target === 'user' ? 'memory' : 'user'];
  const last = results.at(-1);
  const target = targets[results.length];
  if (target !== undefined && (last === undefined || isNotFound(last))) {
    return {
      type: 'call',
      calls: [{ name: 'memory', arguments: { action: 'replace', target, old_text: oldText, content } }],
    };
  }
  const candidates = results.flatMap(candidatesOf);
  if (last !== undefined && candidates.length > 0) {
    return {
      type: 'ask',
      question: texts.which,
      choices: candidates.slice(0, 4).map((entry) => `change "${entry}" to "${content}" in your memory`),
    };
  }
  return last === undefined
    ? { type: 'say', text: texts.notChanged }
    : sayWritten(texts.replaced, { target: targets[results.length - 1] ?? 'memory', text: content }, last);
}

/** No entry is meant: it may be new. */
function offerToRemember(match: ReflexMatch, input: ReflexInput): ReflexStep {
  const content = newWords(match.slots, '');
  const recent = keptEntries(input)
    .slice(-2)
    .map((entry) => `change "${entry.text}" to "${content}" in your memory`);
  return { type: 'ask', question: texts.which, choices: [`remember that ${content}`, ...recent] };
}
