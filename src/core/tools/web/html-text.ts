// Owns turning HTML into text that reads well: headings, lists, links, tables, code. No document tree is built.
// Knows no network. Invariant: linear, never throws; scripts, styles and what is not shown leave nothing behind.

const DROPPED = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'head',
  'iframe',
  'object',
  'select',
  'nav',
  'footer',
  'form',
  'dialog',
]);
const BLOCKS = new Set([
  'p',
  'div',
  'section',
  'article',
  'main',
  'header',
  'aside',
  'ul',
  'ol',
  'table',
  'tr',
  'blockquote',
  'pre',
  'figure',
  'figcaption',
  'dl',
  'dt',
  'dd',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'hr',
  'address',
  'details',
  'summary',
]);

export interface PageText {
  readonly title: string;
  readonly text: string;
}

interface Writer {
  out: string[];
  /** Depth inside of a dropped element, and its name. */
  dropped: string | undefined;
  droppedDepth: number;
  pre: number;
  href: string | undefined;
}

/** `base` makes links absolute. */
export function htmlText(html: string, base: string): PageText {
  const title = decodeEntities(/<title[^>]{0,500}>([^<]{0,2000})/i.exec(html.slice(0, 200_000))?.[1] ?? '').trim();
  const writer: Writer = { out: [], dropped: undefined, droppedDepth: 0, pre: 0, href: undefined };
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    writeText(writer, html.slice(at, open < 0 ? html.length : open));
    if (open < 0) break;
    at = readMarkup(writer, html, open, base);
  }
  return { title, text: tidy(writer.out.join('')) };
}

/** Elements whose content is no markup. */
const RAW_ENDS: Readonly<Record<string, RegExp>> = { script: /<\/script/, style: /<\/style/ };

/** Position behind the comment, declaration or tag that begins at `open`. */
function readMarkup(writer: Writer, html: string, open: number, base: string): number {
  if (html.startsWith('<!--', open)) return behind(html, /-->/g, open + 4);
  if (!/[a-zA-Z/!?]/.test(html[open + 1] ?? '')) {
    writeText(writer, '<');
    return open + 1;
  }
  const end = html.indexOf('>', open);
  if (end < 0) return html.length;
  const tag = html.slice(open + 1, Math.min(end, open + 4_000));
  const name = /^\/?([a-zA-Z][\w-]*)/.exec(tag)?.[1]?.toLowerCase() ?? '';
  const raw = RAW_ENDS[name];
  if (raw) return tag.startsWith('/') ? end + 1 : behind(html, new RegExp(raw, 'gi'), end);
  if (tag.startsWith('/')) closeTag(writer, name);
  else openTag(writer, { name, tag, base, empty: tag.endsWith('/') });
  return end + 1;
}

/** Position behind the next `>` after `mark`; the end when it never comes, so that what is open is searched only once. */
function behind(html: string, mark: RegExp, from: number): number {
  mark.lastIndex = from;
  const found = mark.exec(html);
  const close = found ? html.indexOf('>', found.index) : -1;
  return close < 0 ? html.length : close + 1;
}

interface OpenTag {
  readonly name: string;
  readonly tag: string;
  readonly base: string;
  readonly empty: boolean;
}

function openTag(writer: Writer, { name, tag, base, empty }: OpenTag): void {
  if (writer.dropped !== undefined) {
    if (name === writer.dropped && !empty) writer.droppedDepth += 1;
    return;
  }
  if (DROPPED.has(name) && !empty) {
    writer.dropped = name;
    writer.droppedDepth = 1;
    return;
  }
  if (BLOCKS.has(name)) writer.out.push('\n\n');
  if (name === 'pre') writer.pre += 1;
  if (name === 'a') writer.href = linkOf(tag, base);
  writer.out.push(MARKS_OPEN[name] ?? '');
}

const MARKS_OPEN: Readonly<Record<string, string>> = {
  h1: '# ',
  h2: '## ',
  h3: '### ',
  h4: '#### ',
  h5: '##### ',
  h6: '###### ',
  li: '\n- ',
  br: '\n',
  td: ' | ',
  th: ' | ',
  pre: '```\n',
  hr: '---',
  tr: '\n',
};

function closeTag(writer: Writer, name: string): void {
  if (writer.dropped !== undefined) {
    if (name !== writer.dropped) return;
    writer.droppedDepth -= 1;
    if (writer.droppedDepth === 0) writer.dropped = undefined;
    return;
  }
  if (name === 'a' && writer.href !== undefined) {
    writer.out.push(` (${writer.href})`);
    writer.href = undefined;
  }
  if (name === 'pre') {
    writer.pre = Math.max(0, writer.pre - 1);
    writer.out.push('\n```');
  }
  if (BLOCKS.has(name)) writer.out.push('\n\n');
}

function linkOf(tag: string, base: string): string | undefined {
  const raw = /\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(tag);
  const target = decodeEntities(raw?.[1] ?? raw?.[2] ?? raw?.[3] ?? '').trim();
  if (target === '' || target.startsWith('#') || /^(?:javascript|data|mailto):/i.test(target)) return undefined;
  return URL.parse(target, base)?.href;
}

function writeText(writer: Writer, raw: string): void {
  if (raw === '' || writer.dropped !== undefined) return;
  const text = decodeEntities(raw);
  writer.out.push(writer.pre > 0 ? text : text.replace(/[\s\u00a0]+/g, ' '));
}

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  bull: '•',
  middot: '·',
  laquo: '«',
  raquo: '»',
  euro: '€',
  pound: '£',
  times: '×',
  deg: '°',
  para: '¶',
  sect: '§',
  larr: '←',
  rarr: '→',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  Auml: 'Ä',
  Ouml: 'Ö',
  Uuml: 'Ü',
  szlig: 'ß',
  eacute: 'é',
  egrave: 'è',
  agrave: 'à',
  ccedil: 'ç',
};

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,10}));/g,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return NAMED[name] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number.parseInt(decimal, 10);
      return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
        ? String.fromCodePoint(code)
        : '\uFFFD';
    },
  );
}

function tidy(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replace(/\u00a0/g, ' ').trimEnd())
    .map((line) => (/^ \S/.test(line) ? line.slice(1) : line))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
