// Owns whether a computed handle still holds: its code is run again over its inputs, in a sandbox of its own, and must give the same bytes.
import { sha256 } from '#base/ids.ts';
import type { ComputedHandle, Handle } from '../ask/ask-outcome.ts';
import type { ContextSource } from './context-source.ts';
import { DEFAULT_REPL_LIMITS } from './create-repl-session.ts';
import type { ReplLimits } from './repl-session.ts';
import { faultOf, SandboxThread } from './sandbox-thread.ts';
import { storedHandle } from './stored-handle.ts';

export interface ComputedGround {
  /** What `context` among the inputs stands for. */
  readonly source: ContextSource;
  readonly limits?: ReplLimits;
  readonly signal?: AbortSignal;
}

export interface ComputedCheck {
  readonly equal: boolean;
  /** Why not, one sentence; null: it is equal. */
  readonly detail: string | null;
}

/**
 * @param resolveInput gives the handle of an id that the computed one names. Throws TalariaError `context-changed` | `context-unreadable` |
 * `sandbox-failed`, or the signal's reason.
 */
export async function checkComputed(
  handle: ComputedHandle,
  resolveInput: (id: string) => Handle | undefined,
  { source, limits = DEFAULT_REPL_LIMITS, signal }: ComputedGround,
): Promise<ComputedCheck> {
  const hashes = [
    [handle.code_hash, handle.code],
    [handle.output_hash, handle.output],
  ] as const;
  if (hashes.some(([hash, text]) => hash !== `sha256:${sha256(text)}`))
    return { equal: false, detail: 'its hashes are not those of its code and output' };
  const ids = handle.inputs.filter((id) => id !== 'context');
  const inputs = ids.map(resolveInput).filter((input) => input !== undefined);
  const handles = inputs.map(storedHandle);
  if (handles.length !== ids.length) return { equal: false, detail: 'an input that it names is not there' };
  const start = { source: source.description, limits, handles, next_handle: 1, asked: 0 };
  const thread = await SandboxThread.open(start, signal);
  let isWell = false;
  try {
    const check = await run(thread, handle, signal);
    isWell = check.equal;
    return check;
  } finally {
    await (isWell ? thread.rest() : thread.end());
  }
}

function run(thread: SandboxThread, handle: ComputedHandle, signal?: AbortSignal): Promise<ComputedCheck> {
  return new Promise((resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    thread.listen({
      message: (message) => {
        if (message.type === 'fault') reject(faultOf(message));
        else if (message.type === 'checked') resolve(judge(handle, message.output, message.detail));
      },
      ended: (why) => resolve({ equal: false, detail: `the sandbox ended: ${why}` }),
    });
    thread.send({ type: 'check', handle });
  });
}

function judge(handle: ComputedHandle, output: string | null, detail: string | null): ComputedCheck {
  if (output === null) return { equal: false, detail: detail ?? 'it gave nothing' };
  const equal = output === handle.output;
  return { equal, detail: equal ? null : 'it gives something else now' };
}
