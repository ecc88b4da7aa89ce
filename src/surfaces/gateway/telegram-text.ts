// Owns how Markdown becomes what Telegram shows: its HTML in pieces of 4,096 UTF-16 units at most, counted without marks, and the same as plain
// text. Knows no request. Invariants: a piece is well formed by itself; nothing of the text is lost; marks nest only as Telegram lets them; a cut
// falls between blocks, else lines, else words, never within a character or an entity.
import type { Token, Tokens } from 'marked';
import { errorText } from '#base/errors.ts';
import { sliceText, wellFormed } from '#base/text.ts';

/** Characters that stand within the same marks, outermost first. */
interface Span {
  readonly text: string;
  readonly marks: readonly string[];
}

type Lex = (markdown: string) => readonly Token[];
type Marks = readonly string[];
type Spans = readonly Span[];

const MOST = 4_096;
const MOST_CODE = 3 * MOST;
/** What Telegram takes for empty. */
const BLANK = /^[\s\p{Cf}\u2800\u3164\uFFFC]*$/u;
const ENTITIES: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00A0', copy: '©', hellip: '…' },
  ...{ mdash: '—', ndash: '–', rarr: '→', larr: '←', times: '×', bull: '•', deg: '°', euro: '€' },
};
/** Tags of HTML within a line that mean a mark of Telegram. */
const TAGS: Readonly<Record<string, string>> = {
  ...{ b: 'b', strong: 'b', i: 'i', em: 'i', u: 'u', ins: 'u', s: 's', del: 's', strike: 's', code: 'code' },
};

/** Pieces as `send` takes them: HTML, or a file as `fileIn` reads it. */
export function piecesOf(markdown: string, lex: Lex): readonly string[] {
  const pieces: Spans[] = [];
  for (const part of blocksOf(wellFormed(markdown), lex).flatMap(partsOf)) {
    const both = joined('\n\n', [], [pieces.at(-1) ?? [], part]);
    const fits = textOf(both).length <= MOST && !both.some(isFile);
    pieces.splice(fits ? -1 : pieces.length, 1, fits ? both : part);
  }
  return pieces.filter((piece) => !BLANK.test(textOf(piece))).map(htmlOf);
}

/** A piece without its marks. */
export function plainOf(piece: string): string {
  return decoded(piece.replace(/<[^>]*>/g, ''));
}

/** Code that is too long to be read in a chat. */
export function fileIn(piece: string): { readonly name: string; readonly text: string } | undefined {
  const [, name, text] = /^<file ([^>]+)>([^<]*)<\/file>$/.exec(piece) ?? [];
  return name && text ? { name, text: decoded(text) } : undefined;
}

function isFile({ marks }: Span): boolean {
  return marks[0]?.startsWith('file ') ?? false;
}

function blocksOf(markdown: string, lex: Lex): readonly Spans[] {
  try {
    return lex(markdown).map((token) => {
      if (token.type !== 'code' || token.text.length <= MOST_CODE) return spansOf(token, []);
      return [{ text: token.text, marks: [`file code.${languageOf(token) ?? 'txt'}`] }];
    });
  } catch (error) {
    // Thousands of quotes in one another are more than the reader of Markdown takes.
    if (errorText(error) === '') throw error;
    return [[{ text: markdown, marks: [] }]];
  }
}

function textOf(spans: Spans): string {
  return spans.map(({ text }) => text).join('');
}

/** Parts that Telegram takes, of one block. */
function partsOf(block: Spans): readonly Spans[] {
  const parts: Spans[] = [];
  let rest = block;
  for (let text = textOf(rest); text.length > MOST && !rest.some(isFile); text = textOf(rest)) {
    const at = cutOf(text);
    parts.push(between(rest, 0, at));
    rest = between(rest, /[\n ]/.test(text[at] ?? '') ? at + 1 : at, text.length);
  }
  return [...parts, rest];
}

function cutOf(text: string): number {
  for (const sign of ['\n', ' ']) {
    const at = text.lastIndexOf(sign, MOST);
    if (at > MOST / 4) return at;
  }
  return sliceText(text, MOST).length;
}

function between(spans: Spans, from: number, to: number): Spans {
  let at = 0;
  return spans.flatMap(({ text, marks }) => {
    const part = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    at += text.length;
    return part === '' ? [] : [{ text: part, marks }];
  });
}

function htmlOf(spans: Spans): string {
  let html = '';
  let open: Marks = [];
  for (const { text, marks } of [...spans, { text: '', marks: [] }]) {
    const shared = marks.findIndex((mark, i) => mark !== open[i]);
    const kept = Math.min(open.length, shared === -1 ? marks.length : shared);
    const closed = open.slice(kept).map((mark) => `</${mark.split(' ')[0]}>`);
    const opened = marks.slice(kept).map((mark) => `<${mark}>`);
    html += [...closed.reverse(), ...opened, escaped(text)].join('');
    open = marks;
  }
  return html;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi, (whole, decimal, hex, name) => {
    if (name) return ENTITIES[name] ?? whole;
    const code = Number.parseInt(decimal ?? hex, decimal ? 10 : 16);
    return code > 0 && code <= 0x10_ff_ff ? wellFormed(String.fromCodePoint(code)) : whole;
  });
}

