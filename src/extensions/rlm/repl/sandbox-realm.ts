// Owns one world inside the engine with the prelude in it, and the only door between it and us: texts. Knows no operation by name.
// Invariant: nothing inside is ever looked at but texts, numbers and the states of promises; an operation that fails is an error inside,
// and what is no fault of the code ends the block.

import variant from '@jitl/quickjs-singlefile-mjs-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core';
import { canonicalJson, type JsonValue, parseJson } from '#base/json.ts';
import { ApiFault, contextOps, type Operation } from './context-ops.ts';
import { SPAN_BYTES } from './handle-shelf.ts';
import type { PartedSource } from './parted-source.ts';
import { PRELUDE } from './prelude.rules.ts';

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
  /** What is no fault of the code: broken I/O under an operation. */
  fault: unknown;
  readonly #runtime: QuickJSRuntime;
  readonly #inside: QuickJSContext;
  readonly #api: QuickJSHandle;
  readonly #ops: Readonly<Record<string, Operation>>;
  #script: QuickJSHandle | undefined;

  constructor(engine: Engine, { stop, ops, source, full, context, print }: RealmParts) {
    this.#ops = ops;
    this.#runtime = engine.runtime(stop);
    this.#inside = this.#runtime.newContext();
    const files = source.files.map(({ path, start_byte: start, end_byte: end }) => ({ path, start, end }));
    const seen = { length: source.byte_count, lineCount: source.line_count, files: context ? files : [] };
    const config = JSON.stringify({ full, context, print, span: SPAN_BYTES, ...seen });
    const inside = this.#inside;
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
    const jobs = this.#runtime.executePendingJobs();
    if (jobs.error) return { state: 'threw', thrown: this.#describe(jobs.error) };
    jobs.dispose();
    return this.#script === undefined ? { state: 'done' } : this.#stateOf(this.#script, true);
  }

  deliver(order: number, reply: string): void {
    const context = this.#inside;
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
    const context = this.#inside;
    const made = context.evalCode(`(${code}\n)`, 'compute.js');
    if (made.error) throw computeFault(this.#describe(made.error));
    const [run, given] = [context.getProp(this.#api, 'run'), context.newString(inputs)];
    const result = context.callFunction(run, context.undefined, made.value, given);
    for (const handle of [run, given, made.value]) handle.dispose();
    if (result.error) throw computeFault(this.#describe(result.error));
    const promise = result.value;
    try {
      this.#runtime.executePendingJobs().dispose();
      const state = this.#stateOf(promise, false);
      if (state.state === 'threw') throw computeFault(state.thrown);
      if (state.state === 'pending') throw new ApiFault('Error', 'compute: the code waits for what never comes');
      return this.#resultText(promise);
    } finally {
      promise.dispose();
    }
  }

  dispose(): void {
    this.#script?.dispose();
    this.#api.dispose();
    this.#inside.dispose();
    this.#runtime.dispose();
  }

  #answer(op: QuickJSHandle, args: QuickJSHandle): QuickJSHandle {
    const context = this.#inside;
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
      if (!(error instanceof SandboxMemoryError)) this.fault ??= error;
      return { e: ['Error', 'the host failed'] };
    }
  }

  /** @param deep the value of a script may itself be a promise, of `main()` as its last line */
  #stateOf(promise: QuickJSHandle, deep: boolean): ScriptState {
    const context = this.#inside;
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
    const context = this.#inside;
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
    const context = this.#inside;
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

/** Of the platform; its types leave it out. */
declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => object;
};

const PAGE = 65_536;
/** What the engine asks for at its start. */
const FIRST_PAGES = 256;
const STACK_BYTES = 256 * 1024;
/** Flag of `evalCode`: a script that may await at its top (JS_EVAL_FLAG_ASYNC). */
const ASYNC_SCRIPT = 128;

export class SandboxMemoryError extends Error {
  override readonly name = 'SandboxMemoryError';
}

export class Engine {
  readonly #module: QuickJSWASMModule;

  private constructor(module: QuickJSWASMModule) {
    this.#module = module;
  }

  static async start(memoryBytes: number): Promise<Engine> {
    const maximum = Math.max(FIRST_PAGES, Math.floor(memoryBytes / PAGE));
    const memory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum });
    return new Engine(await newQuickJSWASMModuleFromVariant(limited(memory)));
  }

  /** For a world of its own: nothing is shared with another but the memory's limit. `stop` is asked again and again while code runs. */
  runtime(stop: () => boolean): QuickJSRuntime {
    return this.#module.newRuntime({ interruptHandler: stop, maxStackSizeBytes: STACK_BYTES });
  }
}

type ModuleLoader = Awaited<ReturnType<QuickJSSyncVariant['importModuleLoader']>>;

function limited(wasmMemory: object): QuickJSSyncVariant {
  const importModuleLoader = async (): Promise<ModuleLoader> => {
    const loaded = await variant.importModuleLoader();
    if (typeof loaded !== 'function') throw new TypeError('the engine is not the one that was built for');
    const quiet = () => undefined;
    return async () => {
      const module = await loaded({ wasmMemory, ...{ print: quiet, printErr: quiet } });
      const allocate = module._malloc.bind(module);
      module._malloc = (bytes: number) => {
        const at = allocate(bytes);
        if (at === 0) throw new SandboxMemoryError('the sandbox is out of memory');
        return at;
      };
      return module;
    };
  };
  return { type: 'sync', importFFI: variant.importFFI, importModuleLoader };
}

/** WebAssembly trapped, its stack or ours is at its end, or a handle of the engine was lost on the way there. */
export function isEngineFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'RuntimeError' || error instanceof RangeError || error.name.startsWith('QuickJS');
}

const MOST_CODE = 50_000;
const MOST_OUTPUT = 200_000;

/** A value, or the whole context. */
export type ComputedInput = { readonly v: unknown } | { readonly c: true };

export interface ComputedRun {
  readonly code: string;
  readonly inputs: readonly ComputedInput[];
}

export interface ComputedGround {
  readonly engine: Engine;
  readonly source: PartedSource;
  readonly stop: () => boolean;
}

/** Gives canonical JSON. Throws ApiFault: the code is wrong, or does not give the same twice. */
export function runComputed(run: ComputedRun, ground: ComputedGround): string {
  if (run.code.length > MOST_CODE)
    throw new ApiFault('RangeError', `compute takes at most ${MOST_CODE} characters of code`);
  const first = runOnce(run, ground);
  if (runOnce(run, ground) !== first)
    throw new ApiFault('Error', 'compute: the code does not give the same when it runs again');
  return first;
}

function runOnce({ code, inputs }: ComputedRun, { engine, source, stop }: ComputedGround): string {
  const wantsContext = inputs.some((input) => 'c' in input);
  const ops = wantsContext ? contextOps(source, undefined) : {};
  const realm = new SandboxRealm(engine, { stop, ops, source, full: false, context: wantsContext, print: 0 });
  try {
    const text = realm.compute(code, JSON.stringify(inputs));
    if (text.length > MOST_OUTPUT)
      throw new ApiFault('RangeError', `compute gives at most ${MOST_OUTPUT} characters of JSON`);
    const parsed = parseJson(text);
    if (!parsed.ok) throw new ApiFault('TypeError', 'compute: the code must give a value that JSON can hold');
    return canonicalJson(parsed.value);
  } finally {
    realm.dispose();
  }
}
