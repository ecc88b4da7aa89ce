// Owns what SIGTERM, SIGINT and SIGHUP do: the running work is asked to stop, a second signal leaves at once.
// Knows no surface. Invariant: the exit code of a process ended by signal n is 128 + n.
import { constants } from 'node:os';
import { AbortedError } from '#base/abort.ts';

export interface SignalWatch {
  /** 128 + n once a signal came. */
  exitCode(): number | undefined;
  unwatch(): void;
}

const WATCHED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export function watchSignals(stop: AbortController): SignalWatch {
  let code: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    const number = 128 + constants.signals[signal];
    if (code !== undefined) process.exit(number);
    code = number;
    stop.abort(new AbortedError(`stopped by ${signal}`));
  };
  for (const signal of WATCHED) process.on(signal, onSignal);
  return {
    exitCode: () => code,
    unwatch: () => {
      for (const signal of WATCHED) process.off(signal, onSignal);
    },
  };
}
