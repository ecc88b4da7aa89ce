// Owns what pages are made of: the only way in which text becomes markup (a template whose parts are escaped unless they came out of one), pieces,
// and the frame of a page that needs nothing else. Knows no page. Invariant: no text, whatever it holds, makes a tag, an attribute or an entity; and
// none longer than `LONGEST` gets through uncut.
import { createHash } from 'node:crypto';
import { headTail, sliceText } from '../text.ts';
import { PAGE_STYLE } from './page-style.rules.ts';
import { spellUnseen } from './unseen.ts';

const made = Symbol('made here');

export interface Html {
  readonly [made]: string;
}

export type Part = string | number | Html | null | undefined | false | readonly Part[];

/** What is meant to be longer is cut where it is known why. */
const LONGEST = 60_000;

/** Parts may stand between tags and inside quoted values of attributes, nowhere else. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0] ?? '';
  for (const [at, part] of parts.entries()) text += `${written(part)}${strings[at + 1] ?? ''}`;
  return { [made]: text };
}

export function markupOf(piece: Html): string {
  return piece[made];
}

function written(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (typeof part === 'string' || typeof part === 'number') return escapeText(String(part));
  return isList(part) ? part.map(written).join('') : part[made];
}

function isList(part: Html | readonly Part[]): part is readonly Part[] {
  return Array.isArray(part);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeText(text: string): string {
  const kept = headTail(text, LONGEST * 0.75, LONGEST * 0.25);
  return visibleText(kept).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** A text within a line or a paragraph: its beginning, and how much is left out. */
export function shortText(text: string, most = 2_000): Html {
  const kept = sliceText(text, Math.max(0, most));
  const cut = text.length - kept.length;
  return cut === 0
    ? html`${kept}`
    : html`${kept} <span class="cut">… ${thousands(cut)} more characters are not shown here</span>`;
}

/** The first of many, drawn, and a line that says how many there are beyond; `whole`: the command that prints all of them. */
export function listed<T>(
  items: readonly T[],
  draw: (item: T, at: number) => Html,
  { most, noun, whole }: { readonly most: number; readonly noun: string; readonly whole: string },
): { readonly rows: readonly Html[]; readonly more: Html | null } {
  const left = items.length - most;
  const more = html`<p class="cut">${counted(left, `more ${noun}`)} not shown here: <code>${whole}</code> has all of them.</p>`;
  return { rows: items.slice(0, most).map(draw), more: left > 0 ? more : null };
}

/** @param kind its class */
export function table(heads: readonly string[], rows: readonly Html[], kind?: string): Html {
  const head = heads.map((name) => html`<th scope="col">${name}</th>`);
  return html`<div class="scroll" tabindex="0"><table${kind !== undefined && html` class="${kind}"`}><thead><tr>${head}</tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

const DELETE = 0x7f;
const PICTURES = 0x2400;
const PICTURE_OF_DELETE = 0x2421;

/** Each by its picture (`␛`) when it has one, else by its number (`[U+202E]`). */
export function visibleText(text: string): string {
  return spellUnseen(text.toWellFormed(), (code) => {
    if (code < 0x20) return String.fromCodePoint(PICTURES + code);
    if (code === DELETE) return String.fromCodePoint(PICTURE_OF_DELETE);
    return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
  });
}

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

export function share(part: number, whole: number): string {
  if (whole === 0) return '0\u00a0%';
  const percent = (part / whole) * 100;
  return `${percent < 10 && percent > 0 ? percent.toFixed(1) : Math.round(percent)}\u00a0%`;
}

/** A whole page that needs nothing else: no script, no address. `style`: after that of all pages. */
export function pageFile(title: string, body: Html, style = ''): string {
  const all = style === '' ? PAGE_STYLE : `${PAGE_STYLE}\n${style}`;
  const hash = createHash('sha256').update(all).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
${markupOf(html`<title>${title}</title>`)}
<style>${all}</style>
</head>
<body>
${markupOf(body)}</body>
</html>
`;
}
