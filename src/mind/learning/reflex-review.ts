// Owns the review without a language model: rules propose, the same gate judges.
import { canonicalJson, type JsonValue } from '#base/json.ts';
import { foldText } from '#base/text/fold.ts';
import { findQuote, foldQuote } from '#base/text/quotes.ts';
import { sliceText } from '#base/text.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import { messageHandle } from '#mind/evidence/citations.ts';
import { type GateVerdict, gateProposal } from '#mind/evidence/gate/gate-proposal.ts';
import { messageEvidence } from '#mind/evidence/gate/message-evidence.ts';
import type { ProposalDraft } from '#mind/evidence/proposal.ts';
import type { Citation, EvidenceEntry } from '#mind/evidence/trace-guard/claim.ts';
import { isLongEnough } from '#mind/evidence/trace-guard/exact-terms.ts';
import { type DoneCall, textArgument } from '#mind/memory/kept-entries.ts';
import { MEMORY_TARGETS, type MemoryFiles } from '#mind/memory/memory-files.ts';
import { sessionMessages } from '#mind/sessions/told-messages.ts';
import type { Kept, LearningParts } from './keep-proposal.ts';
import type { Review, ReviewKind } from './learning.ts';
import { readSteps, repeatedCalls, repeatedRun, stepOf, type Trace, traceOf } from './procedure.ts';
import { creationTriggers, ownerStatements, ownTurns, workCalls } from './read-turns.ts';
import type { ReviewRows } from './reviews.ts';
import { countOutcomes, type ReviewParts, type ReviewRun } from './run-review.ts';
import { draftSkill } from './teach-rules.ts';

interface ReflexReviewParts {
  readonly keep: (draft: ProposalDraft, signal: AbortSignal) => Promise<Kept>;
  /** What would the gate say? Pure. */
  readonly judge: (draft: ProposalDraft) => GateVerdict['decision'];
  /** Entries of both memory files. */
  readonly keptEntries: () => readonly string[];
  /** Text below the header of a skill; undefined when there is none of this name. */
  readonly skillBody: (name: string) => string | undefined;
}

interface ReflexReviewRequest {
  readonly sessionId: string;
  readonly kind: ReviewKind;
  /** The stretch to look at, oldest first. */
  readonly messages: readonly StoredMessage[];
  /** Name of the skill, when the owner gave one. */
  readonly hint?: string;
  /** A reason to propose a skill was met, or the owner asked. */
  readonly wantsSkill: boolean;
  /** The same calls were made in other conversations too. */
  readonly isRepeated: boolean;
}

const REFLEX_MODEL = 'reflex/1';
const FEWEST_STEPS = 2;
const QUOTE = 200;
const QUOTE_WORDS = 3;

export async function reflexReview(
  parts: ReflexReviewParts,
  request: ReflexReviewRequest,
  signal: AbortSignal,
): Promise<ReviewRun> {
  const drafts = [
    ...(request.kind === 'skills' ? [] : memoryDrafts(parts, request)),
    ...(request.kind === 'memory' || !request.wantsSkill ? [] : skillDrafts(parts, request)),
  ];
  const outcomes: Kept[] = [];
  for (const draft of drafts) outcomes.push(await parts.keep(draft, signal));
  return { ...countOutcomes(outcomes), tokens: 0, cost: 0, model: REFLEX_MODEL, outcomes };
}

function memoryDrafts(
  { keptEntries }: ReflexReviewParts,
  { messages, sessionId }: ReflexReviewRequest,
): readonly ProposalDraft[] {
  const plain = messages.map(({ message }) => message);
  return ownerStatements(plain, keptEntries()).map(({ text, target, at }) => ({
    ...{ kind: 'memory', actor: 'review', target, action: 'add', sessionId },
    change: { action: 'add', target, content: text },
    citations: citationOf(messages[at], text),
  }));
}

