// Owns the sub-calls of one ask: what the code in the REPL asks models about pieces. They run at once, as many as the request says; their
// events, their claims and the replies that the code sees come in the order of asking. An `rlm` sub-call is an ask over the piece, whose
// events are held until it is its turn.
// Invariant: a failure is data for the code; only broken storage or a diverged trace ends the run (`fault`).
import { errorCode } from '#base/errors.ts';
import type { CallRecord } from '../../call/call-record.ts';
import type { ReplHost, SubQuery, SubReply } from '../../repl/repl-session.ts';
import type { RunGap } from '../../run/run-outcome.ts';
import type { NewRunEvent } from '../../trace/run-event.ts';
import type { ChildHandle } from '../ask-outcome.ts';
import { type AskParts, type AskPlace, type AskTrace, callId } from '../ask-parts.ts';
import { promptChars } from '../ask-request.ts';
import { AskEvents, type AskNode } from '../loop/ask-events.ts';
import { askPiece, bestTry, type PieceTries, type PieceTry } from './ask-piece.ts';
import { Slots } from './slots.ts';
import { SUB_RULES } from './sub-rules.ts';

/** Does an ask over a piece; given from outside, since an ask has sub-calls. */
export type NestedAsk = (piece: string, question: string, within: Within) => Promise<NestedAnswer>;

export interface Within {
  readonly place: AskPlace;
  readonly trace: AskTrace;
  readonly onRecord: (record: CallRecord) => void;
}

export interface NestedAnswer {
  readonly text: string;
  readonly quoted: readonly string[];
  readonly detail: string | null;
}

export interface SubCallsParts {
  readonly ask: Pick<AskParts, 'request' | 'calls' | 'signal'>;
  readonly place: AskPlace;
  readonly events: AskEvents;
  readonly trace: AskTrace;
  readonly nested: NestedAsk;
  /** Of the whole run: so many models read a piece at once. */
  readonly reading: Slots;
  /** Takes each record of a call that was made, in order. */
  readonly onRecord: (record: CallRecord) => void;
}

interface StepPlace {
  readonly step: number;
  readonly call_id: string;
  readonly node_id: string;
  readonly cause: string;
}

type Done = { readonly tries: PieceTries } | { readonly nested: () => NestedAnswer; readonly held: HeldTrace };

/** Events and records of an ask within this one, which runs beside others. Inside, every event follows from the step that asked. */
class HeldTrace implements AskTrace {
  readonly records: CallRecord[] = [];
  readonly #events: NewRunEvent[] = [];
  readonly #cause: string;

  constructor(cause: string) {
    this.#cause = cause;
  }

  emit(event: NewRunEvent): string {
    this.#events.push(event);
    return this.#cause;
  }

  tell(trace: AskTrace): void {
    for (const event of this.#events) trace.emit(event);
  }
}

export class SubCalls implements ReplHost {
  readonly children: ChildHandle[] = [];
  readonly gaps: RunGap[] = [];
  /** What no code may catch. */
  fault: { readonly error: unknown } | undefined;
  readonly #parts: SubCallsParts;
  readonly #events: AskEvents;
  readonly #nesting: Slots;
  #at: StepPlace | undefined;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(parts: SubCallsParts) {
    this.#parts = parts;
    this.#events = parts.events;
    this.#nesting = new Slots(parts.ask.request.concurrency);
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
    const tooLong = this.#unfit(query);
    const done = tooLong === undefined ? this.#begin(query, at) : undefined;
    const reply = before
      .then(async () => (done === undefined ? noReply(tooLong ?? '') : this.#finish(query, at, await done)))
      .catch((error: unknown) => {
        this.fault ??= { error };
        return noReply('the run has ended');
      });
    this.#queue = reply;
    return reply;
  }

  /** Reading the piece reads the context, which may have been changed. */
  #unfit(query: SubQuery): string | undefined {
    const { models } = this.#parts.ask.request;
    if (query.model !== null && !models.includes(query.model))
      return `there is no model ${query.model}; models: ${models.join(', ') || 'none but the default'}`;
    try {
      return this.#tooLong(query);
    } catch (error) {
      this.fault ??= { error };
      return 'the context cannot be read any more';
    }
  }

  /** A model must not be asked with half of a piece: the code is told to cut it. */
  #tooLong(query: SubQuery): string | undefined {
    if (this.#isNested(query)) return undefined;
    const most = pieceChars(this.#parts.ask.request.window_tokens);
    const size = JSON.stringify([query.piece, query.question]).length;
    return size <= most ? undefined : `the piece has ${size} characters, ${most} fit: cut it into chunks`;
  }

  #isNested(query: SubQuery): boolean {
    const { place, ask } = this.#parts;
    const hasPiece = query.over !== null || query.piece !== null;
    return query.kind === 'rlm' && hasPiece && place.level < ask.request.depth;
  }

