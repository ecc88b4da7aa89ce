// Owns the commands of the machine's timer: `curator bootstrap`, `install-auto` and `uninstall-auto`, with the original's names and defaults, `--dry-
// run` and `--format` ours (seed 002; curator notes 15, 16).
import { z } from 'zod';
import type { PlanRefusal } from '#base/process/service.ts';
import { isYes } from '#base/text.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  type Failure,
  failed,
  refused,
  wrongUse,
} from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import type { TimerRequest } from '../timer-plan.ts';
import { curatorCommand, emptyPattern, flag, pathReader, printed } from './flags.ts';

const timerFlags = {
  schedule: z
    .string()
    .default('daily')
    .describe('hourly, daily, weekly; an OnCalendar expression, or seconds for launchd'),
  skillsDir: flag.text("Folder of the skills; only the home's own is ever written"),
  semanticCandidates: flag.on('Order eligible skills by the embedding model'),
  rerankCandidates: flag.on('And the best of them by the reranker'),
  dryRun: flag.on('Show the files and what would be run; write nothing'),
};

const bootstrapInput = z.object({
  days: z.coerce.number().default(30).describe('Sessions of so many days, 1 to 3650'),
  sessionsDir: flag.text('Folder of session_*.json; a state.db beside it is read too'),
  proposalOnly: flag.on('Runs only plan; you are not asked'),
  write: flag.on('Runs write skills while nobody looks on; you are not asked'),
  semantic: flag.on('Both --semantic-candidates and --rerank-candidates'),
  ...timerFlags,
  enable: z.boolean().default(true).describe('Write the timer without turning it on'),
  format: flag.textOrJson,
});

export function bootstrapCommand(ground: Ground): AnyCommand {
  return curatorCommand({
    name: 'curator bootstrap',
    summary: 'One command: evidence from stored sessions, and a timer that plans, or with your yes writes',
    input: bootstrapInput,
    examples: ['talaria curator bootstrap', 'talaria curator bootstrap --write', 'talaria curator bootstrap --dry-run'],
    async *run(asked, context): AsyncGenerator<CommandOutput> {
      const { days, sessionsDir, schedule, semantic, enable, dryRun, format } = asked;
      const message = '--write and --proposal-only contradict each other.';
      if (asked.write && asked.proposalOnly) return yield wrongUse('contradictory-flags', message, 'Type one of them.');
      const [{ bootstrap }, { IN_PROCESS }] = await Promise.all([
        import('../install-timer.ts'),
        import('../timer-plan.ts'),
      ]);
      const at = pathReader(ground, context);
      const skillsDir = at(asked.skillsDir) ?? ground.places.skills;
      const timer = {
        ...{ schedule, skillsDir, writing: await mayWrite(asked, skillsDir, context), verify: {} },
        order: orderOf(asked, semantic),
        policy: { protectCore: true, allow: [], block: [] },
      };
      const options = { enable, dryRun, signal: context.signal };
      const done = await bootstrap(timer, { days, sessionsDir: at(sessionsDir) }, ground, options);
      if (done.refused) return yield planFailure(done.refused);
      yield* printed(done.result, format, () => done.text);
      const fix = 'Name the folder that holds session_*.json.';
      const { timer: installed, missing } = done;
      if (!installed) yield noScheduler(IN_PROCESS);
      else if (installed.failed) yield installed.failed;
      else if (missing !== undefined) yield failed('sessions-missing', `there is no folder ${missing}`, fix);
    },
  });
}

function orderOf(asked: { readonly semanticCandidates: boolean; readonly rerankCandidates: boolean }, both = false) {
  return { semantic: both || asked.semanticCandidates, rerank: both || asked.rerankCandidates };
}

/** Only a person at the terminal is asked; silence is a no. */
async function mayWrite(
  asked: z.infer<typeof bootstrapInput>,
  skills: string,
  { ask }: CommandContext,
): Promise<boolean> {
  if (asked.proposalOnly) return false;
  if (asked.write) return true;
  if (!ask || asked.dryRun || asked.format === 'json') return false;
  const question = `May the curator write notes into skills that the agent made in ${skills} while nobody looks on? Each write can be undone. [y/N]`;
  return isYes(await ask(question));
}

