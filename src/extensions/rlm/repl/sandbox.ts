// Owns the sandbox in its own thread: one block after the other, its operations, its sub-calls and how it ends. Knows no session.
// Invariant: every block ends with exactly one `done` or `fault`; sub-calls are numbered in the order of asking, and a block ends only when
// each is answered.
import { errorCode, errorText } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { isJsonObject, type JsonValue, parseJson } from '#base/json.ts';
import type { ComputedHandle } from '../outcome.ts';
import { BlockState, keepVariables } from './block.ts';
import { ApiFault, contextOps, number, type Operation, string, TakenTexts } from './context-ops.ts';
import { openDescribed } from './file-bytes.ts';
import { HandleShelf } from './handle-shelf.ts';
import type { PartedSource } from './parted-source.ts';
import {
  answerParts,
  type BlockOutcome,
  deadOutcome,
  type FromSandbox,
  type SandboxStart,
  type StoredHandle,
  type SubReply,
  type ToldQuery,
} from './repl-session.ts';
import {
  type ComputedInput,
  Engine,
  isEngineFault,
  runComputed,
  SandboxMemoryError,
  SandboxRealm,
  type ScriptState,
  type Thrown,
} from './sandbox-realm.ts';

const MOST_QUESTION = 100_000;
const MOST_PIECE = { llm: 1_000_000, rlm: 4_000_000 };
/** Characters of texts that wait for their turn outside, where the limit of the engine's memory does not hold; ranges wait as ranges. */
const MOST_WAITING = 32_000_000;

export class Sandbox {
  readonly #post: (message: FromSandbox) => void;
  readonly #start: SandboxStart;
  readonly #engine: Engine;
  readonly #source: PartedSource;
  readonly #taken = new TakenTexts();
  readonly #shelf: HandleShelf;
  readonly #realm: SandboxRealm;
  #block: BlockState;
  #began = 0;
  #isOver = false;
  #asked: number;
  #open = 0;
  /** Order → characters of a text that was asked about and not answered. */
  readonly #waiting = new Map<number, number>();
  #thrown: Thrown | undefined;

  private constructor(engine: Engine, start: SandboxStart, post: (message: FromSandbox) => void) {
    this.#post = post;
    this.#start = start;
    this.#engine = engine;
    this.#asked = start.asked;
    this.#source = openDescribed(start.source);
    this.#source.slice(0, 1);
    this.#shelf = new HandleShelf(this.#source, { handles: start.handles, next: start.next_handle });
    this.#block = new BlockState(start.limits.output_chars);
    this.#realm = this.#world();
  }

  /** Throws TalariaError `context-changed` | `context-unreadable`. */
  static async open(start: SandboxStart, post: (message: FromSandbox) => void): Promise<Sandbox> {
    return new Sandbox(await Engine.start(start.limits.memory_bytes), start, post);
  }

  run(code: string): void {
    this.#block = new BlockState(this.#start.limits.output_chars);
    this.#began = cpuMs();
    this.#thrown = undefined;
    this.#guard(() => this.#realm.begin(keepVariables(code)));
  }

