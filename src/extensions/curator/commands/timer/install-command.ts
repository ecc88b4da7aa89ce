// Owns `curator install-auto` (curator notes 15, 16): flags with the original's names and defaults, `--dry-run` and `--format` ours. Knows no
// unit. Invariant: a timer that writes is installed as typed and never without saying so.
import { z } from 'zod';
import { typedPath } from '#base/paths/typed-path.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import type { TimerRequest } from '../../timer/timer-request.ts';
import { printed } from '../printed.ts';
import { emptyPattern, patternFlags } from '../skill-patterns.ts';
import { noScheduler, planFailure, schedulerFailure, timerText } from './timer-output.ts';

const on = (what: string) => z.boolean().default(false).describe(what);

const input = z.object({
  schedule: z
    .string()
    .default('daily')
    .describe('hourly, daily, weekly; an OnCalendar expression, or seconds for launchd'),
  skillsDir: z.string().min(1).optional().describe("Folder of the skills; only the home's own is ever written"),
  proposalOnly: on('Runs only plan; without it they write skills while nobody looks on'),
  protectCoreSkills: z.boolean().default(true).describe('Write skills with names of core skills too'),
  ...patternFlags,
  semanticCandidates: on('Order eligible skills by the embedding model'),
  rerankCandidates: on('And the best of them by the reranker'),
  verifySkills: z.boolean().default(true).describe('Write without a check by a command'),
  verifyCommand: z
    .string()
    .min(1)
    .optional()
    .describe('Command that must end with 0; default: `curator skill-validate`'),
  verifyCwd: z.string().min(1).optional().describe('Folder that it runs in; default: the folder of the skills'),
  enable: on('Turn the timer on at once'),
  dryRun: on('Show the files and what would be run; write nothing'),
  format: z.enum(['json', 'text']).optional().describe('json, or text; default: json, and text for a dry run'),
});

export function installCommand(ground: CuratorGround): AnyCommand {
  return defineCommand({
    name: 'curator install-auto',
    summary: 'Let systemd or launchd run the curator: it writes notes into skills unattended, unless --proposal-only',
    surfaces: ['cli'],
    input,
    examples: [
      'talaria curator install-auto --dry-run',
      'talaria curator install-auto --schedule daily --enable',
      'talaria curator install-auto --schedule weekly --proposal-only --enable',
    ],
    async *run(asked, { cwd, signal }): AsyncGenerator<CommandOutput> {
      const empty = emptyPattern(asked);
      if (empty) {
        yield empty;
        return;
      }
      const [{ installTimer }, { findScheduler, IN_PROCESS }] = await Promise.all([
        import('../../timer/install-timer.ts'),
        import('../../timer/scheduler.ts'),
      ]);
      const scheduler = findScheduler(ground);
      if (!scheduler) {
        yield noScheduler(IN_PROCESS);
        return;
      }
      const request = requestOf(asked, { ground, cwd });
      const { enable, dryRun } = asked;
      const done = await installTimer(request, { ground, scheduler, enable, dryRun }, signal);
      if (!done.ok) {
        yield planFailure(done);
        return;
      }
      const format = asked.format ?? (dryRun ? 'text' : 'json');
      yield* printed({ result: done.value.result, format, text: () => timerText(done.value) });
      if (done.value.failed) yield schedulerFailure(done.value.failed);
    },
  });
}

interface Place {
  readonly ground: CuratorGround;
  readonly cwd: string;
}

function requestOf(asked: z.infer<typeof input>, { ground: { places }, cwd }: Place): TimerRequest {
  const at = (path: string) => typedPath(path, { cwd, userHome: places.userHome });
  const { verifySkills, verifyCommand, verifyCwd, skillsDir } = asked;
  const command = verifyCommand ?? (verifySkills ? undefined : null);
  return {
    schedule: asked.schedule,
    skillsDir: skillsDir === undefined ? places.skills : at(skillsDir),
    writing: !asked.proposalOnly,
    order: { semantic: asked.semanticCandidates, rerank: asked.rerankCandidates },
    policy: {
      protectCore: asked.protectCoreSkills,
      allow: asked.allowAutoApplySkill,
      block: asked.blockAutoApplySkill,
    },
    verify: {
      ...(command === undefined ? {} : { command }),
      ...(verifyCwd === undefined ? {} : { cwd: at(verifyCwd) }),
    },
  };
}
