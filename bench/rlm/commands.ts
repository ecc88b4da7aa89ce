// Owns the commands of the benches: the list, and those that run fixtures through the engine: one call and a recursive run side by side, the
// one call alone, a fixture with what it expects. Knows no score. Seed 003, "ooo rlm --truncation-benchmark".
import { z } from 'zod';
import { typedPath } from '#base/paths/typed-path.ts';
import type { Result } from '#base/result.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  defineCommand,
  failed,
  refused,
  wrongUse,
} from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { openEngine } from '#extensions/rlm/engine.ts';
import { artifactCommands } from './artifact-commands.ts';
import { tableCommands } from './bench-report.ts';
import { portabilityCommand } from './portability-command.ts';
import {
  baselineMode,
  type ModeGround,
  type ModeRefusal,
  type ModeResult,
  recursiveFixtureMode,
  truncationMode,
} from './run-modes.ts';

export function benchCommands(ground: Ground): readonly AnyCommand[] {
  return [
    ...MODES.map((mode) => modeCommand(ground, mode)),
    ...tableCommands(ground),
    portabilityCommand(ground),
    ...artifactCommands(ground),
  ];
}

const input = z.object({
  fixture: z.string().min(1).optional().describe('Truncation fixture; default: our own'),
  output: z.string().min(1).optional().describe('File for the artifact; default below rlm/ of the home'),
  family: z.string().min(1).optional().describe('Who answers; default: the models that are set up'),
  timeoutSeconds: z.coerce.number().positive().optional().describe('Of one call'),
});
type Asked = z.infer<typeof input>;

/** Paths absolute. */
interface ModeAsk {
  readonly fixture?: string;
  readonly output?: string;
  readonly families: readonly string[];
}

interface Mode {
  readonly name: string;
  readonly summary: string;
  readonly run: (ground: ModeGround, ask: ModeAsk, signal: AbortSignal) => Promise<Result<ModeResult, ModeRefusal>>;
}

const MODES: readonly Mode[] = [
  {
    name: 'truncation',
    summary: 'One call against a recursive run on the same cut text, both scored',
    run: truncationMode,
  },
  {
    name: 'vanilla',
    summary: 'The one call alone, scored and judged',
    run: baselineMode,
  },
  {
    name: 'fixture',
    summary: 'A fixture with a section recursive_run, held against what it expects',
    run: recursiveFixtureMode,
  },
];

function modeCommand(ground: Ground, mode: Mode): AnyCommand {
  return defineCommand({
    name: `rlm ${mode.name}`,
    summary: mode.summary,
    surfaces: ['cli'],
    input,
    examples: [`npm run bench -- rlm ${mode.name} --family reflex --output ./${mode.name}.json`],
    run: (asked, context) => run({ ground, mode }, asked, context),
  });
}

async function* run(
  { ground, mode }: { readonly ground: Ground; readonly mode: Mode },
  { fixture, output, family, timeoutSeconds }: Asked,
  { cwd, signal }: CommandContext,
): AsyncGenerator<CommandOutput> {
  const { home, userHome } = ground.places;
  const families = family === undefined ? [] : [family];
  const timeout = timeoutSeconds === undefined ? {} : { call_timeout_ms: timeoutSeconds * 1000 };
  const engine = await openEngine(ground, { families, ...timeout });
  if (!engine.ok) {
    yield refused(engine.reason, engine.detail, 'Name a family that is set up, or set one up under rlm.families.');
    return;
  }
  const path = (name: string) => typedPath(name, { cwd, userHome });
  const named = {
    ...(fixture === undefined ? {} : { fixture: path(fixture) }),
    ...(output === undefined ? {} : { output: path(output) }),
  };
  try {
    const ask = { ...named, families };
    const result = await mode.run({ engine: engine.value, home }, ask, signal);
    if (!result.ok) {
      yield wrongUse(result.reason, result.detail, 'Name another fixture.');
      return;
    }
    for (const text of result.value.lines) yield { type: 'line', text };
    yield { type: 'data', value: result.value.artifact };
    if (!result.value.success) yield failed('bench-incomplete', 'it did not come out as it should');
  } finally {
    engine.value.close();
  }
}