function planFailure({ reason, detail }: { readonly reason: PlanRefusal; readonly detail: string }): Failure {
  return reason === 'secret'
    ? refused(reason, detail, 'Put the command into a script of your own that reads the key, and name the script.')
    : wrongUse(reason, detail, 'Use hourly, daily or weekly.');
}

function noScheduler(fix: string): Failure {
  return refused('no-scheduler', 'This machine has neither systemd nor launchd: no timer can be installed.', fix);
}

const installInput = z.object({
  ...timerFlags,
  proposalOnly: flag.on('Runs only plan; without it they write skills while nobody looks on'),
  protectCoreSkills: z.boolean().default(true).describe('Write skills with names of core skills too'),
  ...flag.patterns,
  verifySkills: z.boolean().default(true).describe('Write without a check by a command'),
  verifyCommand: flag.text('Command that must end with 0; default: `curator skill-validate`'),
  verifyCwd: flag.text('Folder that it runs in; default: the folder of the skills'),
  enable: flag.on('Turn the timer on at once'),
  format: z.enum(['json', 'text']).optional().describe('json, or text; default: json, and text for a dry run'),
});

export function installCommand(ground: Ground): AnyCommand {
  return curatorCommand({
    name: 'curator install-auto',
    summary: 'Let systemd or launchd run the curator: it writes notes into skills unattended, unless --proposal-only',
    input: installInput,
    examples: [
      'talaria curator install-auto --dry-run',
      'talaria curator install-auto --schedule daily --enable',
      'talaria curator install-auto --schedule weekly --proposal-only --enable',
    ],
    async *run(asked, context): AsyncGenerator<CommandOutput> {
      const empty = emptyPattern(asked);
      if (empty) return yield empty;
      const [{ installTimer }, { findScheduler }, { IN_PROCESS }] = await Promise.all([
        import('../install-timer.ts'),
        import('#base/process/service.ts'),
        import('../timer-plan.ts'),
      ]);
      const scheduler = findScheduler(ground);
      if (!scheduler) return yield noScheduler(IN_PROCESS);
      const { enable, dryRun } = asked;
      const request = requestOf(asked, ground, context);
      const done = await installTimer(request, ground, { scheduler, enable, dryRun }, context.signal);
      if (!done.ok) return yield planFailure(done);
      const { result, text, failed: fault } = done.value;
      yield* printed(result, asked.format ?? (dryRun ? 'text' : 'json'), () => text);
      if (fault) yield fault;
    },
  });
}

function requestOf(asked: z.infer<typeof installInput>, ground: Ground, context: CommandContext): TimerRequest {
  const at = pathReader(ground, context);
  const { schedule, verifySkills, verifyCommand, verifyCwd, protectCoreSkills: protectCore } = asked;
  return {
    ...{ schedule, skillsDir: at(asked.skillsDir) ?? ground.places.skills, writing: !asked.proposalOnly },
    order: orderOf(asked),
    policy: { protectCore, allow: asked.allowAutoApplySkill, block: asked.blockAutoApplySkill },
    verify: { command: verifyCommand ?? (verifySkills ? undefined : null), cwd: at(verifyCwd) },
  };
}

export function uninstallCommand(ground: Ground): AnyCommand {
  return curatorCommand({
    name: 'curator uninstall-auto',
    summary: 'Take the timer of the curator away again',
    input: z.object({ keepEnabled: flag.on('Remove the files without turning the timer off first') }),
    async *run({ keepEnabled }, { signal }): AsyncGenerator<CommandOutput> {
      const [{ uninstallTimer }, { findScheduler }] = await Promise.all([
        import('../install-timer.ts'),
        import('#base/process/service.ts'),
      ]);
      const done = await uninstallTimer(ground, findScheduler(ground), keepEnabled, signal);
      yield* printed(done.result);
      if (done.failed) yield done.failed;
    },
  });
}
