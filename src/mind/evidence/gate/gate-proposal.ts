// Owns whether what a model wants to keep may be kept (design 1): the gate by rule (what is cited stands there, may speak, and holds the hard
// values), then the judge. Knows no ledger, no file and no model. Invariants: a fact about the owner needs the owner's words, everything else
// these or a call that ended well; what is only out of place waits for the owner, what is not there at all is refused; nothing may be kept that
// the rules did not accept and a judge did not call supported, but what is exact by construction; no verdict means that it waits.
import { foldText } from '#base/text/fold.ts';
import { countWords, findQuote, foldQuote, isWholeUnit } from '#base/text/quotes.ts';
import { withoutUnseen } from '#base/text/unseen.ts';
import { splitWords, stemWord } from '#base/text/words.ts';
import { ellipsize } from '#base/text.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import type { Judge, JudgedClaim, JudgedSource, Judgement } from '../judge.ts';
import type { ProposalDraft } from '../proposal.ts';
import {
  type Citation,
  type Claim,
  type ClaimPolicy,
  type ClaimRefusalReason,
  type EvidenceEntry,
  type EvidenceText,
  WAITING_REASONS,
} from '../trace-guard/claim.ts';
import { isLongEnough } from '../trace-guard/exact-terms.ts';
import { hardValues, leavesValueOut, missingValue, sourceValues } from '../trace-guard/hard-values.ts';
import { type ChangedText, type ChangeOptions, changedTexts } from './changed-text.ts';
import { messageEvidence, ranLines } from './message-evidence.ts';

export type GateVerdict =
  | {
      readonly decision: 'accepted';
      /** All of it is words that the owner wrote, whole: it may be kept where no model can judge. */
      readonly isExact: boolean;
      /** What a judge is asked. */
      readonly claims: readonly JudgedClaim[];
      readonly sources: readonly JudgedSource[];
    }
  | { readonly decision: 'pending'; readonly reason: ClaimRefusalReason; readonly detail: string }
  | { readonly decision: 'refused'; readonly reason: ClaimRefusalReason | 'incomplete'; readonly detail: string };

export interface GateOptions extends ChangeOptions {
  /** Takes secrets out, as they were taken out of what is quoted. */
  readonly redact?: (text: string) => string;
}

/** `messages`: all of the proposal's session, oldest first (`sessionMessages`), and of no other. */
export function gateProposal(
  draft: ProposalDraft,
  messages: readonly StoredMessage[],
  options: GateOptions = {},
): GateVerdict {
  const changed = changedTexts(draft, options);
  if (typeof changed === 'string') return { decision: 'refused', reason: 'incomplete', detail: changed };
  if (changed.length === 0) return { decision: 'refused', reason: 'incomplete', detail: 'It asks for no change.' };
  const entries = entriesOf(draft, messages, options);
  const read = readWords(entries);
  const isSkill = draft.kind === 'skill';
  const printed = isSkill ? printedBy(messages) : [];
  const known = isSkill ? [...ranLines(messages), ...(options.before ?? [])] : [];
  const checked = changed.map((one, index) => ({
    one,
    verdict: check(draft, one, { id: `c${index}`, entries, read, printed, known }),
  }));
  const failed = checked.flatMap(({ verdict }) => (verdict.accepted ? [] : [verdict]));
  const worst = failed.find(({ reason }) => !WAITING_REASONS.has(reason)) ?? failed[0];
  if (worst !== undefined) {
    const { reason, detail } = worst;
    return WAITING_REASONS.has(reason)
      ? { decision: 'pending', reason, detail }
      : { decision: 'refused', reason, detail };
  }
  const passed = checked.flatMap(({ one, verdict }) => (verdict.accepted ? [{ one, texts: verdict.texts }] : []));
  const isExact = passed.every(({ one, texts }) => isCopied(one, texts));
  return { decision: 'accepted', isExact, ...questionOf(passed) };
}

function entriesOf(
  { kind }: ProposalDraft,
  messages: readonly StoredMessage[],
  { redact }: GateOptions,
): readonly EvidenceEntry[] {
  const entries = messageEvidence(messages, { observedArguments: kind === 'skill' ? 'all' : 'short' });
  if (redact === undefined) return entries;
  return entries.map(({ handle, texts }) => ({
    handle,
    texts: texts.map((one) => ({ ...one, text: redact(one.text) })),
  }));
}

