// Owns an ask from its first event to its outcome, and the asks within it. Everything follows from request, source and replies.
// Invariant: events are the same for the same of these; the trace is finished once; each sentence has the grade of the gate.
import { errorCode } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import { type CallRecord, callTotals } from '../call/call-record.ts';
import type { AskOutcome, AskVerdict, Handle, RunGap } from '../outcome.ts';
import { type ByteRange, mergeRanges } from '../repl/context-ops.ts';
import { createReplSession } from '../repl/create-repl-session.ts';
import { textSource } from '../repl/file-bytes.ts';
import type { ReplSession } from '../repl/repl-session.ts';
import type { EndState } from '../scaffold/run-tree.ts';
import { AskEvents, type AskParts, type AskPlace, type AskScope } from './ask-place.ts';
import { reachedHandles } from './conclude.ts';
import { HEAD_BYTES } from './root-prompt.ts';
import { AskBench, runSteps, type StepsEnd } from './steps.ts';
import { type NestedAnswer, Slots, SubCalls } from './sub-calls.ts';

const END_OF: Readonly<Record<AskVerdict, EndState>> = {
  answered: 'completed',
  unsupported: 'completed',
  no_answer: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** Throws for broken storage and for a diverged trace. */
export async function executeAsk(parts: AskParts): Promise<AskOutcome> {
  const { request, source, trace } = parts;
  const { question, max_steps, depth } = request;
  const started = { kind: 'ask', question, max_steps, depth, bytes: source.byte_count, lines: source.line_count };
  const cause = trace.emit({ type: 'rlm.run.started', node_id: null, causal_parent_event_id: null, data: started });
  const records: CallRecord[] = [];
  const above = { parent_call_id: null, parent_node_id: null };
  const place: AskPlace = { prefix: 'ask:', level: 1, depth: 0, ...above, cause };
  const onRecord = (record: CallRecord) => records.push(record);
  const scope = { ask: parts, place, question, steps: max_steps, trace, onRecord };
  const { end, handles, shown, blocks } = await askAt(scope, new Slots(request.concurrency));
  const { verdict, detail, sentences } = end;
  const read = mergeRanges([[0, Math.min(HEAD_BYTES, source.byte_count)], ...shown]);
  const skipped: readonly RunGap[] = request.skipped.map(({ path, reason }) => ({ what: path, why: reason }));
  const outcome: AskOutcome = {
    schema_version: 'talaria.rlm.ask.v2',
    run_id: trace.run_id,
    question,
    verdict,
    run_state: END_OF[verdict],
    detail,
    sentences,
    handles: reachedHandles(sentences, handles),
    gaps: [...end.gaps, ...skipped],
    bytes_read: read.reduce((sum, [start, end]) => sum + end - start, 0),
    bytes_total: source.byte_count,
    steps: blocks,
    totals: callTotals(records),
  };
  const data = { state: outcome.run_state, verdict, detail };
  trace.emit({ type: 'rlm.run.finished', node_id: null, causal_parent_event_id: cause, data });
  trace.finish({ state: outcome.run_state, outcome: outcome as unknown as JsonObject });
  return outcome;
}

interface Asked {
  readonly end: StepsEnd;
  readonly handles: readonly Handle[];
  readonly shown: readonly ByteRange[];
  readonly blocks: number;
}

/** `reading`: of the whole run; so many models read a piece at once. */
async function askAt(above: Omit<AskScope, 'events'>, reading: Slots): Promise<Asked> {
  const { ask, place, trace } = above;
  const scope: AskScope = { ...above, events: new AskEvents(trace, place) };
  const subCalls = new SubCalls(scope, reading, (piece, within) => askWithin({ ...above, ...within }, piece, reading));
  let session: ReplSession | undefined;
  try {
    session = await createReplSession({ source: ask.source, host: subCalls, limits: ask.request.repl });
    const bench = new AskBench(scope, session, subCalls);
    const end = await runSteps(bench);
    return { end, handles: bench.handles(), shown: session.shown(), blocks: bench.blocks };
  } catch (error) {
    const code = errorCode(error) ?? '';
    const why = Object.hasOwn(BROKEN, code) ? `${code}: ${BROKEN[code]}` : undefined;
    if (why === undefined) throw error;
    scope.events.endOpen(why);
    if (place.level > 1) throw error;
    const end = { verdict: 'failed', detail: why, sentences: [], gaps: subCalls.gaps } as const;
    return { end, handles: [], shown: session?.shown() ?? [], blocks: 0 };
  } finally {
    await session?.close();
  }
}

/** What ends an ask though nobody did anything wrong in it. Without a path: an outcome holds none. */
const BROKEN: Readonly<Record<string, string>> = {
  'context-changed': 'the context was changed while it was read',
  'context-unreadable': 'the context cannot be read any more',
  'sandbox-failed': 'the sandbox could not be started, or broke down',
};

/** Half of the steps: a piece is shorter than the whole. */
async function askWithin(scope: Omit<AskScope, 'events'>, piece: string, reading: Slots): Promise<NestedAnswer> {
  const source = textSource(piece, 'piece');
  try {
    if (source.byte_count === 0) return { text: '', quoted: [], detail: 'the piece is empty' };
    const steps = Math.max(2, Math.ceil(scope.steps / 2));
    const { end } = await askAt({ ...scope, ask: { ...scope.ask, source }, steps }, reading);
    const quoted = end.sentences.filter(({ grade }) => grade === 'quoted').map(({ text }) => text);
    return { text: end.sentences.map(({ text }) => text).join(' '), quoted, detail: end.detail };
  } finally {
    source.close();
  }
}
