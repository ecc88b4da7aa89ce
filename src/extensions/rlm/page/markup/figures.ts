// Owns how numbers, sizes, spans of time and instants are written on a page. Pure.
import { localDate } from '#base/clock.ts';

export function thousands(value: number): string {
  return value.toLocaleString('en-US');
}

/** `1 call`, `2,000 calls`. */
export function counted(value: number, noun: string): string {
  return `${thousands(value)} ${noun}${value === 1 ? '' : 's'}`;
}

const UNITS = ['bytes', 'KB', 'MB', 'GB'] as const;

export function size(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  if (unit === 0) return counted(value, 'byte');
  return `${value.toFixed(value < 10 ? 1 : 0)} ${UNITS[unit]}`;
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** US dollars; null: nobody told. */
export function money(cost: number | null): string {
  if (cost === null) return 'unknown';
  if (cost === 0) return '$0';
  return cost < 0.01 ? `$${cost.toPrecision(2)}` : `$${cost.toFixed(2)}`;
}

/** `2026-05-03 14:07:09`, in the time zone of the machine. */
export function instant(epochMs: number): string {
  const { year, month, day, hour, minute, second } = localDate(epochMs);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${year}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}:${two(second)}`;
}

export function share(part: number, whole: number): string {
  if (whole === 0) return '0\u00a0%';
  const percent = (part / whole) * 100;
  return `${percent < 10 && percent > 0 ? percent.toFixed(1) : Math.round(percent)}\u00a0%`;
}
