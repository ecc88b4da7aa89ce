// Owns the gate by rule that everything a model wants to keep must pass: what is cited stands there, may speak, and holds the hard values.
// Knows no ledger, no file and no model; what passes still needs a judge, unless it is exact. Pure.
// Invariants: a fact about the owner needs the owner's words, everything else these or a call that ended well; what is only out of place
// waits for the owner, what is not there at all is refused.
import { ellipsize } from '#base/text.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import type { JudgedClaim, JudgedSource } from '../judge/judge.ts';
import type { ProposalDraft } from '../proposal.ts';
import { type CitedText, type CitedVerdict, checkCited } from '../trace-guard/check-cited.ts';
import type { ClaimPolicy, ClaimRefusalReason, EvidenceEntry } from '../trace-guard/claim.ts';
import { WAITING_REASONS } from '../trace-guard/claim.ts';
import { findQuote, foldQuote, isWholeUnit } from '../trace-guard/find-quote.ts';
import { foldText } from '../trace-guard/fold-text.ts';
import { type ChangedText, type ChangeOptions, changedTexts } from './changed-text.ts';
import { agreesToForeign, foreignWords, readWords, type WordsRead } from './foreign-words.ts';
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
