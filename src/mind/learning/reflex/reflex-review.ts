// Owns the review without a language model: rules propose, the same gate judges (issue: reflex learns by rules under the same gate).
// Knows no row and no surface. Invariants: every entry is the owner's sentence, every step a call that worked; each cites its message.
import { canonicalJson, type JsonValue } from '#base/json.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import { messageHandle } from '#mind/evidence/message-handle.ts';
import type { ProposalDraft } from '#mind/evidence/proposal.ts';
import type { Citation } from '#mind/evidence/trace-guard/claim.ts';
import { type DoneCall, textArgument } from '../counters/done-calls.ts';
import { splitTurns } from '../counters/split-turns.ts';
import type { Kept } from '../keep/keep-proposal.ts';
import { countOutcomes } from '../review/count-outcomes.ts';
import type { ReviewKind } from '../review/review.ts';
import type { ReviewRun } from '../review/run-review.ts';
import { ownerStatements } from './owner-statements.ts';
import { draftSkill } from './procedure/draft-skill.ts';
import { readSteps } from './procedure/step-text.ts';
import { type Trace, traceOf } from './procedure/trace.ts';

export interface ReflexReviewParts {
  readonly keep: (draft: ProposalDraft, signal: AbortSignal) => Promise<Kept>;
  /** Would the gate take it? Pure. */
  readonly isSupported: (draft: ProposalDraft) => boolean;
  /** Entries of both memory files. */
  readonly keptEntries: () => readonly string[];
  /** Text below the header of a skill; undefined when there is none of this name. */
  readonly skillBody: (name: string) => string | undefined;
}

export interface ReflexReviewRequest {
  readonly sessionId: string;
  readonly kind: ReviewKind;
  /** The stretch to look at, oldest first. */
  readonly messages: readonly StoredMessage[];
  /** Name of the skill, when the owner gave one. */
  readonly hint?: string;
  /** A reason to propose a skill was met, or the owner asked. */
  readonly wantsSkill: boolean;
  readonly isAsked: boolean;
}

const REFLEX_MODEL = 'reflex/1';
const FEWEST_STEPS = 2;
const QUOTE = 200;

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
  const found = ownerStatements(
    messages.map(({ message }) => message),
    keptEntries(),
  );
  return found.map(({ text, target, at }) => ({
    kind: 'memory',
    actor: 'review',
    target,
    action: 'add',
    change: { action: 'add', target, content: text },
    sessionId,
    citations: citationOf(messages[at], text),
  }));
}

/** The whole draft when the gate takes it, else the one without what only failed calls say. */
function skillDrafts(parts: ReflexReviewParts, request: ReflexReviewRequest): readonly ProposalDraft[] {
  const fresh = withoutReplays(request.messages);
  const trace = traceOf(fresh.map(({ message }) => message));
  if (trace.steps.length < FEWEST_STEPS || (!request.isAsked && !isProcedure(trace))) return [];
  const name = freeName(parts, trace, request.hint);
  if (name === undefined) return [];
  const drafts = [trace, { ...trace, deadEnds: [] }, { ...trace, deadEnds: [], recovered: [] }].flatMap(
    (one) => skillDraft(one, fresh, { ...request, hint: name }) ?? [],
  );
  const chosen = drafts.find(parts.isSupported) ?? drafts[0];
  return chosen === undefined ? [] : [chosen];
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
  messages: readonly StoredMessage[],
  request: ReflexReviewRequest,
): ProposalDraft | undefined {
  const drafted = draftSkill(trace, request.hint);
  if (!drafted.ok) return undefined;
  const { name, content } = drafted.value;
  return {
    kind: 'skill',
    actor: 'review',
    target: name,
    action: 'create',
    change: { action: 'create', name, content },
    sessionId: request.sessionId,
    citations: traceCitations(trace, messages),
  };
}

/** Each step cites the record of its call, each line the owner's message. */
function traceCitations({ calls, lines }: Trace, messages: readonly StoredMessage[]): readonly Citation[] {
  const steps = calls.flatMap((done) => citationOf(messages[done.at], recordQuote(done)));
  const said = lines.flatMap(({ text, at }) => (text.split(/\s+/).length < 3 ? [] : citationOf(messages[at], text)));
  return [...said, ...steps];
}

const LOOKS: ReadonlySet<string> = new Set(['read_file', 'search_files', 'web_fetch']);

/** Looking around is none: something must have been done, and more than once. */
function isProcedure({ steps }: Trace): boolean {
  return steps.filter(({ tool }) => !LOOKS.has(tool)).length >= FEWEST_STEPS;
}

/** As the record of a call reads in the evidence: `Ran terminal. command: npm ci`. */
function recordQuote({ call }: DoneCall): string {
  const key = ['command', 'path', 'pattern'].find((one) => textArgument(call.arguments, one) !== '') ?? '';
  const [first] = Object.keys(call.arguments);
  const value = `${key}: ${textArgument(call.arguments, key)}`;
  return key === '' ? `Ran ${call.name}.` : first === key ? `Ran ${call.name}. ${value}` : value;
}

function citationOf(stored: StoredMessage | undefined, quote: string): readonly Citation[] {
  const words =
    quote.length <= QUOTE
      ? quote
      : quote.slice(0, quote.lastIndexOf(' ', QUOTE) > 0 ? quote.lastIndexOf(' ', QUOTE) : QUOTE);
  return stored === undefined ? [] : [{ handle: messageHandle(stored.id), quote: words }];
}

/** What was done by following a skill is no new procedure. */
function withoutReplays(messages: readonly StoredMessage[]): readonly StoredMessage[] {
  let at = 0;
  return splitTurns(messages.map(({ message }) => message)).flatMap((turn) => {
    const stored = messages.slice(at, at + turn.length);
    at += turn.length;
    const follows = turn.some(
      (message) => message.role === 'tool' && message.parts[0].name === 'skill_view' && !message.parts[0].isError,
    );
    return follows ? [] : stored;
  });
}
