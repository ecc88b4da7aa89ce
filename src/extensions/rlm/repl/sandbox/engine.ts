// Owns the JavaScript engine of the sandbox: QuickJS in WebAssembly over a memory of its own that cannot grow beyond its limit (a limit set
// inside the engine does not hold). Knows no API. Invariant: an allocation for a text of ours that fails is told, never written anywhere.
import variant from '@jitl/quickjs-singlefile-mjs-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core';

export type { QuickJSContext, QuickJSHandle };

/** Of the platform; its types leave it out. */
declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => object;
};

const PAGE = 65_536;
/** What the engine asks for at its start. */
const FIRST_PAGES = 256;
const STACK_BYTES = 256 * 1024;
/** Flag of `evalCode`: a script that may await at its top (JS_EVAL_FLAG_ASYNC). */
export const ASYNC_SCRIPT = 128;

export class SandboxMemoryError extends Error {
  override readonly name = 'SandboxMemoryError';
}

export interface Realm {
  readonly runtime: QuickJSRuntime;
  readonly context: QuickJSContext;
  dispose(): void;
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

  /** A world of its own: nothing is shared with another but the memory's limit. `stop` is asked again and again while code runs. */
  realm(stop: () => boolean): Realm {
    const runtime = this.#module.newRuntime({ interruptHandler: stop, maxStackSizeBytes: STACK_BYTES });
    const context = runtime.newContext();
    return {
      runtime,
      context,
      dispose: () => {
        context.dispose();
        runtime.dispose();
      },
    };
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
