// A session for tests: over a text, with a host that answers by rule.

import { createReplSession, DEFAULT_REPL_LIMITS } from '#extensions/rlm/repl/create-repl-session.ts';
import { textSource } from '#extensions/rlm/repl/file-bytes.ts';
import type { ContextSource } from '#extensions/rlm/repl/parted-source.ts';
import type { BlockOutcome, ReplHost, ReplLimits, ReplSession, SubReply } from '#extensions/rlm/repl/repl-session.ts';

export interface Ground {
  readonly session: ReplSession;
  readonly run: (code: string, signal?: AbortSignal) => Promise<BlockOutcome>;
  /** What a block prints. Fails when it fails. */
  readonly prints: (code: string) => Promise<string>;
}

export interface GroundParts {
  readonly host?: ReplHost;
  readonly limits?: Partial<ReplLimits>;
}

/** Answers with what it was asked; one claim, the beginning of the piece. */
export const echoHost: ReplHost = {
  query: async ({ question, piece, over, order }): Promise<SubReply> => {
    const claims = over === null ? [] : [{ text: (piece ?? '').slice(0, 10), handle: `c${order}` }];
    return { ok: true, text: `${order}: ${question} (${(piece ?? '').length})`, claims };
  },
};

export async function openGround(context: string | ContextSource, parts: GroundParts = {}): Promise<Ground> {
  const source = typeof context === 'string' ? textSource(context, 'notes.txt') : context;
  const limits = { ...DEFAULT_REPL_LIMITS, ...parts.limits };
  const { host = echoHost } = parts;
  const session = await createReplSession({ source, host, limits });
  const run = (code: string, signal = new AbortController().signal) => session.run(code, signal);
  const prints = async (code: string) => {
    const outcome = await run(code);
    if (outcome.failure !== null) throw new Error(`${outcome.failure.reason}: ${outcome.failure.detail}`);
    return outcome.output;
  };
  return { session, run, prints };
}

/** Opens once for all tests of a suite, closes behind them. */
export async function withGround<T>(
  context: string | ContextSource,
  parts: GroundParts,
  use: (ground: Ground) => Promise<T>,
): Promise<T> {
  const ground = await openGround(context, parts);
  try {
    return await use(ground);
  } finally {
    await ground.session.close();
  }
}
