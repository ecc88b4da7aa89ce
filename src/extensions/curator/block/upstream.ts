// Owns what the original does where ours differs (`compat: 'upstream'`), to be compared with it: how it splices a block, lists a call, reads a
// front matter (curator notes 8.3, 10, 21.1). Pure. Smaller differences stand where they are made.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { cutPoints } from '#base/text/code-points.ts';
import { readYaml } from '#mind/skills/format/parse-skill.ts';
import { END_MARKER, START_MARKER } from '#mind/skills/format/skill-text.ts';
import type { BlockRow } from './failures.ts';

/** Both markers anywhere: the first span from a start to an end and one line end; the block is read as a template. Else appended. */
export function spliceUpstream(text: string, block: string): string {
  if (!text.includes(START_MARKER) || !text.includes(END_MARKER)) return appendBlock(text, block);
  const start = text.indexOf(START_MARKER);
  const end = text.indexOf(END_MARKER, start + START_MARKER.length);
  if (end === -1) return text;
  const behind = end + END_MARKER.length;
  const until = text[behind] === '\n' ? behind + 1 : behind;
  return text.slice(0, start) + expandTemplate(block, text.slice(start, until)) + text.slice(until);
}

export function appendBlock(text: string, block: string): string {
  return `${text}${text.endsWith('\n') ? '' : '\n'}\n${block}`;
}

const LETTERS: Readonly<Record<string, string>> = {
  ...{ a: '\u0007', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
  '\\': '\\',
};

/** Octal escapes, the whole match's group, known letters, any other pair. */
const ESCAPE = /\\(0[0-7]{0,2}|[1-3][0-7]{2}|g<0>|[\s\S]|$)/g;

/** `whole`: what the template replaces, for `\\g<0>`. A template that the original could not read stays as it is. */
export function expandTemplate(template: string, whole: string): string {
  let isReadable = true;
  const expanded = template.replace(ESCAPE, (_, code: string) => {
    const one = code === 'g<0>' ? whole : expandOne(code);
    isReadable &&= one !== undefined;
    return one ?? '';
  });
  return isReadable ? expanded : template;
}

function expandOne(code: string): string | undefined {
  if (/^[0-3][0-7]*$/.test(code) && (code[0] === '0' || code.length === 3)) {
    return String.fromCharCode(Number.parseInt(code, 8));
  }
  if (code === '' || /^[0-9]/.test(code)) return undefined;
  if (/^[A-Za-z]$/.test(code)) return LETTERS[code];
  return LETTERS[code] ?? `\\${code}`;
}

const LONGEST_PREVIEW = 220;

export function upstreamLine(row: BlockRow): string {
  const preview = cutPoints(String(row.result_preview ?? '').replaceAll('\n', ' '), LONGEST_PREVIEW);
  const lead = `- ${row.created_at ?? ''}: \`${row.tool_name ?? ''}\` ${row.is_error ? 'error' : 'ok'}`;
  return preview === '' ? lead : `${lead} — ${preview}`;
}

const HEADER = /^---[ \t]*\n((?:[^\n]*\n)*?)---[ \t]*\n/;
export const UPSTREAM_PIN = /^(?:pin|pinned):[ \t]*(?:true|yes|1)[ \t]*$/im;

/** Lines only, from the first byte on, with a line end after the closing dashes. undefined: there is none. */
export function upstreamHeader(
  text: string,
): { readonly name: string; readonly pinned: boolean; readonly frontmatter: JsonObject } | undefined {
  const header = HEADER.exec(text.replace(/\r\n?/g, '\n'))?.[1];
  if (header === undefined) return undefined;
  const read = readYaml(header);
  const name = (/^name:[ \t]*(.*)$/m.exec(header)?.[1]?.trim() ?? '').replace(/^["']|["']$/g, '');
  const frontmatter = read.ok && isJsonObject(read.value) ? read.value : {};
  return { name, pinned: UPSTREAM_PIN.test(header), frontmatter };
}
