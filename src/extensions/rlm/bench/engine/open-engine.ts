// Owns opening what a bench needs of the house: families, the runs of the home, who would answer. Nothing is asked before it is checked.
import type { Clock } from '#base/clock.ts';
import { ok, type Result } from '#base/result.ts';
import type { InnerCall } from '../../call/inner-call.ts';
import type { RlmGround } from '../../rlm-ground.ts';
import type { BenchEngine } from './bench-engine.ts';

export interface OpenedEngine extends BenchEngine {
  /** Those that may answer; `default` and `reflex` among them. */
  readonly inner: ReadonlyMap<string, InnerCall>;
  readonly clock: Clock;
  /** What the person is told of who answers, one sentence; null: a model. */
  readonly notice: string | null;
  readonly close: () => void;
}

export interface EngineAsk {
  /** Checked to exist. */
  readonly families: readonly string[];
  readonly call_timeout_ms?: number;
  /** Nothing will be run: no file of runs is made. */
  readonly offline?: boolean;
}

export async function openEngine(
  ground: RlmGround,
  { families, call_timeout_ms, offline = false }: EngineAsk,
): Promise<Result<OpenedEngine, 'rlm-family-unknown' | 'rlm-program-missing'>> {
  const [mind, { checkFamilies, openFamilies }, { openTraceStore }, { readRlmConfig }] = await Promise.all([
    ground.open(),
    import('../../call/families.ts'),
    import('../../trace/open-trace-store.ts'),
    import('../../rlm-config.ts'),
  ]);
  const checked = checkFamilies(families, ground, mind);
  if (!checked.ok) return checked;
  const store = openTraceStore(ground.places.home, { clock: ground.clock, readOnly: offline });
  const asksDefault = families.length === 0 || families.includes('default');
  const notice =
    asksDefault && mind.answering() === 'T0'
      ? 'There is no language model: reflex answers by rule, quoting only.'
      : null;
  return ok({
    inner: openFamilies(ground, mind),
    store,
    clock: ground.clock,
    call_timeout_ms: call_timeout_ms ?? readRlmConfig(mind).call_timeout_seconds * 1000,
    notice,
    close: () => store.close(),
  });
}
