// Owns how the curator writes texts: results as JSON, instants, and any text made harmless on one line of Markdown (curator notes 21.2): what tools,
// files and web pages said is data.
import { isoTime, parseTime } from '#base/clock.ts';
import { canonicalJson, type JsonValue, parseJson } from '#base/json.ts';
import { redactSecrets } from '#base/secrets.ts';
import { withoutUnseen } from '#base/text/unseen.ts';

/** Keys sorted at every depth, two blanks a level, no character escaped without need. */
export function dumpJson(value: unknown): string {
  const sorted = parseJson(canonicalJson(value as JsonValue));
  return JSON.stringify(sorted.ok ? sorted.value : null, null, 2);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must go
const BREAKS = /[\u0000-\u001F\u007F-\u009F\u2028\u2029]+/g;
/** What ends HTML that the text around may have left open: then everything behind would be read as Markdown again. */
const HTML_ENDS = /<(?=\/(?:pre|script|style|textarea)\b)|\?(?=>)|\](?=\]>)/gi;

export function inlineText(text: string): string {
  const visible = redactSecrets(withoutUnseen(text.toWellFormed().replace(BREAKS, ' ')));
  return visible
    .replace(/`{3,}/g, "'''")
    .replace(/~{3,}/g, '~~')
    .replace(/<!(?=-)/g, '<! ')
    .replace(/-(?=-!?>)/g, '- ')
    .replace(HTML_ENDS, '$& ')
    .replace(/curator-evolver:auto/gi, 'curator-evolver auto');
}

export function inlineCode(text: string): string {
  return `\`${inlineText(text).replaceAll('`', "'")}\``;
}

/** An instant as callers have it: epoch milliseconds, epoch seconds (below 10^11), or ISO text; without an offset it is UTC. */
export type Instant = number | string;

const NO_OFFSET = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/;
const LONGEST_MS = 8.64e15;

/** In texts (ISO, UTC, whole seconds, `+00:00`) and in file names (`YYYYMMDD-HHMMSS`). @throws TypeError for what is no instant. */
export function timeStamp(now: Instant): { readonly iso: string; readonly file: string } {
  const seconds = isoTime(epochOf(now)).replace(/\.\d+Z$/, '');
  return { iso: `${seconds}+00:00`, file: seconds.replace(/[-:]/g, '').replace('T', '-') };
}

/** Epoch milliseconds. @throws TypeError for what is no instant. */
export function epochOf(now: Instant): number {
  const value = typeof now === 'number' ? now * (Math.abs(now) < 1e11 ? 1000 : 1) : readTime(now);
  if (value === undefined || !(Math.abs(value) <= LONGEST_MS)) throw new TypeError(`not an instant: ${String(now)}`);
  return value;
}

function readTime(text: string): number | undefined {
  const plain = text.trim().replace(/(\.\d{3})\d+/, '$1');
  return parseTime(NO_OFFSET.test(plain) ? `${plain.replace(' ', 'T')}Z` : plain);
}
