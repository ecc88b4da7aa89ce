// Owns the sub-calls of one ask: what the code in the REPL asks models about pieces, once more plainly when the reply was of no use, as weak models
// need it. They run at once, as many as the request says; their events, their claims and the replies that the code sees come in the order of
// asking. An `rlm` sub-call is an ask over the piece, whose events are held until it is its turn. Invariant: a failure is data for the code; only
// broken storage or a diverged trace ends the run (`fault`); what is not asked on a handle becomes none.
import { errorCode } from '#base/errors.ts';
import type { CallRecord } from '../call/call-record.ts';
import type { ChildHandle, RunGap } from '../outcome.ts';
import type { ReplHost, SubQuery, SubReply } from '../repl/repl-session.ts';
import { PLAIN_SYSTEM, plainPrompt, plainTokens } from '../run/plain-prompt.ts';
import type { NewRunEvent } from '../trace/run-record.ts';
import { SUB_RULES } from './ask.rules.ts';
import { AskEvents, type AskNode, type AskPlace, type AskScope, type AskTrace, callId } from './ask-place.ts';
import { keptForJudge, promptChars, replyTokens } from './ask-request.ts';
import {
  isSubOfNoUse,
  readPlainSub,
  readSubReply,
  SUB_SCHEMA,
  type SubPrompt,
  type SubReading,
} from './read-sub-reply.ts';

/** Does an ask over a piece; given from outside, since an ask has sub-calls. */
type NestedAsk = (
  piece: string,
  within: Pick<AskScope, 'question' | 'place' | 'trace' | 'onRecord'>,
) => Promise<NestedAnswer>;

export interface NestedAnswer {
  readonly text: string;
  readonly quoted: readonly string[];
  readonly detail: string | null;
}

/** The step whose code asks. */
interface StepPlace {
  readonly step: number;
  readonly call_id: string;
  readonly node_id: string;
  readonly cause: string;
}

interface PieceTry {
  readonly record: CallRecord;
  /** Null: no reply. */
  readonly reading: SubReading | null;
}

/** The first try, and the second when there was one. */
type PieceTries = readonly [PieceTry, ...PieceTry[]];

type Done = { readonly tries: PieceTries } | { readonly nested: () => NestedAnswer; readonly held: HeldTrace };

/** Events and records of an ask within this one, which runs beside others. Inside, every event follows from the step that asked. */
class HeldTrace implements AskTrace {
  readonly records: CallRecord[] = [];
  readonly events: NewRunEvent[] = [];
  readonly #cause: string;

  constructor(cause: string) {
    this.#cause = cause;
  }

  emit(event: NewRunEvent): string {
    this.events.push(event);
    return this.#cause;
  }
}

