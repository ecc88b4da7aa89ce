/** One engine on one transport, with what it warned of. */
import type { Infer } from '#extensions/hive/sparks/infer.ts';
import { createSparkEngine } from '#extensions/hive/sparks/spark-engine.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createMemoryTransport, type StagedPeer } from './hive-memory-transport.ts';
import { type SpyAnswers, spyInfer } from './hive-spy-infer.ts';

export function stageEngine(peers: readonly StagedPeer[], answers: SpyAnswers = {}) {
  const clock = createManualClock();
  const warnings: string[] = [];
  const spy = spyInfer(answers);
  const transport = createMemoryTransport(peers);
  const restart = (infer: Infer = spy.infer) =>
    createSparkEngine({ infer, clock, warn: (problem) => warnings.push(problem) });
  const engine = restart();
  const run = (signal = new AbortController().signal) => engine.run(transport, signal);
  return { clock, warnings, spy, transport, engine, run, restart };
}

/** `count` peers that have been summed up. */
export function summarised(count: number, parts: (at: number) => StagedPeer['summary'] = () => ({})): StagedPeer[] {
  return Array.from({ length: count }, (_, at) => ({ name: `p${at}`, summary: { ...parts(at) } }));
}

/** `count` messages of one peer. */
export function lines(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `line ${at}`);
}
