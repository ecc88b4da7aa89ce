// Owns one world inside the engine with the prelude in it, and the only door between it and us: texts. Knows no operation by name.
// Invariant: nothing inside is ever looked at but texts, numbers and the states of promises; an operation that fails is an error inside,
// and what is no fault of the code ends the block.
import { type JsonValue, parseJson } from '#base/json.ts';
import type { PartedSource } from '../source/parted-source.ts';
import { ApiFault } from './api-fault.ts';
import type { Operation } from './context-ops.ts';
import {
  ASYNC_SCRIPT,
  type Engine,
  type QuickJSContext,
  type QuickJSHandle,
  type Realm,
  SandboxMemoryError,
} from './engine.ts';
import { SPAN_BYTES } from './handle-shelf.ts';
import { PRELUDE } from './prelude.ts';

export interface RealmParts {
  readonly stop: () => boolean;
  readonly ops: Readonly<Record<string, Operation>>;
  readonly source: PartedSource;
  /** With everything of the API; else with the context at most, as an input. */
  readonly full: boolean;
  readonly context: boolean;
  /** Characters that one `print` may tell, some more than are shown. */
  readonly print: number;
}

export interface Thrown {
  readonly name: string;
  readonly message: string;
  readonly line: number | null;
}

export type ScriptState = { readonly state: 'pending' | 'done' } | { readonly state: 'threw'; readonly thrown: Thrown };

export class SandboxRealm {
  readonly #realm: Realm;
  readonly #api: QuickJSHandle;
  readonly #ops: Readonly<Record<string, Operation>>;
  #script: QuickJSHandle | undefined;
  #fault: unknown;

