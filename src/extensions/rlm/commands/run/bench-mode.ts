// Owns handing the benchmark modes of `rlm run` to the benches. Knows their names and paths, not their work.
import { typedPath } from '#base/paths/typed-path.ts';
import { failed, refused, wrongUse } from '#core/agent/command-failure.ts';
import type { CommandContext, CommandOutput } from '#core/agent/command-spec.ts';
import type { OpenedEngine } from '../../bench/engine/open-engine.ts';
import type { RlmGround } from '../../rlm-ground.ts';
import { familiesOf, type RunInput } from './run-input.ts';

const DOGFOOD_ID = 'rlm-mvp-src-dogfood-v1';

export async function* benchMode(
  ground: RlmGround,
  { asked, mode }: { readonly asked: RunInput; readonly mode: string },
  context: CommandContext,
): AsyncGenerator<CommandOutput> {
  if (asked.benchmarkId !== undefined && asked.benchmarkId !== DOGFOOD_ID) {
    yield wrongUse('benchmark-unknown', `there is no benchmark ${asked.benchmarkId}`, `There is ${DOGFOOD_ID}.`);
    return;
  }
  const { openEngine } = await import('../../bench/engine/open-engine.ts');
  const engine = await openEngine(ground, { families: familiesOf(asked) });
  if (!engine.ok) {
    yield refused(engine.reason, engine.detail, 'Name a family that is set up, or set one up under rlm.families.');
    return;
  }
  try {
    yield* shown(await dispatch({ ground, engine: engine.value, asked, mode }, context));
  } finally {
    engine.value.close();
  }
}

interface Mode {
  readonly ground: RlmGround;
  readonly engine: OpenedEngine;
  readonly asked: RunInput;
  readonly mode: string;
}

async function dispatch({ ground, engine, asked, mode }: Mode, { cwd, signal }: CommandContext) {
  const modes = await import('../../bench/run-modes.ts');
  const { home, userHome } = ground.places;
  const from = { cwd: asked.cwd === undefined ? cwd : typedPath(asked.cwd, { cwd, userHome }), userHome };
  const families = familiesOf(asked);
  const at = { engine, home };
  const path = (name: 'fixture' | 'output', typed: string | undefined) =>
    typed === undefined ? {} : { [name]: typedPath(typed, from) };
  const fixture = path('fixture', asked.truncationFixture);
  switch (mode) {
    case '--vanilla-baseline':
      return modes.baselineMode(at, { ...fixture, ...path('output', asked.baselineOutput), families }, signal);
    case '--truncation-benchmark':
      return modes.truncationMode(at, { ...fixture, ...path('output', asked.truncationOutput), families }, signal);
    case '--recursive-fixture': {
      const own = asked.recursiveFixture === 'default' ? {} : path('fixture', asked.recursiveFixture);
      return modes.recursiveFixtureMode(at, { ...own, families }, signal);
    }
    default: {
      const folder = typedPath(asked.target, from);
      return modes.dogfoodMode(at, { folder, target: asked.target, families }, signal);
    }
  }
}

function* shown(result: Awaited<ReturnType<typeof dispatch>>): Generator<CommandOutput> {
  if (!result.ok) {
    yield wrongUse(result.reason, result.detail, 'Name another fixture or target.');
    return;
  }
  for (const text of result.value.lines) yield { type: 'line', text };
  yield { type: 'data', value: result.value.artifact };
  if (!result.value.success) yield failed('bench-incomplete', 'it did not come out as it should');
}