/** The whole draft when the gate takes it, else the steps alone; none that the gate would refuse. */
function skillDrafts(parts: ReflexReviewParts, request: ReflexReviewRequest): readonly ProposalDraft[] {
  const fresh = withoutReplays(request.messages);
  const trace = ownedTrace(traceOf(fresh.map(({ message }) => message)), request);
  if (trace === undefined || trace.steps.length < FEWEST_STEPS) return [];
  const name = freeName(parts, trace, request.hint);
  if (name === undefined) return [];
  const bare = { ...trace, deadEnds: [], lines: [] };
  const all = traceCitations(trace, fresh);
  const ways = [
    [trace, all],
    [bare, all],
    [bare, traceCitations(bare, fresh)],
  ] as const;
  const drafts = ways.flatMap(([one, citations]) => skillDraft(one, citations, { ...request, hint: name }) ?? []);
  const verdicts = drafts.map((draft) => ({ draft, decision: parts.judge(draft) }));
  const best = (wanted: GateVerdict['decision']) => verdicts.find(({ decision }) => decision === wanted)?.draft;
  return [best('accepted') ?? best('pending')].filter((draft) => draft !== undefined);
}

/** Calls that merely followed each other share no goal: the owner names what they are, or they were made again. */
function ownedTrace(trace: Trace, { hint, isRepeated }: ReflexReviewRequest): Trace | undefined {
  if (hint !== undefined) return trace;
  if (isRepeated) return isProcedure(trace) ? trace : undefined;
  const calls = repeatedRun(trace.calls);
  const steps = calls?.map(stepOf) ?? [];
  if (calls === undefined || !isProcedure({ steps })) return undefined;
  const [first = 0, last = 0] = [calls[0]?.at, calls.at(-1)?.at];
  const from = Math.max(...trace.lines.map(({ at }) => at).filter((at) => at < first));
  return { ...trace, calls, steps, lines: trace.lines.filter(({ at }) => at >= from && at < last) };
}

const MOST_TWINS = 9;

/** The name, with a number behind it while another skill has it; undefined when that skill says the same. */
function freeName({ skillBody }: ReflexReviewParts, trace: Trace, hint: string | undefined): string | undefined {
  const drafted = draftSkill(trace, hint);
  if (!drafted.ok) return undefined;
  const base = drafted.value.name;
  for (let count = 1; count <= MOST_TWINS; count += 1) {
    const name = count === 1 ? base : `${base}-${count}`;
    const body = skillBody(name);
    if (body === undefined) return name;
    const known = readSteps(body).map(({ step }) => step);
    if (canonicalJson(known as unknown as JsonValue) === canonicalJson(trace.steps as unknown as JsonValue))
      return undefined;
  }
  return undefined;
}

function skillDraft(
  trace: Trace,
  citations: readonly Citation[],
  { sessionId, hint }: ReflexReviewRequest,
): ProposalDraft | undefined {
  const drafted = draftSkill(trace, hint);
  if (!drafted.ok) return undefined;
  const { name, content } = drafted.value;
  const change = { action: 'create', name, content };
  return { kind: 'skill', actor: 'review', target: name, action: 'create', change, sessionId, citations };
}

/** Each step cites the record of its call, each line the owner's message. */
function traceCitations({ calls, lines }: Trace, messages: readonly StoredMessage[]): readonly Citation[] {
  const evidence = messageEvidence(messages, { observedArguments: 'all' });
  const steps = calls.flatMap((done) => {
    const stands = (quote: string) => standsIn(evidence[done.at], quote);
    const quote = [recordQuote(done), endQuote(done)].map(shortened).find(stands);
    return quote === undefined ? [] : citationOf(messages[done.at], quote);
  });
  const said = lines.flatMap(({ text, at }) => {
    const quote = shortened(text);
    return standsIn(evidence[at], quote) ? citationOf(messages[at], quote) : [];
  });
  return [...said, ...steps];
}

function standsIn(entry: EvidenceEntry | undefined, quote: string): boolean {
  const folded = foldQuote(quote);
  if (!isLongEnough(quote, QUOTE_WORDS)) return false;
  return entry?.texts.some(({ text }) => findQuote(foldText(text), folded).length > 0) ?? false;
}

const LOOKS: ReadonlySet<string> = new Set(['read_file', 'search_files', 'web_fetch']);