  reply(order: number, reply: SubReply): void {
    this.#open -= 1;
    this.#waiting.delete(order);
    const claims = reply.claims.map(({ handle: id, text }) => ({ id, kind: 'child' as const, text }));
    for (const { id, text } of claims) this.#shelf.child({ kind: 'child', id, text, call_id: '', over: '' });
    this.#guard(() => {
      this.#realm.deliver(order, JSON.stringify({ ok: reply.ok, text: reply.text, claims }));
      return this.#realm.settle();
    });
  }

  check(handle: ComputedHandle): void {
    this.#began = cpuMs();
    try {
      this.#post({ type: 'checked', output: this.#runCode(handle.code, handle.inputs), detail: null });
    } catch (error) {
      if (this.#isOver) this.#post({ type: 'checked', output: null, detail: 'it computed for too long' });
      else if (error instanceof ApiFault) this.#post({ type: 'checked', output: null, detail: error.message });
      else this.#fault(error);
    }
  }

  /** Its engine's memory goes with it; nothing of it is used again. */
  close(): void {
    this.#source.close();
  }

  #guard(step: () => ScriptState): void {
    try {
      this.#advance(step());
    } catch (error) {
      if (error instanceof SandboxMemoryError) this.#finish(deadOutcome('out_of_memory'));
      else if (this.#isOver) this.#finish(deadOutcome('out_of_time'));
      else if (this.#realm.fault !== undefined) this.#fault(this.#realm.fault);
      else if (isEngineFault(error)) this.#finish(deadOutcome('sandbox_died'));
      else this.#fault(error);
    }
  }

  #advance(state: ScriptState): void {
    if (state.state === 'threw') this.#thrown ??= state.thrown;
    if (this.#realm.fault !== undefined) this.#fault(this.#realm.fault);
    else if (this.#isOver) this.#finish(deadOutcome('out_of_time'));
    else if (this.#thrown !== undefined && isMemoryFault(this.#thrown)) this.#finish(deadOutcome('out_of_memory'));
    else if (this.#open > 0) this.#post({ type: 'waiting' });
    else this.#finish(this.#outcome(state.state === 'pending'));
  }

  #outcome(isStuck: boolean): BlockOutcome {
    const stuck = { name: 'Error', message: 'the block waits for a promise that nothing settles', line: null };
    const thrown = this.#thrown ?? (isStuck ? stuck : undefined);
    const { output, cut, answer } = this.#block;
    this.#taken.show(output);
    const variables = this.#realm.variables();
    return { output, cut, failure: thrown === undefined ? null : failureOf(thrown), answer, variables };
  }

  #finish(outcome: BlockOutcome): void {
    this.#post({ type: 'done', outcome, handles: this.#shelf.drain(), shown: this.#taken.drain() });
  }

  #fault(error: unknown): void {
    this.#post({ type: 'fault', code: errorCode(error) ?? 'sandbox-failed', message: errorText(error) });
  }

  #world(): SandboxRealm {
    const parts = { stop: () => this.#stop(), source: this.#source, full: true, context: true };
    const ops = { ...contextOps(this.#source, this.#taken), ...this.#sessionOps() };
    return new SandboxRealm(this.#engine, { ...parts, ops, print: this.#start.limits.output_chars + 2 });
  }

  #stop(): boolean {
    if (!this.#isOver && this.#began > 0) this.#isOver = cpuMs() - this.#began > this.#start.limits.block_ms;
    return this.#isOver;
  }

  #sessionOps(): Readonly<Record<string, Operation>> {
    return {
      span: ([start, end]) => this.#told(this.#shelf.span(number(start), number(end))),
      text: ([id]) => this.#text(string(id)),
      handle: ([id]) => this.#told(this.#known(string(id))),
      print: ([text, length]) => this.#block.print(string(text), number(length)),
      query: ([kind, list]) => this.#query(string(kind) === 'rlm' ? 'rlm' : 'llm', listOf(list)),
      compute: ([code, inputs]) => this.#compute(string(code), listOf(inputs).map(string)),
      finish: (parts) => this.#answer(parts),
    };
  }

  #query(kind: 'llm' | 'rlm', list: readonly JsonValue[]): readonly number[] {
    const most = this.#start.limits.sub_calls;
    const room = most - this.#asked;
    if (list.length > 0 && room <= 0)
      throw new ApiFault('SubCallLimit', `this run may make ${most} sub-calls, and has made ${this.#asked}`);
    if (list.length > room) {
      const said = `${room} of ${list.length} sub-calls were left and are made; the others have ok: false`;
      this.#block.print(said, said.length);
    }
    const queries = list.slice(0, room).map((one, at) => this.#subQuery(kind, listOf(one), this.#asked + 1 + at));
    this.#refuseFlood(queries);
    for (const query of queries) this.#showQuery(query);
    this.#asked += queries.length;
    this.#open += queries.length;
    if (queries.length > 0) this.#post({ type: 'queries', queries, shown: this.#taken.drain() });
    return queries.map(({ order }) => order);
  }

  #subQuery(kind: 'llm' | 'rlm', [question, text, over, model]: readonly JsonValue[], order: number): ToldQuery {
    const asked = string(question);
    if (asked.length > MOST_QUESTION)
      throw new ApiFault('RangeError', `a question has at most ${MOST_QUESTION} characters`);
    const handle = over === null ? undefined : this.#known(string(over));
    const told = {
      question: asked,
      over: handle?.id ?? null,
      kind,
      order,
      model: typeof model === 'string' ? model : null,
    };
    if (handle?.kind === 'span' && handle.quote === null)
      return { ...told, piece: null, range: [handle.start, handle.end] };
    const piece = handle === undefined ? (text === null ? null : string(text)) : this.#shelf.textOf(handle);
    if (piece !== null && piece.length > MOST_PIECE[kind])
      throw new ApiFault('RangeError', `a piece has at most ${MOST_PIECE[kind]} characters: take smaller chunks`);
    return { ...told, piece, range: null };
  }

  #refuseFlood(queries: readonly ToldQuery[]): void {
    const asked = queries.map(({ order, piece, question }) => [order, question.length + (piece?.length ?? 0)] as const);
    const waiting = [...this.#waiting.values(), ...asked.map(([, length]) => length)];
    if (waiting.reduce((sum, length) => sum + length, 0) > MOST_WAITING)
      throw new ApiFault(
        'RangeError',
        `texts of at most ${MOST_WAITING} characters may wait for an answer: await those before, or pass chunks`,
      );
    for (const [order, length] of asked) this.#waiting.set(order, length);
  }

  #showQuery({ question, piece, over }: ToldQuery): void {
    const handle = over === null ? undefined : this.#shelf.get(over);
    if (handle?.kind === 'span') this.#taken.showRange(handle.start, handle.end);
    else if (handle === undefined && piece !== null) this.#taken.show(piece);
    this.#taken.show(question);
  }

  #compute(code: string, inputs: readonly string[]): object {
    const output = this.#runCode(code, inputs);
    const hashes = { code_hash: `sha256:${sha256(code)}`, output_hash: `sha256:${sha256(output)}` };
    return this.#told(this.#shelf.computed({ code, inputs, output, ...hashes }));
  }

  #runCode(code: string, inputs: readonly string[]): string {
    const given = inputs.map((id) => this.#input(id));
    return runComputed(
      { code, inputs: given },
      { engine: this.#engine, source: this.#source, stop: () => this.#stop() },
    );
  }

  #answer(parts: readonly JsonValue[]): void {
    const given = parts.map((part) => {
      const [text, handles] = listOf(part);
      return { text: string(text), handles: listOf(handles).map(string) };
    });
    this.#block.answer = answerParts(given, (id) => this.#shelf.get(id) !== undefined);
  }

  #input(id: string): ComputedInput {
    if (id === 'context') return { c: true };
    const handle = this.#known(id);
    const text = this.#shelf.textOf(handle);
    const parsed = handle.kind === 'computed' ? parseJson(text) : undefined;
    return { v: parsed?.ok === true ? parsed.value : text };
  }

  #known(id: string): StoredHandle {
    const handle = this.#shelf.get(id);
    if (handle === undefined) throw new ApiFault('RangeError', `there is no handle ${id.slice(0, 64)}`);
    return handle;
  }

  /** As the code inside sees it; the text of a long span is read when it is asked for. */
  #told(handle: StoredHandle): object {
    const { id, kind } = handle;
    if (handle.kind !== 'span') return { id, kind, text: this.#shelf.textOf(handle) };
    const { start, end } = handle;
    return handle.quote === null ? { id, kind, start, end } : { id, kind, start, end, text: this.#text(id) };
  }

  #text(id: string): string {
    const handle = this.#known(id);
    const text = this.#shelf.textOf(handle);
    if (handle.kind === 'span') this.#taken.take(text, handle.start, handle.end);
    return text;
  }
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(value)) return value;
  throw new ApiFault('TypeError', isJsonObject(value) ? 'a list is needed, not an object' : 'a list is needed');
}

function failureOf({ name, message, line }: Thrown): NonNullable<BlockOutcome['failure']> {
  if (name === 'SubCallLimit') return { reason: 'sub_call_limit', detail: message };
  return { reason: 'threw', detail: `${name}: ${message}${line === null ? '' : ` (line ${line})`}` };
}

function isMemoryFault({ name, message }: Thrown): boolean {
  return name === 'InternalError' && message.startsWith('out of memory');
}

/** Of this thread: a machine that is busy with others takes no time from a block. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