  constructor(engine: Engine, { stop, ops, source, full, context, print }: RealmParts) {
    this.#ops = ops;
    this.#realm = engine.realm(stop);
    const files = source.files.map(({ path, start_byte: start, end_byte: end }) => ({ path, start, end }));
    const seen = { length: source.byte_count, lineCount: source.line_count, files: context ? files : [] };
    const config = JSON.stringify({ full, context, print, span: SPAN_BYTES, ...seen });
    const { context: inside } = this.#realm;
    const host = inside.newFunction('host', (op, args) => this.#answer(op, args));
    const setUp = inside.unwrapResult(inside.evalCode(PRELUDE, 'prelude.js'));
    const text = inside.newString(config);
    this.#api = inside.unwrapResult(inside.callFunction(setUp, inside.undefined, host, text));
    for (const handle of [host, setUp, text]) handle.dispose();
  }

  /** Begins a script; its state is asked with `settle`. */
  begin(code: string): ScriptState {
    this.#script?.dispose();
    this.#script = undefined;
    const result = this.#inside.evalCode(code, 'block.js', ASYNC_SCRIPT);
    if (result.error) return { state: 'threw', thrown: this.#describe(result.error) };
    this.#script = result.value;
    return this.settle();
  }

  /** Runs what is waiting to run. */
  settle(): ScriptState {
    const jobs = this.#realm.runtime.executePendingJobs();
    if (jobs.error) return { state: 'threw', thrown: this.#describe(jobs.error) };
    jobs.dispose();
    return this.#script === undefined ? { state: 'done' } : this.#stateOf(this.#script, true);
  }

  deliver(order: number, reply: string): void {
    const { context } = this.#realm;
    const [deliver, at, text] = [
      context.getProp(this.#api, 'deliver'),
      context.newNumber(order),
      context.newString(reply),
    ];
    const result = context.callFunction(deliver, context.undefined, at, text);
    for (const handle of [deliver, at, text]) handle.dispose();
    result.dispose();
  }

  variables(): readonly string[] {
    const listed = parseJson(this.#call('variables'));
    if (!listed.ok || !Array.isArray(listed.value)) return [];
    return listed.value.filter((name): name is string => typeof name === 'string' && /^[\w$]{1,60}$/.test(name)).sort();
  }

  /** Gives JSON. Throws ApiFault when the code throws or waits for ever. */
  compute(code: string, inputs: string): string {
    const { context } = this.#realm;
    const made = context.evalCode(`(${code}\n)`, 'compute.js');
    if (made.error) throw computeFault(this.#describe(made.error));
    const [run, given] = [context.getProp(this.#api, 'run'), context.newString(inputs)];
    const result = context.callFunction(run, context.undefined, made.value, given);
    for (const handle of [run, given, made.value]) handle.dispose();
    if (result.error) throw computeFault(this.#describe(result.error));
    const promise = result.value;
    try {
      this.#realm.runtime.executePendingJobs().dispose();
      const state = this.#stateOf(promise, false);
      if (state.state === 'threw') throw computeFault(state.thrown);
      if (state.state === 'pending') throw new ApiFault('Error', 'compute: the code waits for what never comes');
      return this.#resultText(promise);
    } finally {
      promise.dispose();
    }
  }

  /** What is no fault of the code: broken I/O under an operation. */
  get fault(): unknown {
    return this.#fault;
  }

  dispose(): void {
    this.#script?.dispose();
    this.#api.dispose();
    this.#realm.dispose();
  }

  get #inside(): QuickJSContext {
    return this.#realm.context;
  }

  #answer(op: QuickJSHandle, args: QuickJSHandle): QuickJSHandle {
    const { context } = this.#realm;
    const name = context.typeof(op) === 'string' ? context.getString(op) : '';
    const given = parseJson(context.typeof(args) === 'string' ? context.getString(args) : '');
    return context.newString(JSON.stringify(this.#operate(name, given.ok ? given.value : null)));
  }

  #operate(name: string, given: JsonValue): { readonly v: unknown } | { readonly e: readonly [string, string] } {
    const operation = Object.hasOwn(this.#ops, name) ? this.#ops[name] : undefined;
    if (operation === undefined || !Array.isArray(given))
      return { e: ['TypeError', 'there is no such operation here'] };
    try {
      return { v: operation(given) ?? null };
    } catch (error) {
      if (error instanceof ApiFault) return { e: [error.name, error.message] };
      if (!(error instanceof SandboxMemoryError)) this.#fault ??= error;
      return { e: ['Error', 'the host failed'] };
    }
  }

  /** @param deep the value of a script may itself be a promise, of `main()` as its last line */
  #stateOf(promise: QuickJSHandle, deep: boolean): ScriptState {
    const { context } = this.#realm;
    const state = context.getPromiseState(promise);
    if (state.type === 'pending') return { state: 'pending' };
    if (state.type === 'rejected') return { state: 'threw', thrown: this.#describe(state.error) };
    if (state.notAPromise === true) return { state: 'done' };
    const value = state.value;
    try {
      if (!deep) return { state: 'done' };
      return context.getProp(value, 'value').consume((last) => this.#stateOf(last, false));
    } finally {
      value.dispose();
    }
  }

  #resultText(promise: QuickJSHandle): string {
    const { context } = this.#realm;
    const state = context.getPromiseState(promise);
    if (state.type !== 'fulfilled') return '';
    return state.value.consume((value) => (context.typeof(value) === 'string' ? context.getString(value) : ''));
  }

  #describe(error: QuickJSHandle): Thrown {
    const told = parseJson(this.#call('describe', error));
    error.dispose();
    const [name, message, line] = told.ok && Array.isArray(told.value) ? told.value : [];
    return {
      name: typeof name === 'string' ? name : 'Error',
      message: typeof message === 'string' ? message : 'something that cannot be shown was thrown',
      line: typeof line === 'number' ? line : null,
    };
  }

  #call(name: 'describe' | 'variables', argument?: QuickJSHandle): string {
    const { context } = this.#realm;
    const method = context.getProp(this.#api, name);
    const result = context.callFunction(method, context.undefined, ...(argument === undefined ? [] : [argument]));
    method.dispose();
    if (result.error) {
      result.error.dispose();
      return '';
    }
    return result.value.consume((value) => (context.typeof(value) === 'string' ? context.getString(value) : ''));
  }
}

function computeFault({ name, message }: Thrown): ApiFault {
  return new ApiFault('Error', `compute: ${name}: ${message} (the code sees its inputs and nothing else)`);
}