interface Sources {
  readonly id: string;
  readonly entries: readonly EvidenceEntry[];
  /** Absent: nothing foreign was read. */
  readonly read: WordsRead | undefined;
  readonly printed: readonly string[];
  /** Of a skill: what was run, and what stands in it already. */
  readonly known: readonly string[];
}

function check(draft: ProposalDraft, changed: ChangedText, sources: Sources): CitedVerdict {
  const { id, entries, read } = sources;
  const { text, before, isGrant } = changed;
  const claim = { id, text: withoutName(draft, text), citations: draft.citations };
  const policy = policyOf(draft, changed, sources);
  const verdict = checkCited(
    entries,
    claim,
    before === undefined ? policy : { ...policy, known: [...(policy.known ?? []), before] },
  );
  if (!verdict.accepted) return verdict;
  if (isGrant) return grantVerdict(text, verdict);
  return (read && foreignVerdict(draft, { text, before }, { read, texts: verdict.texts })) ?? verdict;
}

/** What only goes must be named by what is cited, as what comes must. */
function foreignVerdict(
  { citations }: ProposalDraft,
  { text, before }: { readonly text: string; readonly before: string | undefined },
  { read, texts }: { readonly read: WordsRead; readonly texts: readonly CitedText[] },
): CitedVerdict | undefined {
  const taken = text === '' ? [] : foreignWords(text, read);
  const shown = taken.slice(0, 5).join(', ');
  if (taken.length > 0)
    return {
      accepted: false,
      reason: 'foreign-words',
      detail: `Its words come from what the owner did not write (${shown}).`,
    };
  const quotes = citations.map(({ quote }) => quote).filter((quote) => quote.trim() !== '');
  const records = texts.flatMap((one) => (one.isRecord ? [ranWords(one.text)] : []));
  if (!agreesToForeign(text === '' ? (before ?? '') : text, { quotes, records })) return undefined;
  const detail = 'What is cited is short and names none of it, and other words had been read before.';
  return { accepted: false, reason: 'foreign-words', detail };
}

/** Of our record what was run, without our own words around it. */
function ranWords(record: string): string {
  return record
    .split('\n')
    .slice(1, -1)
    .map((line) => line.replace(/^\w+: /, ''))
    .join('\n');
}

/** A skill may say its own name, which may hold a digit. */
function withoutName({ kind, target }: ProposalDraft, text: string): string {
  const isName = kind === 'skill' && /^[a-z]+(?:-[a-z0-9]+){1,9}$/.test(target);
  return isName ? text.replace(new RegExp(`(?<![\\w-])${target}(?![\\w-])`, 'g'), ' ') : text;
}

/** A grant that nobody spoke of waits, since the owner may give it by his yes. */
function grantVerdict(text: string, verdict: Extract<CitedVerdict, { accepted: true }>): CitedVerdict {
  const said = verdict.texts.some((one) => findQuote(foldText(one.text), foldQuote(text)).length > 0);
  return said
    ? verdict
    : {
        accepted: false,
        reason: 'origin-not-allowed',
        detail: `"${ellipsize(text, 200)}" is asked for, and the owner did not say so.`,
      };
}

const OWNER: ClaimPolicy = { origins: ['owner'] };
const OWNER_OR_OBSERVED: ClaimPolicy = { origins: ['owner', 'observed'] };

/** Wherever the change names the file of the owner, it would stand there. Steps may use whatever was run and ended well. */
function policyOf(
  draft: ProposalDraft,
  { text, isGrant }: ChangedText,
  { entries, printed, known }: Pick<Sources, 'entries' | 'printed' | 'known'>,
): ClaimPolicy {
  if (isGrant) return OWNER;
  if (draft.kind === 'memory')
    return draft.target === 'user' || draft.change.target === 'user' ? OWNER : OWNER_OR_OBSERVED;
  const records = entries.flatMap((entry) =>
    entry.texts.flatMap((one) => (one.origin === 'observed' ? [one.text] : [])),
  );
  return { ...OWNER_OR_OBSERVED, known: [...records, ...known, stepNumbers(text)], printed };
}

