// Owns `rlm run` (notes 13.8): flags in, a prepared run executed, its outcome shown; the benchmark modes are handed on. Knows no chunk and
// no verdict. Invariant: nothing is asked before every check has passed; exit 0 only for what was accepted, planned, or measured.

import type { JsonValue } from '#base/json.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { type Failure, failed, refused, wrongUse } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import { secretTest } from '#core/tools/file/file-access.ts';
import type { OpenedEngine } from '../bench/engine/open-engine.ts';
import type { RlmGround } from '../rlm-ground.ts';
import type { ClearGround } from '../run/prepare/ambiguity.ts';
import type { PreparedRun, PrepareRefusal } from '../run/prepare/prepare-run.ts';
import { LEAST_RUN_WINDOW, RUN_DEFAULTS } from '../run/prepare/run-options.ts';
import type { RunOutcome } from '../run/run-outcome.ts';
import { familiesOf, modesOf, optionsOf, type RunInput, runInput } from './run/run-input.ts';

export function runCommands(ground: RlmGround): readonly AnyCommand[] {
  return [
    defineCommand({
      name: 'rlm run',
      summary: 'Take a file, a folder or a text apart, ask about each part, and put together only what is cited',
      surfaces: ['cli'],
      input: runInput,
      positional: ['target'],
      examples: [
        'talaria rlm run src --question "List the exported functions of each file."',
        'talaria rlm run notes.md --max-chunks 200 --concurrency 4 --goal "Which deadlines are named?"',
        'talaria rlm run --dry-run docs',
        'talaria rlm run --vanilla-baseline',
        'talaria rlm run --truncation-benchmark',
      ],
      run: (asked, context) => run(ground, asked, context),
    }),
  ];
}

async function* run(ground: RlmGround, asked: RunInput, context: CommandContext): AsyncGenerator<CommandOutput> {
  const [mode, other] = modesOf(asked);
  if (other !== undefined) {
    yield wrongUse('modes-exclude', `${mode} and ${other} exclude one another`, 'Leave one of them out.');
    return;
  }
  const { openNesting } = await import('../call/nesting.ts');
  const nesting = openNesting(ground.variables);
  if (!nesting.ok) {
    yield refused(nesting.reason, nesting.detail);
    return;
  }
  if (mode !== undefined) {
    const { benchMode } = await import('./run/bench-mode.ts');
    yield* benchMode(ground, { asked, mode }, context);
  } else if (asked.dryRun) yield* dryRun(ground, { asked, depth: nesting.value.depth }, context);
  else yield* realRun(ground, { asked, depth: nesting.value.depth }, context);
}

interface Asked {
  readonly asked: RunInput;
  /** Levels that are left here. */
  readonly depth: number;
}

async function* dryRun(ground: RlmGround, asked: Asked, context: CommandContext): AsyncGenerator<CommandOutput> {
  const { dryLines } = await import('./run/run-lines.ts');
  const { ask: _nobody, ...alone } = context;
  const prepared = await prepare(ground, { ...asked, rate: undefined }, alone);
  if (!prepared.ok) {
    yield refusalOf(prepared);
    return;
  }
  for (const text of dryLines(prepared.value)) yield { type: 'line', text };
  const { request, terms } = prepared.value;
  yield { type: 'data', value: { verdict: 'dry_run', request, terms } as unknown as JsonValue };
}

const DEEPEST = RUN_DEFAULTS.max_depth;

type Rate = ClearGround['rate'];

async function prepare(
  rlm: RlmGround,
  { asked, depth, rate }: Asked & { readonly rate: Rate },
  { cwd, ask, signal }: CommandContext,
) {
  const [{ prepareRun }, { defaultMemoryPath }] = await Promise.all([
    import('../run/prepare/prepare-run.ts'),
    import('../memory/memory-file.ts'),
  ]);
  const { userHome, home } = rlm.places;
  const place = asked.cwd === undefined ? cwd : typedPath(asked.cwd, { cwd, userHome });
  const from = { cwd: place, userHome, isSecret: secretTest(place, { home, userHome }) };
  const typed = optionsOf(asked, familiesOf(asked));
  const options = { ...typed, window_tokens: typed.window_tokens ?? (await windowOf(rlm, typed.families ?? [])) };
  // Inside of another recursion fewer levels are left; what is out of range stays so, and is refused.
  const wanted = options.max_depth ?? depth;
  const max_depth = { max_depth: wanted <= DEEPEST ? Math.min(wanted, depth) : wanted };
  const store = asked.memoryStore;
  const memory_path = store === undefined ? defaultMemoryPath(home) : typedPath(store, { cwd, userHome });
  const ground = { ...from, ask, rate };
  const question = asked.question ?? asked.goal ?? null;
  return prepareRun(
    { ground, target: asked.target, question, options: { ...options, ...max_depth }, memory_path },
    signal,
  );
}