function languageOf(token: Token): string | undefined {
  return /^[\w+#.-]{1,30}/.exec((token as Tokens.Code).lang ?? '')?.[0].replaceAll('#', 'sharp');
}

function joined(between: string, marks: Marks, parts: readonly Spans[]): Spans {
  const filled = parts.filter((part) => part.length > 0);
  return filled.flatMap((part, i) => (i > 0 ? [{ text: between, marks }, ...part] : part));
}

function quoteIn(marks: Marks): Marks {
  return marks.filter((mark) => mark === 'blockquote');
}

/** Code stands in no other mark but a quote, and nothing stands twice. */
function within(marks: Marks, mark: string): Marks {
  if (mark === 'code') return marks.some((one) => one.startsWith('a ')) ? marks : [...quoteIn(marks), 'code'];
  return marks.includes(mark) || marks.includes('code') ? marks : [...marks, mark];
}

function line(tokens: readonly Token[], marks: Marks): Spans {
  const spans: Span[] = [];
  for (let i = 0; i < tokens.length; i += 1) {
    const token = tokens[i] as Token;
    const [, name = ''] = (token.type === 'html' && /^<(\w+)>$/.exec(token.raw)) || [];
    const mark = TAGS[name];
    const end = mark ? tokens.findIndex(({ raw }, at) => at > i && raw === `</${name}>`) : -1;
    if (mark && end > i) {
      spans.push(...line(tokens.slice(i + 1, end), within(marks, mark)));
      i = end;
    } else spans.push(...spansOf(token, marks));
  }
  return spans;
}

type Render = (token: Tokens.Generic, marks: Marks) => Spans;

function spansOf(token: Token, marks: Marks): Spans {
  return (RENDER[token.type] ?? literally)(token as Tokens.Generic, marks);
}

const literally: Render = ({ raw }, marks) => [{ text: raw, marks }];
const unmarked: Render = ({ tokens = [] }, marks) => line(tokens, marks);
const MARKS: Readonly<Record<string, string>> = { heading: 'b', strong: 'b', em: 'i', del: 's' };
const marked: Render = ({ type, tokens = [] }, marks) => line(tokens, within(marks, MARKS[type] ?? 'b'));

const RENDER: Readonly<Record<string, Render>> = {
  ...{ space: () => [], def: () => [], paragraph: unmarked, heading: marked, strong: marked, em: marked, del: marked },
  hr: (_, marks) => [{ text: '———', marks }],
  code: (token, marks) => {
    const language = languageOf(token);
    const inner = ['pre', ...(language ? [`code class="language-${language}"`] : [])];
    return [{ text: token.text, marks: [...quoteIn(marks), ...inner] }];
  },
  blockquote: ({ tokens = [] }) => {
    const marks = ['blockquote'];
    return joined(
      '\n',
      marks,
      tokens.map((one) => spansOf(one, marks)),
    );
  },
  list: ({ items, ordered, start }, marks) => {
    const sign = (i: number) => (ordered ? `${Number(start) + i}. ` : '• ');
    return joined(
      '\n',
      marks,
      items.map((item: Tokens.ListItem, i: number) => itemOf(item, sign(i), marks)),
    );
  },
  table: (token, marks) => {
    const { header, rows } = token as Tokens.Table;
    const shown = (cell: Tokens.TableCell) => textOf(line(cell.tokens, [])).replaceAll('\n', ' ');
    const cells = [header, ...rows].map((row) => row.map(shown));
    const widths = header.map((_, i) => Math.max(...cells.map((row) => (row[i] ?? '').length)));
    const lines = cells.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | '));
    const rule = widths.map((width) => '-'.repeat(width)).join('-+-');
    return [{ text: lines.toSpliced(1, 0, rule).join('\n'), marks: [...quoteIn(marks), 'pre'] }];
  },
  text: ({ tokens, text }, marks) => (tokens ? line(tokens, marks) : [{ text: decoded(text), marks }]),
  escape: ({ text }, marks) => [{ text, marks }],
  codespan: ({ text }, marks) => [{ text, marks: within(marks, 'code') }],
  br: (_, marks) => [{ text: '\n', marks }],
  checkbox: ({ checked }, marks) => [{ text: checked ? '☑ ' : '☐ ', marks }],
  html: ({ raw }, marks) => [{ text: /^<br ?\/?>$/i.test(raw) ? '\n' : raw.trim(), marks }],
  link: (token, marks) => linkOf(token as Tokens.Link, marks),
  image: (token, marks) => linkOf(token as Tokens.Image, marks),
};

/** What stands in an item stands below its sign, and a list in it further in. */
function itemOf({ tokens }: Tokens.ListItem, sign: string, marks: Marks): Spans {
  const further = ({ text, marks }: Span) => ({
    text: marks.includes('pre') ? text : text.replaceAll('\n', '\n  '),
    marks,
  });
  const inner = tokens.map((token) => {
    const spans = spansOf(token, marks);
    return token.type === 'list' ? [{ text: '  ', marks }, ...spans.map(further)] : spans;
  });
  const [box, ...rest] = tokens[0]?.type === 'checkbox' ? inner : [[], ...inner];
  return [{ text: sign, marks }, ...(box ?? []), ...joined('\n', marks, rest)];
}

/** An address that a phone opens is a link; another one stands behind its words. */
function linkOf({ href, tokens, text }: Tokens.Link | Tokens.Image, marks: Marks): Spans {
  const address = decoded(href);
  const isOpened = /^(?:https?:\/\/|mailto:|tg:)/i.test(address) && address.length <= 2_000 && !marks.includes('code');
  const mark = `a href="${escaped(address).replaceAll('"', '&quot;')}"`;
  const isIn = marks.some((one) => one.startsWith('a '));
  const spans = line(tokens, isOpened && !isIn ? [...marks, mark] : marks);
  const words = textOf(spans);
  if (words.trim() === '') return [{ text: address, marks }];
  const isTold = isOpened || address === '' || words === address || text === href || address.startsWith('data:');
  return isTold ? spans : [...spans, { text: ` (${address})`, marks }];
}