/** A skill may name its own steps. */
function stepNumbers(text: string): string {
  return (text.match(/^\s*\d{1,2}[.)]\s/gm) ?? []).map((_, at) => at + 1).join(' ');
}

/** What commands of the session put out. */
function printedBy(messages: readonly StoredMessage[]): readonly string[] {
  return messages.flatMap(({ message }) => {
    if (message.role !== 'tool') return [];
    const [{ text, observed }] = message.parts;
    return observed.exitCode === undefined ? [] : [text];
  });
}

function isCopied({ text, isGrant }: ChangedText, texts: readonly CitedText[]): boolean {
  if (isGrant) return true;
  return text !== '' && texts.some((one) => one.origin === 'owner' && isWholeUnit(text, one.text));
}

interface Passed {
  readonly one: ChangedText;
  readonly texts: readonly CitedText[];
}

/** Grants were compared word for word: nothing is left to judge of them. */
function questionOf(passed: readonly Passed[]): {
  readonly claims: readonly JudgedClaim[];
  readonly sources: readonly JudgedSource[];
} {
  const sources = new Map<string, JudgedSource>();
  const claims = passed.flatMap(({ one: { text, before, isGrant }, texts }, index): readonly JudgedClaim[] => {
    if (isGrant) return [];
    const ids = texts.map((source, at) => {
      const id = `${source.handle}/${source.origin}/${at}`;
      sources.set(id, { id, origin: source.origin, text: source.text });
      return id;
    });
    const said = text === '' ? '(It is taken out: no longer true, or no longer wanted.)' : text;
    return [{ id: `c${index}`, text: said, sources: ids, ...(before === undefined ? {} : { before }) }];
  });
  return { claims, sources: [...sources.values()] };
}

// Where the words of a text come from: the owner, our own record, or something that the agent read. Pure. Knows no language: words are
// compared by their letters. Invariant: a session without foreign words gives nothing; what it gives is a reason to wait, never to refuse.

/** Words that occur in what is foreign alone. */
const MOST_FOREIGN = 3;
const RUN = 4;
/** Values of one text that are set aside. */
const MOST_VALUES = 1_000;
/** Characters of the foreign texts that are looked through, newest first. */
const MOST_READ = 4_000_000;

/** The words of a session, read once for all that is asked about them. */
interface WordsRead {
  /** Of the owner and of our own record. */
  readonly own: ReadonlySet<string>;
  /** Of what was read, and runs of four. */
  readonly words: ReadonlySet<string>;
  readonly runs: ReadonlySet<string>;
}

/** Undefined: nothing foreign was read. */
export function readWords(entries: readonly EvidenceEntry[]): WordsRead | undefined {
  const texts = entries.flatMap((entry) => entry.texts);
  const foreign = texts.filter(({ origin }) => origin === 'foreign');
  if (foreign.length === 0) return undefined;
  const own = texts.flatMap((one) => (one.origin === 'owner' || one.origin === 'observed' ? splitWords(one.text) : []));
  return { own: new Set(own), ...foreignRuns(foreign.map((one) => one.text)) };
}

/** Words of the text that stand in foreign texts alone, when they are most of it or a run of them was taken over; else empty. */
export function foreignWords(text: string, { own, words: read, runs }: WordsRead): readonly string[] {
  const values = [...new Set(hardValues(text).map(({ shown }) => shown))].slice(0, MOST_VALUES);
  const words = splitWords(values.reduce((rest, shown) => rest.replaceAll(shown, ' '), withoutUnseen(text)));
  const taken = words.map((word) => isContent(word) && read.has(word) && !own.has(word));
  const alone = [...new Set(words.filter((_, at) => taken[at]))];
  const known = new Set(words.filter((word) => isContent(word) && (own.has(word) || read.has(word))));
  const isMost = alone.length >= MOST_FOREIGN && alone.length * 2 > known.size;
  return isMost || words.some((_, at) => isTakenRun(words, at, { taken, runs })) ? alone : [];
}

/** Quotes of fewer words say nothing that they do not name. */
const FEW_WORDS = 8;

/**
 * Where foreign words were read: does what is cited say little and nothing of this text? An `ok` that follows a page agrees to the page, a
 * call that fetched it carries none of it. Quotes of some length are for a judge.
 * @param quotes empty for a call
 * @param records of the calls that are cited
 */
