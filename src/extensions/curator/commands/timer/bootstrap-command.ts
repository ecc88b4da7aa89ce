// Owns `curator bootstrap` (seed 002, bootstrap; curator notes 15, 16): evidence from stored sessions, then the timer. Knows neither.
// Invariant: nothing is written unattended unless the person said so, by `--write` or by an answer; what was turned on is said.
import { z } from 'zod';
import { typedPath } from '#base/paths/typed-path.ts';
import { failed, wrongUse } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import type { Bootstrapped } from '../../timer/bootstrap.ts';
import { printed } from '../printed.ts';
import { noScheduler, planFailure, schedulerFailure, timerText } from './timer-output.ts';

const on = (what: string) => z.boolean().default(false).describe(what);
const folder = (what: string) => z.string().min(1).optional().describe(what);

const input = z.object({
  days: z.coerce.number().default(30).describe('Sessions of so many days, 1 to 3650'),
  sessionsDir: folder('Folder of session_*.json; a state.db beside it is read too'),
  skillsDir: folder("Folder of the skills; only the home's own is ever written"),
  schedule: z
    .string()
    .default('daily')
    .describe('hourly, daily, weekly; an OnCalendar expression, or seconds for launchd'),
  proposalOnly: on('Runs only plan; you are not asked'),
  write: on('Runs write skills while nobody looks on; you are not asked'),
  semantic: on('Both of the next two'),
  semanticCandidates: on('Order eligible skills by the embedding model'),
  rerankCandidates: on('And the best of them by the reranker'),
  enable: z.boolean().default(true).describe('Write the timer without turning it on'),
  format: z.enum(['text', 'json']).default('text').describe('How the result is printed'),
  dryRun: on('Show the files and what would be run; write nothing'),
});

type Asked = z.infer<typeof input>;

export function bootstrapCommand(ground: CuratorGround): AnyCommand {
  return defineCommand({
    name: 'curator bootstrap',
    summary: 'One command: evidence from stored sessions, and a timer that plans, or with your yes writes',
    surfaces: ['cli'],
    input,
    examples: ['talaria curator bootstrap', 'talaria curator bootstrap --write', 'talaria curator bootstrap --dry-run'],
    run: (asked, context) => (asked.write && asked.proposalOnly ? contradiction() : run(ground, asked, context)),
  });
}

async function* contradiction(): AsyncGenerator<CommandOutput> {
  yield wrongUse('contradictory-flags', '--write and --proposal-only contradict each other.', 'Type one of them.');
}

async function* run(ground: CuratorGround, asked: Asked, context: CommandContext): AsyncGenerator<CommandOutput> {
  const { bootstrap, bootstrapText } = await import('../../timer/bootstrap.ts');
  const done = await bootstrap(await requestOf(asked, { ground, context }), ground, context.signal);
  if (done.refused) {
    yield planFailure(done.refused);
    return;
  }
  yield* printed({ result: done.result, format: asked.format, text: () => textOf(done, bootstrapText(done)) });
  if (!done.timer) yield noScheduler(done.fix ?? '');
  else if (done.timer.failed) yield schedulerFailure(done.timer.failed);
  else if (asked.sessionsDir !== undefined && done.missing) yield noSessions(done.missing);
}

function noSessions(folder: string): CommandOutput {
  return failed('sessions-missing', `there is no folder ${folder}`, 'Name the folder that holds session_*.json.');
}

function textOf(done: Bootstrapped, lines: readonly string[]): string {
  return [...lines.slice(0, -3), ...(done.timer ? [timerText(done.timer)] : []), '', ...lines.slice(-3)].join('\n');
}

interface Place {
  readonly ground: CuratorGround;
  readonly context: CommandContext;
}

async function requestOf(asked: Asked, { ground: { places }, context }: Place) {
  const at = (path: string) => typedPath(path, { cwd: context.cwd, userHome: places.userHome });
  const { days, sessionsDir, skillsDir, schedule, semantic, enable, dryRun } = asked;
  const skills = skillsDir === undefined ? places.skills : at(skillsDir);
  return {
    timer: {
      ...{ schedule, skillsDir: skills, writing: await mayWrite(asked, skills, context) },
      order: { semantic: semantic || asked.semanticCandidates, rerank: semantic || asked.rerankCandidates },
      policy: { protectCore: true, allow: [], block: [] },
      verify: {},
    },
    backfill: { days, ...(sessionsDir === undefined ? {} : { sessionsDir: at(sessionsDir) }) },
    ...{ enable, dryRun },
  };
}

/** Only a person at the terminal is asked; silence is a no. */
async function mayWrite(asked: Asked, skills: string, { ask }: CommandContext): Promise<boolean> {
  if (asked.proposalOnly) return false;
  if (asked.write) return true;
  if (!ask || asked.dryRun || asked.format === 'json') return false;
  const question = `May the curator write notes into skills that the agent made in ${skills} while nobody looks on? Each write can be undone. [y/N]`;
  return /^\s*y(?:es)?\s*$/i.test(await ask(question));
}
