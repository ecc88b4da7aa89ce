// Owns what happens when standard output can take no more: its reader went away, or the disk behind it is full.
// Knows no command. Invariant: the work under way is stopped in order, and no stack is ever printed.
import { AbortedError } from '#base/abort.ts';
import { errorText } from '#base/errors.ts';

export interface OutputWatch {
  /** 0 when the reader went away (`| head` is no failure), 1 when the output could not be written; undefined: all is well. */
  exitCode(): number | undefined;
}

/** Aborts `stop` at the first failed write; the streams stay watched until the process ends. */
export function watchOutput(stop: AbortController): OutputWatch {
  let code: number | undefined;
  const onError = (error: NodeJS.ErrnoException) => {
    if (code !== undefined) return;
    code = error.code === 'EPIPE' ? 0 : 1;
    if (code === 1) sayUnwritten(error);
    stop.abort(new AbortedError('nobody reads the output any more'));
  };
  process.stdout.on('error', onError);
  process.stderr.on('error', onError);
  return { exitCode: () => code };
}

/** What was written last may fail when everything else is done: the exit code is set here too. */
function sayUnwritten(error: Error): void {
  process.exitCode = 1;
  process.stderr.write(`talaria: the output could not be written: ${errorText(error)}\n`);
}
