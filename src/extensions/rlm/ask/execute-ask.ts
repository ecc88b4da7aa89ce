// Owns an ask from its first event to its outcome, and the asks within it. Everything follows from request, source and replies.
// Invariant: events are the same for the same of these; the trace is finished once; each sentence has the grade of the gate.
import { errorCode } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import type { CallRecord } from '../call/call-record.ts';
import type { ReplSession } from '../repl/repl-session.ts';
import { textSource } from '../repl/source/text-source.ts';
import type { RunGap, RunTotals } from '../run/run-outcome.ts';
import type { EndState } from '../tree/run-state.ts';
import type { AskOutcome, AskVerdict, Handle } from './ask-outcome.ts';
import { type AskParts, OUTERMOST } from './ask-parts.ts';
import { callTotals } from './call-totals.ts';
import { AskBench } from './loop/ask-bench.ts';
import { AskEvents } from './loop/ask-events.ts';
import { reachedHandles } from './loop/conclude.ts';
import { runSteps, type StepsEnd } from './loop/run-steps.ts';
import { HEAD_BYTES } from './root-turn/root-prompt.ts';
import { Slots } from './sub/slots.ts';
import { type NestedAnswer, SubCalls, type Within } from './sub/sub-calls.ts';

/** Throws for broken storage and for a diverged trace. */
export async function executeAsk(parts: AskParts): Promise<AskOutcome> {
  const { request, source, trace } = parts;
  const { question, max_steps, depth } = request;
  const started = { kind: 'ask', question, max_steps, depth, bytes: source.byte_count, lines: source.line_count };
  const cause = trace.emit({ type: 'rlm.run.started', node_id: null, causal_parent_event_id: null, data: started });
  const records: CallRecord[] = [];
  const place = { ...OUTERMOST, cause };
  const onRecord = (record: CallRecord) => records.push(record);
  const reading = new Slots(request.concurrency);
  const asked = await askAt(parts, { place, question, steps: max_steps, onRecord, trace, reading });
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

interface OneAsk extends Within {
  readonly question: string;
  readonly steps: number;
  readonly reading: Slots;
}

interface Asked {
  readonly end: StepsEnd;
  readonly handles: readonly Handle[];
  readonly shown: readonly (readonly [start: number, end: number])[];
  readonly blocks: number;
}

async function askAt(parts: AskParts, one: OneAsk): Promise<Asked> {
  const { place, question, steps, onRecord, trace, reading } = one;
  const events = new AskEvents(trace, place);
  const subCalls = new SubCalls({
    ask: parts,
    place,
    events,
    trace,
    onRecord,
    reading,
    nested: (piece, asked, within) => askWithin(parts, { ...one, ...within, question: asked }, piece),
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
    if (source.byte_count === 0) return { text: '', quoted: [], detail: 'the piece is empty' };
    const steps = Math.max(2, Math.ceil(one.steps / 2));
    const { end } = await askAt({ ...parts, source }, { ...one, steps });
    const quoted = end.sentences.filter(({ grade }) => grade === 'quoted').map(({ text }) => text);
    return { text: end.sentences.map(({ text }) => text).join(' '), quoted, detail: end.detail };
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
    schema_version: 'talaria.rlm.ask.v2',
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