/** Looking around is none: something must have been done, and more than once. */
function isProcedure({ steps }: Pick<Trace, 'steps'>): boolean {
  return steps.filter(({ tool }) => !LOOKS.has(tool)).length >= FEWEST_STEPS;
}

/** As the record of a call reads in the evidence: `Ran terminal. command: npm ci`. */
function recordQuote({ call }: DoneCall): string {
  const key = ['command', 'path', 'pattern'].find((one) => textArgument(call.arguments, one) !== '') ?? '';
  const [first] = Object.keys(call.arguments);
  const value = `${key}: ${textArgument(call.arguments, key)}`;
  return key === '' ? `Ran ${call.name}.` : first === key ? `Ran ${call.name}. ${value}` : value;
}

/** As the record ends, where its arguments are more than what was run. */
function endQuote({ result }: DoneCall): string {
  const { exitCode } = result.observed;
  return exitCode === undefined ? 'It was done.' : `Exit status ${exitCode}.`;
}

function shortened(quote: string): string {
  const end = quote.lastIndexOf(' ', QUOTE);
  return quote.length <= QUOTE ? quote : sliceText(quote, end > 0 ? end : QUOTE);
}

function citationOf(stored: StoredMessage | undefined, quote: string): readonly Citation[] {
  return stored === undefined ? [] : [{ handle: messageHandle(stored.id), quote: shortened(quote) }];
}

/** What was done by following a skill, or by playing earlier steps again, is no new procedure. */
function withoutReplays(messages: readonly StoredMessage[]): readonly StoredMessage[] {
  const own = new Set(ownTurns(messages.map(({ message }) => message)).flat());
  return messages.filter(({ message }) => own.has(message));
}

interface ByRuleParts {
  readonly parts: LearningParts;
  readonly rows: Pick<ReviewRows, 'list'>;
  readonly keep: ReviewParts['keep'];
}

type RuleOrder = Pick<Review, 'sessionId' | 'kind' | 'reasons' | 'hint'>;

export async function reviewByRule(by: ByRuleParts, order: RuleOrder, signal: AbortSignal): Promise<ReviewRun> {
  const { sessionId, kind, reasons, hint } = order;
  const { store, library, memory } = by.parts;
  const messages = stretchOf(by, order, await store.messages(sessionId));
  const all = sessionMessages(store.database, sessionId);
  const isRepeated = reasons.includes('repeated');
  const wantsSkill = reasons.includes('asked') || isRepeated || hasTrigger(messages);
  await library.ready();
  return reflexReview(
    {
      skillBody: (name) => library.get(name)?.body,
      keep: by.keep,
      judge: (draft) => gateProposal(draft, all).decision,
      keptEntries: () => keptEntries(memory),
    },
    { sessionId, kind, messages, wantsSkill, isRepeated, ...(hint === undefined ? {} : { hint }) },
    signal,
  );
}

/** Of both memory files. */
export function keptEntries(files: Pick<MemoryFiles, 'read'>): readonly string[] {
  return MEMORY_TARGETS.flatMap((target) => {
    const state = files.read(target);
    return state.ok ? state.value.entries : [];
  });
}

function hasTrigger(messages: readonly StoredMessage[]): boolean {
  const plain = messages.map(({ message }) => message);
  return creationTriggers(plain, true).length > 0;
}

function stretchOf(
  { rows }: ByRuleParts,
  { sessionId, reasons }: RuleOrder,
  stored: readonly StoredMessage[],
): readonly StoredMessage[] {
  if (reasons.includes('repeated')) return repeatedStretch(stored);
  if (reasons.includes('asked')) return stored;
  const done = rows.list(sessionId).filter(({ status }) => status === 'done');
  const through = Math.max(0, ...done.map((one) => one.through));
  return stored.filter(({ id }) => id > through);
}

/** From the owner's line of the first repeated call on. */
function repeatedStretch(stored: readonly StoredMessage[]): readonly StoredMessage[] {
  const messages = stored.map(({ message }) => message);
  const calls = workCalls(messages);
  const run = repeatedCalls(calls) ?? calls;
  const first = run[0]?.at ?? 0;
  const from = messages.slice(0, first + 1).findLastIndex(({ role }) => role === 'user');
  return stored.slice(Math.max(0, from));
}
