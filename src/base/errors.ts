// Owns the one error class for bugs and broken I/O (the third failure channel; tool failures are data, refusals are Results).
// Knows no code of any room: a room names its own codes. Invariant: `message` can be shown to a person as it is.

export interface TalariaErrorOptions {
  /** Stable machine-readable reason, kebab-case, e.g. `database-corrupt`. */
  readonly code: string;
  /** May the same operation succeed when tried again unchanged? */
  readonly retryable?: boolean;
  readonly cause?: unknown;
  /** What the person can do about it, one sentence. */
  readonly fix?: string;
}

export class TalariaError extends Error {
  override readonly name: string = 'TalariaError';
  readonly code: string;
  readonly retryable: boolean;
  readonly fix: string | undefined;

  constructor(message: string, options: TalariaErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.retryable = options.retryable ?? false;
    this.fix = options.fix;
  }
}

/** The `code` of a Node system error or TalariaError, else undefined. */
export function errorCode(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return undefined;
}

/** What a look at the system gives; undefined where the system says no. */
export function known<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}

/** What a look at a file gives; undefined when it is not there. */
export function ifThere<T>(look: () => T, gone: readonly string[] = ['ENOENT']): T | undefined {
  try {
    return look();
  } catch (error) {
    if (gone.includes(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}

/** A one-line text for any thrown value; what the system says in its own code is put into words. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return systemErrorText(error) ?? (error.message === '' ? error.name : error.message);
}

const SYSTEM_WORDS: Readonly<Record<string, (place: string) => string>> = {
  ENOENT: (place) => `there is no ${place}`,
  EACCES: (place) => `no permission for ${place}`,
  EPERM: (place) => `no permission for ${place}`,
  EISDIR: (place) => `${place} is a folder`,
  ENOTDIR: (place) => `a part of ${place} is no folder`,
  EEXIST: (place) => `${place} is there already`,
  ENOTEMPTY: (place) => `${place} is not empty`,
  ENOSPC: () => 'the disk is full',
  EROFS: (place) => `${place} lies on a disk that can only be read`,
  ELOOP: (place) => `${place} is a link that leads in a circle`,
  ENAMETOOLONG: (place) => `the name ${place} is too long`,
  EMFILE: () => 'too many files are open',
};

/** Undefined for what is no raw error of Node about a file, `ENOENT: no such file or directory, open '/x'`. */
function systemErrorText(error: Error): string | undefined {
  const code = errorCode(error);
  if (code === undefined || !error.message.startsWith(`${code}: `)) return undefined;
  const place = 'path' in error && typeof error.path === 'string' ? error.path : 'what was asked for';
  return Object.hasOwn(SYSTEM_WORDS, code) ? SYSTEM_WORDS[code]?.(place) : undefined;
}

/** The innermost error, at most six causes deep: what a platform wraps around a broken connection says nothing. */
export function rootCause(error: unknown): unknown {
  let current = error;
  for (let depth = 0; depth < 6 && current instanceof Error && current.cause instanceof Error; depth += 1)
    current = current.cause;
  return current;
}