function agreesToForeign(
  text: string,
  { quotes, records }: { readonly quotes: readonly string[]; readonly records: readonly string[] },
): boolean {
  const stemsOf = (said: string) => splitWords(said).filter(isContent).map(stemWord);
  const words = new Set(stemsOf(text));
  const names = (said: string) => stemsOf(said).some((word) => words.has(word));
  return ![...quotes, ...records].some(names) && quotes.every((quote) => countWords(quote) < FEW_WORDS);
}

function isContent(word: string): boolean {
  return word.length > 3 || /[^\p{Script=Latin}\p{Script=Cyrillic}]/u.test(word);
}

function isTakenRun(
  words: readonly string[],
  at: number,
  { taken, runs }: { readonly taken: readonly boolean[]; readonly runs: ReadonlySet<string> },
): boolean {
  const run = words.slice(at, at + RUN);
  return run.length === RUN && taken.slice(at, at + RUN).filter(Boolean).length >= 2 && runs.has(run.join(' '));
}

function foreignRuns(texts: readonly string[]): Pick<WordsRead, 'words' | 'runs'> {
  const words = new Set<string>();
  const runs = new Set<string>();
  let left = MOST_READ;
  for (const text of texts.toReversed()) {
    const list = splitWords(text.slice(0, left));
    for (const [at, word] of list.entries()) {
      words.add(word);
      if (at + RUN <= list.length) runs.add(list.slice(at, at + RUN).join(' '));
    }
    left -= text.length;
    if (left <= 0) break;
  }
  return { words, runs };
}

// The evidence gate's one check by rule (design 1 and 4): does what is cited stand there, may it speak, and do the hard values of the
// claim occur in it? Pure, synchronous, linear. Knows no store, no dialect and no meaning: whether the words carry the claim is a judge's.
// Invariants: the reasons come in one order, those that only wait last; what passes rests on texts of allowed origins alone; taking
// evidence away never lets more pass.

type CitedVerdict =
  | {
      readonly accepted: true /** What it rests on: the cited texts that may speak. */;
      readonly texts: readonly CitedText[];
    }
  | { readonly accepted: false; readonly reason: ClaimRefusalReason; readonly detail: string };

interface CitedText extends EvidenceText {
  readonly handle: string;
}

const MIN_QUOTE_WORDS = 2;
const SHOWN = 200;

/** Of two entries with one handle the first counts. */
export function checkCited(entries: readonly EvidenceEntry[], claim: Claim, policy: ClaimPolicy): CitedVerdict {
  const { citations } = claim;
  if (citations.length === 0) return refuse('no-citation', 'It cites nothing.');
  const sources = new Map(entries.toReversed().map((entry) => [entry.handle, entry.texts]));
  const unknown = citations.find(({ handle }) => !sources.has(handle));
  if (unknown) return refuse('unknown-handle', `${unknown.handle} is no message of this conversation.`);
  const places = citations.map((citation) => placesOf(citation, sources.get(citation.handle) ?? []));
  for (const [at, place] of places.entries()) {
    const citation = citations[at];
    if (place.length === 0 && citation) return notThere(citation);
  }
  const speaking = places.flatMap((place) => place.filter(({ origin }) => policy.origins.includes(origin)));
  const needed = `it needs a source of origin ${policy.origins.join(' or ')}`;
  if (speaking.length === 0) return refuse('origin-not-allowed', `What it cites may not speak for this: ${needed}.`);
  const texts = citedTexts(citations, sources, policy);
  const quoted = citations.flatMap(({ quote }, at) =>
    places[at]?.some((one) => speaking.includes(one)) ? [quote] : [],
  );
  // Who quotes one value and claims another rests it on nothing; else the words around the quote count too.
  const isTurned = citations.some(({ quote }) => leavesValueOut(quote, claim.text));
  const said = texts.flatMap(({ origin, text }) => (origin === 'observed' || !isTurned ? [text] : []));
  const printed = policy.printed && sourceValues(policy.printed);
  const missing = missingValue(claim.text, sourceValues([...quoted, ...said, ...(policy.known ?? [])]), printed);
  if (missing)
    return refuse('value-not-cited', `"${ellipsize(missing.shown, SHOWN)}" does not occur in what is cited.`);
  return { accepted: true, texts };
}