/** So many pieces of work are under way at once, first come, first served; a slot is given back whatever happens. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = Math.max(1, count);
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

export class SubCalls implements ReplHost {
  readonly children: ChildHandle[] = [];
  readonly gaps: RunGap[] = [];
  /** What no code may catch. */
  fault: { readonly error: unknown } | undefined;
  readonly #scope: AskScope;
  /** Of the whole run: so many models read a piece at once. */
  readonly #reading: Slots;
  readonly #nested: NestedAsk;
  readonly #nesting: Slots;
  #at: StepPlace | undefined;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(scope: AskScope, reading: Slots, nested: NestedAsk) {
    this.#scope = scope;
    this.#reading = reading;
    this.#nested = nested;
    this.#nesting = new Slots(scope.ask.request.concurrency);
  }

  /** The step whose code runs from now on; undefined: no sub-call is made any more. */
  enter(step: StepPlace | undefined): void {
    this.#at = step;
  }

  /** Until every sub-call that was asked for has an end. Throws what may not be caught. */
  async settled(): Promise<void> {
    await this.#queue;
    if (this.fault !== undefined) throw this.fault.error;
  }

  query(query: SubQuery): Promise<SubReply> {
    const at = this.#at;
    if (at === undefined) return Promise.resolve(noReply('no sub-call can be made any more: answer now'));
    const before = this.#queue;
    const unfit = this.#unfit(query);
    const done = unfit === undefined ? this.#begin(query, at) : undefined;
    const reply = before
      .then(async () => (done === undefined ? noReply(unfit ?? '') : this.#finish(query, at, await done)))
      .catch((error: unknown) => {
        this.fault ??= { error };
        return noReply('the run has ended');
      });
    this.#queue = reply;
    return reply;
  }

  /** Reading the piece reads the context, which may have been changed. */
  #unfit(query: SubQuery): string | undefined {
    const { models, window_tokens } = this.#scope.ask.request;
    if (query.model !== null && !models.includes(query.model))
      return `there is no model ${query.model}; models: ${models.join(', ') || 'none but the default'}`;
    try {
      // A model must not be asked with half of a piece: the code is told to cut it.
      if (this.#isNested(query)) return undefined;
      const most = pieceChars(window_tokens);
      const size = JSON.stringify([query.piece, query.question]).length;
      return size <= most ? undefined : `the piece has ${size} characters, ${most} fit: cut it into chunks`;
    } catch (error) {
      this.fault ??= { error };
      return 'the context cannot be read any more';
    }
  }

  #isNested({ kind, over, piece }: SubQuery): boolean {
    const { place, ask } = this.#scope;
    return kind === 'rlm' && (over !== null || piece !== null) && place.level < ask.request.depth;
  }

  #begin(query: SubQuery, at: StepPlace): Promise<Done> {
    const done: Promise<Done> = this.#isNested(query)
      ? this.#nesting.run(() => this.#askNested(query, query.piece ?? '', at))
      : this.#reading.run(async () => ({ tries: await this.#askPiece(query, at) }));
    // Whoever awaits it gets the failure; until then nobody may.
    done.catch(() => undefined);
    return done;
  }

  /**
   * The question about a piece as JSON, then plainly. At most two calls; a piece that is no handle is asked about once, since its claims count for
   * nothing.
   */
  async #askPiece(query: SubQuery, at: StepPlace): Promise<PieceTries> {
    const { question, piece, over } = query;
    const shape: SubPrompt = { schema_version: SUB_SCHEMA, task: 'answer_from_piece', piece, question };
    const tokens = replyTokens(this.#scope.ask.request.window_tokens);
    const record = await this.#call(query, at, '', [SUB_RULES, JSON.stringify(shape), tokens]);
    const reading = record.completion === null ? null : readSubReply(record.completion, piece);
    const isWanted = reading === null ? record.adapter_error?.type === 'reply_too_large' : isSubOfNoUse(reading);
    if (over === null || piece === null || !isWanted) return [{ record, reading }];
    const plain = [PLAIN_SYSTEM, plainPrompt(question, [piece]), plainTokens(tokens)] as const;
    const again = await this.#call(query, at, ':plain', plain);
    const plainly = again.completion === null ? null : readPlainSub(again.completion, piece);
    return [
      { record, reading },
      { record: again, reading: plainly },
    ];
  }

  #call(
    query: SubQuery,
    { call_id: parent_call_id, cause, ...at }: StepPlace,
    suffix: string,
    [system, prompt, max_output_tokens]: readonly [system: string, prompt: string, tokens: number],
  ): Promise<CallRecord> {
    const { ask, place, events } = this.#scope;
    const call_id = this.#id(query, at);
    return ask.calls.ask(
      {
        ...events.callHead(events.known(call_id), `${call_id}${suffix}`, {
          parent_call_id,
          cause,
          depth: place.depth + 1,
        }),
        mode: 'repl_sub',
        selected_chunk_ids: query.over === null ? [] : [query.over],
        system,
        prompt,
        max_output_tokens,
        families: query.model === null ? ask.request.families : [query.model],
        keep_back: place.level + keptForJudge(ask.request),
      },
      ask.signal,
    );
  }

  async #askNested(query: SubQuery, piece: string, at: StepPlace): Promise<Done> {
    const { place } = this.#scope;
    const { question, over } = query;
    const call_id = this.#id(query, at);
    const depth = place.depth + 1;
    const held = new HeldTrace(at.cause);
    const events = new AskEvents(held, place);
    const node = events.schedule(call_id, { parent: at.node_id, cause: at.cause, depth });
    const cause = events.emit('rlm.context.bound', node, { question, over, characters: piece.length });
    const above = { parent_call_id: at.call_id, parent_node_id: node.node_id, cause };
    const within: AskPlace = { prefix: `${call_id}/`, level: place.level + 1, depth, ...above };
    const onRecord = (record: CallRecord) => held.records.push(record);
    try {
      const answer = await this.#nested(piece, { question, place: within, trace: held, onRecord });
      return { nested: () => answer, held };
    } catch (error) {
      events.endOpen(errorCode(error) ?? 'failed');
      const rethrow = () => {
        throw error;
      };
      return { nested: rethrow, held };
    }
  }

  #finish(query: SubQuery, at: StepPlace, done: Done): SubReply {
    if ('nested' in done) return this.#commitNested(query, at, done);
    const { events } = this.#scope;
    const { tries } = done;
    const { depth } = tries[0].record;
    const node = events.schedule(this.#id(query, at), { parent: at.node_id, cause: at.cause, depth });
    for (const one of tries) this.#tell(query, one, node);
    // Without a claim of the second the first stands.
    const { record, reading } = tries.find((one) => one.reading !== null && one.reading.claims.length > 0) ?? tries[0];
    if (reading === null) return this.#failed(query, record, node);
    const claims = this.#keep(query, at.step, record.call_id, reading.claims);
    events.emit('rlm.state.committed', node, { claims: claims.map(({ handle }) => handle) });
    events.end(node, 'summary_complete');
    return { ok: true, text: reading.answer, claims };
  }

  #tell({ question, over }: SubQuery, { record, reading }: PieceTry, node: AskNode): void {
    const { events, onRecord } = this.#scope;
    const { call_id, prompt_hash } = record;
    onRecord(record);
    events.emit('rlm.context.bound', node, { question, over, prompt_hash });
    events.started(node, record);
    events.completed(node, record);
    const { claims = [], refused = [] } = reading ?? {};
    events.emit('rlm.hermes.response.validated', node, { call_id, valid: reading !== null, claims, refused });
  }

  #failed({ over }: SubQuery, { call_id, adapter_error }: CallRecord, node: AskNode): SubReply {
    const { type = 'runtime_error', detail = '' } = adapter_error ?? {};
    const why = `${type}: ${detail}`;
    this.gaps.push({ what: `sub-call ${call_id}${over === null ? '' : ` on ${over}`}`, why });
    this.#scope.events.end(node, type === 'cancelled' ? 'cancelled' : 'failed', type);
    return noReply(why);
  }

  #commitNested(query: SubQuery, at: StepPlace, { nested, held }: Extract<Done, { held: HeldTrace }>): SubReply {
    const { trace, events, onRecord } = this.#scope;
    for (const event of held.events) trace.emit(event);
    for (const record of held.records) onRecord(record);
    const { text, quoted, detail } = nested();
    const call_id = this.#id(query, at);
    const node = events.known(call_id);
    const claims = this.#keep(query, at.step, call_id, quoted);
    if (detail !== null) this.gaps.push({ what: `sub-ask ${call_id}`, why: detail });
    events.emit('rlm.state.committed', node, { claims: claims.map(({ handle }) => handle), text });
    events.end(node, quoted.length > 0 ? 'summary_complete' : 'failed', detail);
    return { ok: text !== '', text: text === '' ? (detail ?? 'no answer') : text, claims };
  }

  /** Only what was asked on a handle becomes one. */
  #keep({ over, order }: SubQuery, step: number, call_id: string, claims: readonly string[]): SubReply['claims'] {
    if (over === null) return [];
    return claims.map((text, at) => {
      const id = `q${step}.${order}.${at + 1}`;
      this.children.push({ kind: 'child', id, call_id, text, over });
      return { text, handle: id };
    });
  }

  #id(query: SubQuery, { step }: Pick<StepPlace, 'step'>): string {
    return callId(this.#scope.place, this.#isNested(query) ? 'rlm' : 'sub', [step, query.order]);
  }
}

const ROUND_A_PIECE = 200;

/** Characters of a piece and its question, as JSON, a sub-call. */
export function pieceChars(window_tokens: number): number {
  return promptChars(window_tokens) - SUB_RULES.length - ROUND_A_PIECE;
}

function noReply(text: string): SubReply {
  return { ok: false, text, claims: [] };
}
