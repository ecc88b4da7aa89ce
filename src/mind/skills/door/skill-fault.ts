// Owns how broken I/O below the door is told: one TalariaError with the system's own error as its cause. Knows no write.
import { errorCode, errorText, TalariaError } from '#base/errors.ts';

const FAULT_CODES: Readonly<Record<string, string>> = {
  ENOSPC: 'disk-full',
  EDQUOT: 'disk-full',
  EACCES: 'no-permission',
  EPERM: 'no-permission',
  EROFS: 'no-permission',
};

/** `what` says how things stand now. */
export function asSkillFault(name: string, error: unknown, what: string): TalariaError {
  const fix = error instanceof TalariaError ? error.fix : undefined;
  const code = error instanceof TalariaError ? error.code : (FAULT_CODES[errorCode(error) ?? ''] ?? 'write-failed');
  return new TalariaError(`cannot write the skill ${name}: ${errorText(error)}${what}`, {
    code,
    cause: error,
    ...(fix === undefined ? {} : { fix }),
  });
}
