// Owns putting a managed block into a skill's text (seed 002, "it does not rewrite the rest"; curator notes 10, 21.1). Pure.
// Invariant of ours: literal, idempotent, every byte outside the markers stays; a text with broken markers and a block that is not exactly
// one block come back unchanged.
import type { CompatOptions } from '#mind/evidence/ledger/compact-preview.ts';
import { END_MARKER, locateBlock, START_MARKER } from '#mind/skills/format/managed-block.ts';

/**
 * Puts a managed block into a skill's text (seed 002, "autorun replaces only that managed block"; notes 10). Out: the text with the block
 * in place of the one it holds, else behind a blank line at its end. Ours is literal and idempotent; it returns the text as it was when
 * its markers are broken or `block` is not exactly one block. The original takes the first span from a start to an end marker, reads
 * `block` as a template when it replaces, and appends beside broken markers. Throws nothing.
 */
export function spliceManagedBlock(text: string, block: string, options: CompatOptions = {}): string {
  return options.compat === 'upstream' ? spliceUpstream(text, block) : splice(text, block);
}

function splice(text: string, block: string): string {
  const bare = block.replace(/\r?\n$/, '');
  const own = locateBlock(bare);
  if (own.state !== 'whole' || own.start !== 0 || own.end !== bare.length) return text;
  const place = locateBlock(text);
  if (place.state === 'broken') return text;
  if (place.state === 'none') return append(text, `${bare}\n`);
  return text.slice(0, place.start) + bare + text.slice(place.end);
}

function append(text: string, block: string): string {
  return `${text}${text.endsWith('\n') ? '' : '\n'}\n${block}`;
}

/** Both markers anywhere: the first span from a start to an end and one line end; the block is read as a template. Else appended. */
function spliceUpstream(text: string, block: string): string {
  if (!text.includes(START_MARKER) || !text.includes(END_MARKER)) return append(text, block);
  const start = text.indexOf(START_MARKER);
  const end = text.indexOf(END_MARKER, start + START_MARKER.length);
  if (end === -1) return text;
  const behind = end + END_MARKER.length;
  const until = text[behind] === '\n' ? behind + 1 : behind;
  return text.slice(0, start) + expandTemplate(block, text.slice(start, until)) + text.slice(until);
}

const LETTERS: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};

/** Octal escapes, the whole match's group, known letters, any other pair. */
const ESCAPE = /\\(0[0-7]{0,2}|[1-3][0-7]{2}|g<0>|[\s\S]|$)/g;

/** `whole`: what the template replaces, for `\\g<0>`. */
export function expandTemplate(template: string, whole: string): string {
  if (!template.includes('\\')) return template;
  const expanded = Array.from(template.matchAll(ESCAPE), ([, code = '']) =>
    code === 'g<0>' ? whole : expandOne(code),
  );
  if (expanded.some((part) => part === undefined)) return template;
  let next = 0;
  return template.replace(ESCAPE, () => expanded[next++] ?? '');
}

function expandOne(code: string): string | undefined {
  if (/^[0-3][0-7]*$/.test(code) && (code[0] === '0' || code.length === 3)) {
    return String.fromCharCode(Number.parseInt(code, 8));
  }
  if (code === '' || /^[0-9]/.test(code)) return undefined;
  if (/^[A-Za-z]$/.test(code)) return LETTERS[code];
  return LETTERS[code] ?? `\\${code}`;
}
