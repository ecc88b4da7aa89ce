// Owns the translation of whatever SQLite or the file system throws into TalariaError codes that people and callers can act on.
// Invariant: an error that is already ours passes unchanged.
import { errorCode, errorText, TalariaError } from '../errors.ts';

interface Meaning {
  readonly code: string;
  readonly what: string;
  readonly fix?: string;
  readonly retryable?: boolean;
}

const LOCKED: Meaning = {
  code: 'database-locked',
  what: 'is busy in another process',
  fix: 'Wait for the other process to finish, then try again.',
  retryable: true,
};
const READ_ONLY: Meaning = {
  code: 'database-read-only',
  what: 'cannot be written',
  fix: 'Check who owns the file and its folder, and their permissions.',
};
const CORRUPT: Meaning = {
  code: 'database-corrupt',
  what: 'is damaged',
  fix: 'Nothing was changed. `talaria doctor` names what is damaged, `talaria repair` says what can be done.',
};
const FULL: Meaning = {
  code: 'disk-full',
  what: 'cannot grow: the disk is full',
  fix: 'Free some space and try again.',
};
const CANNOT_OPEN: Meaning = {
  code: 'database-unopenable',
  what: 'cannot be opened',
  fix: 'Check that the folder exists and may be written.',
};
const IO: Meaning = { code: 'database-io', what: 'could not be read or written' };

/** Primary result codes of SQLite. */
const BY_RESULT: Readonly<Record<number, Meaning>> = {
  5: LOCKED,
  6: LOCKED,
  8: READ_ONLY,
  10: IO,
  11: CORRUPT,
  13: FULL,
  14: CANNOT_OPEN,
  26: CORRUPT,
};

const BY_SYSTEM_CODE: Readonly<Record<string, Meaning>> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  EROFS: READ_ONLY,
  EACCES: READ_ONLY,
  EPERM: READ_ONLY,
};

export function sqliteError(path: string, error: unknown): TalariaError {
  if (error instanceof TalariaError) return error;
  const meaning = meaningOf(error);
  if (meaning === undefined) {
    return new TalariaError(`${path}: ${errorText(error)}`, { code: 'database-failed', cause: error });
  }
  return new TalariaError(`${path} ${meaning.what} (${errorText(error)})`, {
    code: meaning.code,
    cause: error,
    retryable: meaning.retryable ?? false,
    ...(meaning.fix === undefined ? {} : { fix: meaning.fix }),
  });
}

function meaningOf(error: unknown): Meaning | undefined {
  if (error instanceof Error && 'errcode' in error && typeof error.errcode === 'number') {
    return BY_RESULT[error.errcode & 0xff];
  }
  return BY_SYSTEM_CODE[errorCode(error) ?? ''];
}
