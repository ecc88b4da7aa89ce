// Owns what every step of the engine works with. Knows no step.
import { raceAbort, throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import type { PeerTransport } from '../../peers/peer-transport.ts';
import type { Infer, InferReply, InferRequest } from '../infer.ts';
import type { EngineMemory } from './engine-memory.ts';

export interface EngineParts {
  readonly infer: Infer;
  readonly clock: Clock;
  /** One sentence for the owner. */
  readonly warn: (problem: string) => void;
}

export interface EngineRun extends EngineParts {
  readonly transport: PeerTransport;
  readonly memory: EngineMemory;
}

/** Ends with the signal, even when whoever answers does not. */
export async function inferOnce(run: EngineRun, request: InferRequest, signal: AbortSignal): Promise<InferReply> {
  throwIfAborted(signal);
  return raceAbort(run.infer(request, signal), signal);
}
