// Owns what SIGTERM, SIGINT and SIGHUP do: the running work is asked to stop, a second signal leaves at once.
// Knows no surface. Invariant: the exit code of a process ended by signal n is 128 + n.
import { constants } from 'node:os';
import { AbortedError } from '#base/abort.ts';

export interface SignalWatch {
  /** 128 + n once a signal came. */
  exitCode(): number | undefined;
  /** A chat takes SIGINT for itself: while `handler` returns true the signal ends nothing. */
  onInterrupt(handler: (() => boolean) | undefined): void;
  unwatch(): void;
}

const WATCHED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export function watchSignals(stop: AbortController): SignalWatch {
  let code: number | undefined;
  let interrupt: (() => boolean) | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (signal === 'SIGINT' && code === undefined && interrupt?.()) return;
    const number = 128 + constants.signals[signal];
    if (code !== undefined) process.exit(number);
    code = number;
    stop.abort(new AbortedError(`stopped by ${signal}`));
  };
  for (const signal of WATCHED) process.on(signal, onSignal);
  return {
    exitCode: () => code,
    onInterrupt: (handler) => {
      interrupt = handler;
    },
    unwatch: () => {
      for (const signal of WATCHED) process.off(signal, onSignal);
    },
  };
}
