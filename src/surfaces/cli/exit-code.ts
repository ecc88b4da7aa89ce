// Owns how an error ends the command: its exit code, and what is said on standard error. Knows no surface.
// Invariant: 0 done, 1 failed, 2 usage, 3 refused, 130 stopped; a bug shows its message, never a stack.
import { CommanderError } from 'commander';
import { isAborted } from '#base/abort.ts';
import { errorText, TalariaError } from '#base/errors.ts';

const ASKED_FOR = new Set(['commander.helpDisplayed', 'commander.version']);

/** What was typed cannot be meant; found only where the toolsets are known. */
const USAGE = new Set(['unknown-toolset', 'toolset-circle', 'unknown-tool']);

/** What was asked for is not there, or may not be: exit 3, as everywhere. */
const REFUSED = new Set(['missing-key', 'no-provider', 'no-model', 'inside', 'session-folder']);

export function reportError(error: unknown, err: (text: string) => void): number {
  if (error instanceof CommanderError) return ASKED_FOR.has(error.code) || error.exitCode === 0 ? 0 : 2;
  if (isAborted(error)) return 130;
  err(`talaria: ${errorText(error)}\n`);
  if (!(error instanceof TalariaError)) return 1;
  if (error.fix) err(`${error.fix}\n`);
  if (REFUSED.has(error.code)) return 3;
  return USAGE.has(error.code) ? 2 : 1;
}
