// Owns the ambient spark engine (seed 004): stale peers are summed up, changed pairs weighed, what fits is kept as a suggestion.
// Knows no model (infer.ts) and no protocol (PeerTransport). Invariant: one run at a time for a transport; what is finished is kept; only an
// abort is thrown; nothing is sent to a peer and nobody is introduced.
import { raceAbort, throwIfAborted } from '#base/abort.ts';
import { errorText } from '#base/errors.ts';
import type { PeerTransport } from '../peers/peer-transport.ts';
import { createEngineMemory, type EngineMemory } from './engine/engine-memory.ts';
import type { EngineParts, EngineRun } from './engine/engine-parts.ts';
import { awaitPairsOf } from './engine/wait-pairs.ts';
import { weighPairs } from './engine/weigh-pairs.ts';
import { writeSummaries } from './engine/write-summaries.ts';

export interface SparkEngine {
  /**
   * Call it after `refresh`. Ends when everything that this run may do is done; a run that is under way for the same transport is waited
   * for first. Rejects with the signal's reason when aborted, and never else.
   */
  run(transport: PeerTransport, signal: AbortSignal): Promise<void>;
}

export function createSparkEngine(parts: EngineParts): SparkEngine {
  const memories = new WeakMap<PeerTransport, EngineMemory>();
  return {
    run: async (transport, signal) => {
      const memory = memories.get(transport) ?? createEngineMemory();
      memories.set(transport, memory);
      throwIfAborted(signal);
      const before = memory.tail;
      const turn = before.then(() => runOnce({ ...parts, transport, memory }, signal));
      memory.tail = turn.catch(() => undefined);
      await raceAbort(before, signal);
      await turn;
    },
  };
}

async function runOnce(run: EngineRun, signal: AbortSignal): Promise<void> {
  throwIfAborted(signal);
  try {
    await writeSummaries(run, (id) => awaitPairsOf(id, run.transport, run.memory), signal);
    await weighPairs(run, signal);
  } catch (error) {
    throwIfAborted(signal);
    run.warn(`suggestions could not be worked out: ${errorText(error)}`);
  }
}
