// Owns the three ways in which a command ends badly (exit codes 1, 2, 3), as output. Knows no command.
import type { CommandOutput } from './command-spec.ts';

export type Failure = Extract<CommandOutput, { type: 'failure' }>;

/** It was tried, and did not work out. */
export function failed(code: string, message: string, fix = ''): Failure {
  return { type: 'failure', exitCode: 1, code, message, fix };
}

/** It was typed wrongly. */
export function wrongUse(code: string, message: string, fix = ''): Failure {
  return { type: 'failure', exitCode: 2, code, message, fix };
}

/** It may not be, as things stand. */
export function refused(code: string, message: string, fix = ''): Failure {
  return { type: 'failure', exitCode: 3, code, message, fix };
}
