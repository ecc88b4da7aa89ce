// Owns how an installed timer is shown: the original's JSON, or plain words with the files (curator notes 15). Knows no scheduler.

import { type Failure, failed, refused, wrongUse } from '#core/agent/command-failure.ts';
import type { InstalledTimer } from '../../timer/install-timer.ts';
import type { PlanRefusal } from '../../timer/plan-timer.ts';

/** The statement; after a dry run the files and commands too. */
export function timerText({ plan, statement, result }: InstalledTimer): string {
  const said =
    result.dry_run === true ? ['Nothing was written. With these files it would be:', ...statement] : statement;
  if (result.dry_run !== true) return [...plan.files.map(({ path }) => `written: ${path}`), ...said].join('\n');
  const files = plan.files.flatMap(({ path, text }) => ['', `# ${path}`, text.trimEnd()]);
  const steps = plan.steps.map(({ argv }) => `would run: ${argv.join(' ')}`);
  return [...said, ...files, ...(steps.length > 0 ? ['', ...steps] : [])].join('\n');
}

export function planFailure({ reason, detail }: { readonly reason: PlanRefusal; readonly detail: string }): Failure {
  return reason === 'secret'
    ? refused(reason, detail, 'Put the command into a script of your own that reads the key, and name the script.')
    : wrongUse(reason, detail, 'Use hourly, daily or weekly.');
}

export function schedulerFailure({ message, fix }: NonNullable<InstalledTimer['failed']>): Failure {
  return failed('timer-not-enabled', message, fix);
}

export function noScheduler(fix: string): Failure {
  return refused('no-scheduler', 'This machine has neither systemd nor launchd: no timer can be installed.', fix);
}
