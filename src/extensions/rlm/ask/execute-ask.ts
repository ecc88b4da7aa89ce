// Owns an ask from its first event to its outcome, and the asks within it. Everything follows from request, source and replies.
// Invariant: events are the same for the same of these; the trace is finished once; what is cited passed the gate.
import { errorCode } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import type { CallRecord } from '../call/call-record.ts';
import type { ReplSession } from '../repl/repl-session.ts';
import { textSource } from '../repl/source/text-source.ts';
import type { RunGap, RunTotals } from '../run/run-outcome.ts';
import type { EndState } from '../tree/run-state.ts';
import type { AskOutcome, AskVerdict, Handle } from './ask-outcome.ts';
import { type AskParts, type AskPlace, OUTERMOST } from './ask-parts.ts';
import { callTotals } from './call-totals.ts';
import { AskBench } from './loop/ask-bench.ts';
import { AskEvents } from './loop/ask-events.ts';
import { reachedHandles } from './loop/conclude.ts';
import { runSteps, type StepsEnd } from './loop/run-steps.ts';
import { HEAD_BYTES } from './root/root-prompt.ts';
import { type NestedAnswer, SubCalls } from './sub/sub-calls.ts';

/** Throws for broken storage and for a diverged trace. */
export async function executeAsk(parts: AskParts): Promise<AskOutcome> {
  const { request, source, trace } = parts;
  const { question, max_steps, depth } = request;
  const started = { kind: 'ask', question, max_steps, depth, bytes: source.byte_count, lines: source.line_count };
  const cause = trace.emit({ type: 'rlm.run.started', node_id: null, causal_parent_event_id: null, data: started });
  const records: CallRecord[] = [];
  const place = { ...OUTERMOST, cause };
  const asked = await askAt(parts, { place, question, steps: max_steps, onRecord: (record) => records.push(record) });
  const outcome = outcomeOf(parts, asked, callTotals(records));
  const { verdict, run_state, detail } = outcome;
  trace.emit({
    type: 'rlm.run.finished',
    node_id: null,
    causal_parent_event_id: cause,
    data: { state: run_state, verdict, detail },
  });
  trace.finish({ state: run_state, outcome: outcome as unknown as JsonObject });
  return outcome;
}

interface OneAsk {
  readonly place: AskPlace;
  readonly question: string;
  readonly steps: number;
  readonly onRecord: (record: CallRecord) => void;
}

interface Asked {
  readonly end: StepsEnd;
  readonly handles: readonly Handle[];
  readonly shown: readonly (readonly [start: number, end: number])[];
  readonly blocks: number;
}

async function askAt(parts: AskParts, one: OneAsk): Promise<Asked> {
  const { place, question, steps, onRecord } = one;
  const events = new AskEvents(parts.trace, place);
  const subCalls = new SubCalls({
    ask: parts,
    place,
    events,
    onRecord,
    nested: (piece, asked, at) => askWithin(parts, { ...one, place: at, question: asked }, piece),
  });
  let session: ReplSession | undefined;
  try {
    session = await parts.openRepl({ source: parts.source, host: subCalls, limits: parts.request.repl });
    const bench = new AskBench({ ask: parts, place, question, steps, session, subCalls, events, onRecord });
    const end = await runSteps(bench);
    return { end, handles: bench.handles(), shown: session.shown(), blocks: bench.blocks };
  } catch (error) {
    const why = brokenGround(error);
    if (why === undefined) throw error;
    events.endOpen(why);
    if (place.level > 1) throw error;
    const end = { verdict: 'failed', detail: why, sentences: [], gaps: subCalls.gaps } as const;
    return { end, handles: [], shown: session?.shown() ?? [], blocks: 0 };
  } finally {
    await session?.close();
  }
}

/** What ends an ask though nobody did anything wrong in it. Without a path: an outcome holds none. */
const BROKEN: Readonly<Record<string, string>> = {
  'context-changed': 'context-changed: the context was changed while it was read',
  'context-unreadable': 'context-unreadable: the context cannot be read any more',
  'sandbox-failed': 'sandbox-failed: the sandbox could not be started, or broke down',
};

function brokenGround(error: unknown): string | undefined {
  const code = errorCode(error) ?? '';
  return Object.hasOwn(BROKEN, code) ? BROKEN[code] : undefined;
}

/** Half of the steps: a piece is shorter than the whole. */
async function askWithin(parts: AskParts, one: OneAsk, piece: string): Promise<NestedAnswer> {
  const source = textSource(piece, 'piece');
  try {
    if (source.byte_count === 0) return { text: '', cited: [], detail: 'the piece is empty' };
    const steps = Math.max(2, Math.ceil(one.steps / 2));
    const { end } = await askAt({ ...parts, source }, { ...one, steps });
    const cited = end.sentences.filter(({ status }) => status === 'cited').map(({ text }) => text);
    return { text: cited.join(' '), cited, detail: end.detail };
  } finally {
    source.close();
  }
}

const END_OF: Readonly<Record<AskVerdict, EndState>> = {
  answered: 'completed',
  unsupported: 'completed',
  no_answer: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
};

function outcomeOf(
  { request, source, trace }: AskParts,
  { end, handles, shown, blocks }: Asked,
  totals: RunTotals,
): AskOutcome {
  const { verdict, detail, sentences } = end;
  const skipped: readonly RunGap[] = request.skipped.map(({ path, reason }) => ({ what: path, why: reason }));
  const head: readonly [number, number] = [0, Math.min(HEAD_BYTES, source.byte_count)];
  return {
    schema_version: 'talaria.rlm.ask.v1',
    run_id: trace.run_id,
    question: request.question,
    verdict,
    run_state: END_OF[verdict],
    detail,
    sentences,
    handles: reachedHandles(sentences, handles),
    gaps: [...end.gaps, ...skipped],
    bytes_read: unionLength([head, ...shown]),
    bytes_total: source.byte_count,
    steps: blocks,
    totals,
  };
}

/** Overlaps once. */
function unionLength(ranges: readonly (readonly [start: number, end: number])[]): number {
  let length = 0;
  let reached = 0;
  for (const [start, end] of [...ranges].sort((left, right) => left[0] - right[0])) {
    length += Math.max(0, end - Math.max(start, reached));
    reached = Math.max(reached, end);
  }
  return length;
}
