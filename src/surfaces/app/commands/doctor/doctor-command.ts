// Owns `doctor`: every check in order, one line each, with what to do. Knows no check's insides.
// Invariant: works in a broken home (it never composes the agent), and leaves with 1 when any check failed.
import { z } from 'zod';
import { errorText } from '#base/errors.ts';
import { failed } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import { type CommandDeps, line } from '../command-deps.ts';
import { checkConfig, checkFolder, checkNode, checkOpenings, checkWalls } from './check-home.ts';
import { checkModels } from './check-models.ts';
import { checkDatabase, checkMemory, checkSetAside } from './check-stores.ts';
import { fault, type HealthLine } from './health-check.ts';

export function doctorCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'doctor',
    summary: 'Check home, database, models, machine; say what to do',
    surfaces: ['cli', 'chat'],
    readOnly: ({ repair }) => !repair,
    input: z.object({
      repair: z.boolean().default(false).describe('Build a search index that differs anew'),
      offline: z.boolean().default(false).describe('Ask no provider'),
    }),
    async *run(options, context): AsyncGenerator<CommandOutput> {
      const all: HealthLine[] = [];
      for (const check of checksOf(deps, options, context.signal)) {
        const found = await attempt(check, all);
        all.push(...found);
        yield* found.flatMap(printed);
      }
      yield { type: 'data', value: all.map((found) => ({ ...found })) };
      const faults = all.filter((found) => found.verdict === 'fail').map((found) => found.name);
      if (faults.length > 0)
        yield failed('unhealthy', `${faults.length} of ${all.length} checks failed: ${faults.join(', ')}.`);
    },
  });
}

type Check = () => Promise<readonly HealthLine[]>;

function checksOf(
  deps: CommandDeps,
  { repair, offline }: { readonly repair: boolean; readonly offline: boolean },
  signal: AbortSignal,
): readonly Check[] {
  const place = { home: deps.home, environment: deps.environment, clock: deps.clock };
  return [
    async () => [checkNode(process.version)],
    async () => checkFolder(deps.home),
    () => checkConfig(deps.home),
    () => checkDatabase(deps.home, repair),
    async () => checkSetAside(deps.home),
    async () => checkMemory(deps.home),
    ...(offline ? [] : [() => checkModels(place, signal)]),
    async () => [await checkWalls(place)],
    () => checkOpenings(place),
  ];
}

function printed(found: HealthLine): readonly CommandOutput[] {
  const head = line(`${found.verdict.padEnd(4)}  ${found.name}: ${found.text}`);
  return found.fix ? [head, line(`      ${found.fix}`)] : [head];
}

/** What a check cannot do is itself a finding, unless an earlier check told it: a broken config also stops the check of models. */
async function attempt(check: Check, before: readonly HealthLine[]): Promise<readonly HealthLine[]> {
  try {
    return await check();
  } catch (error) {
    const text = errorText(error);
    if (before.some((found) => found.text === text)) return [];
    return [fault('check', text, 'Mend the faults above first.')];
  }
}