/** The texts of the citation's source in which the quote stands; of a call that ended well, its record. */
function placesOf({ quote }: Citation, texts: readonly EvidenceText[]): readonly EvidenceText[] {
  if (quote.trim() === '') return texts.filter(({ isRecord }) => isRecord);
  const folded = foldQuote(quote);
  const isEnough = isLongEnough(quote, MIN_QUOTE_WORDS);
  return texts.filter(({ text }) => {
    const whole = foldText(text);
    return isEnough ? findQuote(whole, folded).length > 0 : folded !== '' && foldQuote(text) === folded;
  });
}

function notThere({ handle, quote }: Citation): CitedVerdict {
  if (quote.trim() === '') return refuse('quote-not-found', `${handle} holds no call that ended well.`);
  const shown = ellipsize(quote, SHOWN);
  return isLongEnough(quote, MIN_QUOTE_WORDS)
    ? refuse('quote-not-found', `"${shown}" does not stand in ${handle}.`)
    : refuse('quote-too-short', `"${shown}" is too short: quote two words, an identifier or the whole message.`);
}

/** Of each cited source once, what may speak. */
function citedTexts(
  citations: readonly Citation[],
  sources: ReadonlyMap<string, readonly EvidenceText[]>,
  { origins }: ClaimPolicy,
): readonly CitedText[] {
  return [...new Set(citations.map(({ handle }) => handle))].flatMap((handle) =>
    (sources.get(handle) ?? []).flatMap((text) => (origins.includes(text.origin) ? [{ ...text, handle }] : [])),
  );
}

function refuse(reason: ClaimRefusalReason, detail: string): CitedVerdict {
  return { accepted: false, reason, detail };
}

export interface Weighing extends GateOptions {
  readonly draft: ProposalDraft;
  /** Id of the proposal, under which `why` finds the verdicts. */
  readonly subject: string;
  /** All of its session, oldest first. */
  readonly messages: readonly StoredMessage[];
  /** Made by a rule that only copies, counts or cuts the owner's words and recorded calls: there is nothing to judge. */
  readonly byRule?: boolean;
}

/** Waits for the owner, or goes back. */
export interface Held {
  readonly decision: 'pending' | 'refused';
  readonly reason: string;
  /** One sentence. */
  readonly detail: string;
}

export interface Scales {
  readonly judge: Judge;
  /** Takes secrets out of texts, as the ledger takes them out of quotes. */
  readonly redact?: (text: string) => string;
}

/** Undefined: it may be kept. */
export async function weighProposal(
  { judge, redact }: Scales,
  { draft, subject, messages, byRule, ...options }: Weighing,
  signal?: AbortSignal,
): Promise<Held | undefined> {
  const verdict = gateProposal(draft, messages, redact === undefined ? options : { ...options, redact });
  if (verdict.decision !== 'accepted') return verdict;
  return byRule === true ? undefined : judgeMeaning(judge, subject, verdict, signal);
}

/** The worst verdict counts: what says otherwise goes back, what goes beyond or has no verdict waits. */
async function judgeMeaning(
  judge: Judge,
  subject: string,
  { claims, sources, isExact }: Extract<GateVerdict, { decision: 'accepted' }>,
  signal?: AbortSignal,
): Promise<Held | undefined> {
  if (claims.length === 0 || (isExact && !judge.isThere())) return undefined;
  const judged = await judge.judge(claims, sources, { task: 'keep', subject }, signal);
  const worst = WORST.map((verdict) => judged.find((one) => one.verdict === verdict)).find((one) => one !== undefined);
  const said = new Set(judged.map(({ id }) => id));
  if (worst === undefined && claims.every(({ id }) => said.has(id))) return undefined;
  return heldBy(worst);
}

const WORST: readonly Judgement['verdict'][] = ['contradicts', 'one-off', 'goes-beyond', 'none'];

function heldBy(worst: Judgement | undefined): Held {
  if (worst === undefined || worst.verdict === 'none')
    return { decision: 'pending', reason: 'not-judged', detail: `No model judged it (${worst?.why ?? 'failed'}).` };
  const { verdict, why } = worst;
  const detail = why === '' ? `What it cites does not carry it: ${verdict}.` : why;
  return { decision: verdict === 'goes-beyond' ? 'pending' : 'refused', reason: verdict, detail };
}