async function windowOf(ground: RlmGround, families: readonly string[]): Promise<number> {
  const [mind, { defaultWindow }] = await Promise.all([ground.open(), import('../call/default-window.ts')]);
  return defaultWindow(mind, { families, least: LEAST_RUN_WINDOW });
}

async function* realRun(ground: RlmGround, asked: Asked, context: CommandContext): AsyncGenerator<CommandOutput> {
  const { openEngine } = await import('../bench/engine/open-engine.ts');
  const families = familiesOf(asked.asked);
  const opened = await openEngine(ground, { families });
  if (!opened.ok) {
    yield refused(opened.reason, opened.detail, 'Name a family that is set up, or set one up under rlm.families.');
    return;
  }
  const engine = opened.value;
  try {
    const rate = asked.asked.rate ? await raterOf(engine, families, context.signal) : undefined;
    const prepared = await prepare(ground, { ...asked, rate }, context);
    if (!prepared.ok) yield refusalOf(prepared);
    else if (!prepared.value.request.ambiguity.passed) yield ambiguous(prepared.value);
    else yield* execute({ ground, engine, prepared: prepared.value, asked: asked.asked }, context);
  } finally {
    engine.close();
  }
}

async function raterOf({ inner }: OpenedEngine, [first = 'default']: readonly string[], signal: AbortSignal) {
  const { ambiguityRater } = await import('./run/rate-ambiguity.ts');
  const family = inner.get(first);
  return family === undefined ? undefined : ambiguityRater(family, signal);
}

interface Execution {
  readonly ground: RlmGround;
  readonly engine: OpenedEngine;
  readonly prepared: PreparedRun;
  readonly asked: RunInput;
}

async function* execute(execution: Execution, { signal, cwd }: CommandContext): AsyncGenerator<CommandOutput> {
  const { engine, prepared, asked, ground } = execution;
  const [{ liveRun }, { runLines, callLines }] = await Promise.all([
    import('../run/live-run.ts'),
    import('./run/run-lines.ts'),
  ]);
  if (engine.notice !== null) yield { type: 'line', text: engine.notice };
  const outcome = await liveRun(engine, prepared, signal);
  const calls = engine.store.calls(outcome.run_id);
  for (const text of [...(asked.debug ? callLines(calls) : []), ...runLines(outcome, calls)])
    yield { type: 'line', text };
  const { rememberRun } = await import('./run/remember-run.ts');
  const remembered = await rememberRun({ ground, prepared, outcome, calls, store: asked.memoryStore, cwd });
  if (remembered !== null) yield { type: 'line', text: remembered };
  yield { type: 'data', value: outcome as unknown as JsonValue };
  const failure = failureOf(outcome);
  if (failure !== null) yield failure;
}

function failureOf({ verdict, detail, run_id }: RunOutcome): Failure | null {
  const message = detail ?? 'no claim was accepted';
  if (verdict === 'accepted') return null;
  if (verdict === 'refused') return refused('synthesis-refused', message, `See talaria rlm show ${run_id}.`);
  if (verdict === 'no_evidence')
    return refused('no-evidence', message, 'Ask for something that the material says, or read more with --max-chunks.');
  return failed(verdict === 'cancelled' ? 'run-cancelled' : 'run-failed', message, `See talaria rlm show ${run_id}.`);
}

function ambiguous({ request }: PreparedRun): Failure {
  const { ambiguity_score: score, ambiguity_threshold: threshold, model_rating, question } = request.ambiguity;
  const worst = Math.max(score, model_rating ?? 0);
  const fix = 'Say it with --question, or go on with --force "why".';
  return refused('request-ambiguous', `ambiguity ${worst} is over ${threshold}: ${question ?? ''}`, fix);
}

const USAGE: readonly PrepareRefusal[] = [
  'run-option-invalid',
  'chunk-limit-invalid',
  'question-blank',
  'target-blank',
];

function refusalOf({ reason, detail }: { readonly reason: PrepareRefusal; readonly detail: string }): Failure {
  return USAGE.includes(reason) ? wrongUse(reason, detail) : failed(reason, detail);
}
