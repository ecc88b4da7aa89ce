// Owns the reading of "come back later": the headers and body fields in which providers say how long. Pure.
import { parseTime } from '#base/clock.ts';

/** Names in lower case. */
export type HeaderValues = { readonly get: (name: string) => string | null | undefined };

/** What is said beyond this is as good as never: 30 days. */
const LONGEST_MS = 30 * 86_400_000;

/** Milliseconds to wait, at least 0; undefined when nothing readable was said. `now` is epoch ms. */
export function retryAfterMs(headers: HeaderValues, body: string, now: number): number | undefined {
  const said = saidMs(headers, body, now);
  return said === undefined || Number.isNaN(said) ? undefined : Math.min(LONGEST_MS, Math.max(0, said));
}

function saidMs(headers: HeaderValues, body: string, now: number): number | undefined {
  const exact = Number.parseFloat(headers.get('retry-after-ms') ?? '');
  if (Number.isFinite(exact)) return exact;
  const value = headers.get('retry-after')?.trim();
  if (value) return fromRetryAfter(value, now);
  // Google's RetryInfo travels in the body.
  const seconds = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

function fromRetryAfter(value: string, now: number): number | undefined {
  if (/^-?\d+(?:\.\d+)?$/.test(value)) return Number(value) * 1000;
  const date = parseTime(value);
  return date === undefined ? undefined : date - now;
}
