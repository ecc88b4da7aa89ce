// Owns making a stored ask ready to be executed again, for replay and resume: its request, its context opened by stamp, a fresh sandbox.
// Invariant: nothing but row, context and trace decides what comes of it.
import type { Calls } from '../../call/calls.ts';
import { createReplSession } from '../../repl/create-repl-session.ts';
import { textSource } from '../../repl/source/text-source.ts';
import type { RunRow } from '../../trace/run-row.ts';
import type { RunTrace } from '../../trace/trace-store.ts';
import type { AskParts } from '../ask-parts.ts';
import { readAskRequest } from '../read-ask-request.ts';
import { reopenContext } from './open-context.ts';

export interface StoredAsk {
  readonly row: RunRow;
  readonly trace: RunTrace;
  readonly calls: Calls;
}

/**
 * The caller closes `source`. Throws TalariaError `context-changed`, and what readAskRequest throws.
 */
export async function askPartsOfRun({ row, trace, calls }: StoredAsk, signal: AbortSignal): Promise<AskParts> {
  const request = readAskRequest(row.run_id, row.request);
  const text = request.text_hash === undefined ? undefined : trace.textOf(request.text_hash);
  const source = text === undefined ? await reopenContext(row, signal) : textSource(text);
  return { request, source, openRepl: createReplSession, trace, calls, signal };
}