  #begin(query: SubQuery, at: StepPlace): Promise<Done> {
    const done = this.#isNested(query)
      ? this.#nesting.run(() => this.#askNested(query, query.piece ?? '', at))
      : this.#parts.reading.run(() => this.#ask(query, at));
    // Whoever awaits it gets the failure; until then nobody may.
    done.catch(() => undefined);
    return done;
  }

  async #ask(query: SubQuery, at: StepPlace): Promise<Done> {
    const asked = { query, call_id: this.#id(query, at), parent_call_id: at.call_id, cause: at.cause };
    return { tries: await askPiece(this.#parts, asked) };
  }

  async #askNested(query: SubQuery, piece: string, at: StepPlace): Promise<Done> {
    const { place, nested } = this.#parts;
    const call_id = this.#id(query, at);
    const held = new HeldTrace(at.cause);
    const events = new AskEvents(held, place);
    const node = events.schedule(call_id, { parent: at.node_id, cause: at.cause, depth: place.depth + 1 });
    const cause = events.bind(node, { question: query.question, over: query.over, characters: piece.length });
    const within: AskPlace = {
      prefix: `${call_id}/`,
      level: place.level + 1,
      depth: place.depth + 1,
      parent_call_id: at.call_id,
      parent_node_id: node.node_id,
      cause,
    };
    const onRecord = (record: CallRecord) => held.records.push(record);
    try {
      const answer = await nested(piece, query.question, { place: within, trace: held, onRecord });
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
    const node = this.#events.schedule(this.#id(query, at), {
      parent: at.node_id,
      cause: at.cause,
      depth: done.tries[0].record.depth,
    });
    for (const one of done.tries) this.#tell(query, one, node);
    const { record, reading } = bestTry(done.tries);
    if (reading === null) return this.#failed(query, record, node);
    const claims = this.#keep(query, { step: at.step, call_id: record.call_id }, reading.claims);
    this.#events.commit(node, { claims: claims.map(({ handle }) => handle) });
    this.#events.end(node, 'summary_complete');
    return { ok: true, text: reading.answer, claims };
  }

  #tell({ question, over }: SubQuery, { record, reading }: PieceTry, node: AskNode): void {
    const { call_id, prompt_hash } = record;
    this.#parts.onRecord(record);
    this.#events.bind(node, { question, over, prompt_hash });
    this.#events.called(node, record);
    const { claims = [], refused = [] } = reading ?? {};
    this.#events.validate(node, { call_id, valid: reading !== null, claims, refused });
  }

  #failed(query: SubQuery, record: CallRecord, node: AskNode): SubReply {
    const { type = 'runtime_error', detail = '' } = record.adapter_error ?? {};
    this.gaps.push({
      what: `sub-call ${record.call_id}${query.over === null ? '' : ` on ${query.over}`}`,
      why: `${type}: ${detail}`,
    });
    this.#events.end(node, type === 'cancelled' ? 'cancelled' : 'failed', type);
    return noReply(`${type}: ${detail}`);
  }

  #commitNested(query: SubQuery, at: StepPlace, { nested, held }: Extract<Done, { held: HeldTrace }>): SubReply {
    held.tell(this.#parts.trace);
    for (const record of held.records) this.#parts.onRecord(record);
    const { text, quoted, detail } = nested();
    const call_id = this.#id(query, at);
    const node = this.#events.known(call_id);
    const claims = this.#keep(query, { step: at.step, call_id }, quoted);
    if (detail !== null) this.gaps.push({ what: `sub-ask ${call_id}`, why: detail });
    this.#events.commit(node, { claims: claims.map(({ handle }) => handle), text });
    this.#events.end(node, quoted.length > 0 ? 'summary_complete' : 'failed', detail);
    return { ok: text !== '', text: text === '' ? (detail ?? 'no answer') : text, claims };
  }

  /** Only what was asked on a handle becomes one. */
  #keep(
    { over, order }: SubQuery,
    made: { readonly step: number; readonly call_id: string },
    claims: readonly string[],
  ) {
    if (over === null) return [];
    const { step, call_id } = made;
    return claims.map((text, at) => {
      const id = `q${step}.${order}.${at + 1}`;
      this.children.push({ kind: 'child', id, call_id, text, over });
      return { text, handle: id };
    });
  }

  #id(query: SubQuery, { step }: StepPlace): string {
    return callId(this.#parts.place, this.#isNested(query) ? 'rlm' : 'sub', [step, query.order]);
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
