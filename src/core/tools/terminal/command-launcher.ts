// Owns how a command becomes a process: the shell, its environment, its folder, how much of its output is kept. Starts nothing.
// Knows no wall. Invariant: keys never reach a command's environment.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type ProcessRequest, withoutVariables } from '#base/process.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { ToolContext } from '#core/agent/tool.ts';
import { fullPath, realPath } from '../file/file-access.ts';
import { OUTPUT_LIMITS } from '../output-limits.ts';
import { makePlace } from '../risk/place.ts';
import { onlyReads } from '../risk/read-only.ts';

export interface LaunchOptions {
  /** The environment that commands get, as the program got it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names of variables that commands must not see: keys, and what only concerns this program. */
  readonly secretNames?: readonly string[];
}

export interface AskedCommand {
  readonly command: string;
  readonly workdir?: string | undefined;
}

/** Variables that make programs behave without a person: no pager, no colours, no question for a password. */
const QUIET = { TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0', NO_COLOR: '1' } as const;
/** What only reads runs no hook and no monitor, also none that the settings of the account name in whatever folder git is. */
const PLAIN_GIT = {
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'core.hooksPath',
  GIT_CONFIG_VALUE_0: '/dev/null',
  GIT_CONFIG_KEY_1: 'core.fsmonitor',
  GIT_CONFIG_VALUE_1: 'false',
} as const;
/** What Node was told about itself does not concern the programs that a command starts. */
const OURS = ['NODE_COMPILE_CACHE', 'NODE_OPTIONS', 'NODE_TEST_CONTEXT', 'NODE_CHANNEL_FD'];

/** Both streams become one in the order in which they were written; the command's own lines keep their numbers. */
const WRAPPER = 'exec 2>&1; eval "set --; $1"';

export function createLauncher(options: LaunchOptions) {
  const shell =
    ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash', '/opt/homebrew/bin/bash'].find(existsSync) ?? '/bin/sh';
  const env = { ...withoutVariables(options.env, [...OURS, ...(options.secretNames ?? [])]), ...QUIET };
  return (asked: AskedCommand, context: ToolContext): Result<ProcessRequest, 'bad-command' | 'no-folder'> => {
    if (asked.command.includes('\0')) return refuse('bad-command', 'a command cannot hold a zero byte');
    const cwd = folderOf(asked, context);
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
      return refuse('no-folder', `there is no folder ${cwd} to run in`);
    const limits = {
      headBytes: 4_000,
      tailBytes: OUTPUT_LIMITS.jobBytes,
      maxBytes: OUTPUT_LIMITS.terminalMaxBytes,
      spill: spillPath(context),
      redact: context.redact,
    };
    const place = makePlace({ cwd, path: options.env.PATH ?? '', exists: existsSync, real: realPath });
    const plain = onlyReads(asked.command, place) ? PLAIN_GIT : {};
    return ok({
      argv: [shell, '-c', WRAPPER, 'bash', asked.command],
      cwd,
      env: { ...env, ...plain, PWD: cwd },
      limits,
    });
  };
}

export function folderOf({ workdir }: AskedCommand, { cwd }: Pick<ToolContext, 'cwd'>): string {
  return workdir === undefined ? cwd : fullPath(workdir, cwd, {});
}

/** One folder a session: call ids are the model's, and those of another session may be the same. */
export function spillPath({ spillFolder, sessionId, callId }: ToolContext): string {
  return join(spillFolder, fileName(sessionId), `${fileName(callId)}.txt`);
}

function fileName(id: string): string {
  return id.replace(/[^\w-]/g, '_').slice(0, 100) || '_';
}
