// Owns what a timer of the machine is made from: data that both the systemd and the launchd builder read. Pure; knows no file.
import { TalariaError } from '#base/errors.ts';

export interface TimerSpec {
  /** Program and its first arguments. */
  readonly program: readonly string[];
  readonly args: readonly string[];
  /** `hourly`, `daily`, `weekly`, or what the scheduler itself understands. */
  readonly schedule: string;
  readonly env: Readonly<Record<string, string>>;
  /** Files for the output, absolute; only launchd needs them. */
  readonly logs: { readonly out: string; readonly err: string };
}

export const SYSTEMD_SERVICE = 'talaria-curator-auto.service';
export const SYSTEMD_TIMER = 'talaria-curator-auto.timer';
export const LAUNCHD_LABEL = 'ai.talaria.curator.auto';

/** No process can be given such text. Throws TalariaError `timer-text`. */
export function refuseNul(text: string): string {
  if (text.includes('\0') || !text.isWellFormed()) throw unusableText('holds a NUL or half a character');
  return text;
}

export function unusableText(why: string): TalariaError {
  return new TalariaError(`a word of the timer's command ${why}`, {
    code: 'timer-text',
    fix: 'Rename the folder or pattern that holds it; nothing was written.',
  });
}
