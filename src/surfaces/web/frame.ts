// Owns what all pages share: the frame with its landmarks, forms that carry the visitor's token, a command's output as markup, and charts.
// Knows no page and no route. Invariants: every text is escaped; one h1 a page; no style and no script stands in the markup.
import { instant, isoTime, parseTime } from '#base/clock.ts';
import { type Html, html, markupOf, type Part, shortText, table } from '#base/text/page.ts';
import { sliceText } from '#base/text.ts';
import type { PageDesk, Shown, Waiting } from './desk.ts';

/** Who asks for a page, and what for. */
export interface Visit {
  readonly desk: PageDesk;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly token: string;
  /** What came of the last form. */
  readonly flash: string;
}

export interface Page {
  readonly title: string;
  /** Drawn anew when something changes. */
  readonly live: Html;
  readonly rest?: Html | false;
  /** Changes of this session alone; null: of none. */
  readonly session?: string | null;
}

const TITLES = ['Today', 'Sessions', 'Skills', 'Memory', 'Pending', 'Schedule', 'People', 'Costs', 'Doctor'];
export const PAGES = TITLES.map((title) => [title === 'Today' ? '' : title.toLowerCase(), title] as const);

export function framed({ title, live, rest, session }: Page, { path, flash }: Pick<Visit, 'path' | 'flash'>): string {
  const here = path.split('/')[1];
  const links = PAGES.map(
    ([to, name]) => html`<li><a href="/${to}"${to === here && html` aria-current="page"`}>${name}</a></li>`,
  );
  const said = flash !== '' && html`<p class="verdict mixed lines" role="status">${shortText(flash)}</p>`;
  const top = html`<header class="top"><p class="brand"><span>Talaria</span></p><nav aria-label="Pages"><ul>${links}</ul></nav></header>`;
  return documentOf(
    title,
    html`${top}<main><h1 dir="auto">${shortText(title, 200)}</h1>${said}
<div${session !== null && html` id="live"`} data-session="${session ?? ''}">${live}</div>${rest}</main><script src="/app.js" defer></script>`,
  );
}

export function loginPage(said: string): string {
  const box = html`<input id="key" type="password" name="key" autocomplete="current-password" required><button>Enter</button>`;
  const form = html`<form method="post" action="/login"><label for="key">The key (talaria serve key)</label>${box}</form>`;
  return documentOf('Login', html`<main><h1>Talaria</h1>${form}<p class="bad" role="alert">${said}</p></main>`);
}

function documentOf(title: string, body: Html): string {
  const view = html`<meta name="viewport" content="width=device-width, initial-scale=1">`;
  return markupOf(html`<!doctype html><html lang="en"><head><meta charset="utf-8">${view}
<title>${shortText(title, 100)} · Talaria</title><link rel="stylesheet" href="/style.css"><link rel="icon" href="data:,"></head>
<body>${body}</body></html>
`);
}

export function section(id: string, title: string, body: Part): Html {
  return html`<section aria-labelledby="${id}"><h2 id="${id}" dir="auto">${shortText(title, 200)}</h2>${body}</section>
`;
}

/** It does `act` with the fields, and comes back. */
export function form({ token }: Visit, act: string, fields: Readonly<Record<string, string>>, body: Part): Html {
  const all = Object.entries({ token, act, ...fields });
  const hidden = all.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
  return html`<form class="${typeof body === 'string' ? 'inline' : 'wide'}" method="post" action="/act">
${hidden}${typeof body === 'string' ? html`<button>${body}</button>` : body}</form>`;
}

export function when(at: number | string | null): Html | string {
  const ms = typeof at === 'string' ? parseTime(at) : at;
  if (ms === undefined || ms === null) return '–';
  return html`<time datetime="${isoTime(ms)}">${instant(ms).slice(0, 16)}</time>`;
}

export function link(to: string, id: string, title?: string | null): Html {
  return html`<a dir="auto" href="/${to}/${encodeURIComponent(id)}">${shortText(title || id, 120)}</a>`;
}

const NOTABLE = /(`[^`\n]+`|^§ .*$|^(?:ok|warn|fail)(?= )|\b\d{4}-\d\d-\d\dT[\d:.]+Z)/m;
const TONES = new Map(Object.entries({ ok: 'good', warn: 'mixed', fail: 'bad', '+': 'added', '-': 'removed' }));

/** What a command prints: commands, entries, findings, changes and times stand out. */
function told(text: string, most: number, notable = NOTABLE): Part {
  const kept = sliceText(text, most);
  const drawn = kept.split(notable).map((piece, at) => {
    const tone = at % 2 === 0 ? '' : (TONES.get(piece) ?? TONES.get(piece.charAt(0)));
    if (tone !== undefined) return tone === '' ? piece : html`<span class="told ${tone}">${piece}</span>`;
    if (piece.startsWith('`')) return html`<code>${piece.slice(1, -1)}</code>`;
    return piece.startsWith('§') ? html`<strong>${piece.slice(2)}</strong>` : when(piece);
  });
  return kept === text ? drawn : [drawn, shortText(text.slice(kept.length), 0)];
}

export function diff({ lines }: Shown): Html {
  return html`<pre tabindex="0" dir="auto">${told(lines.join('\n'), 3_000, /^([+-].*)$/m)}</pre>`;
}

const [MOST_ROWS, HIGH, WIDE, GAP] = [100, 100, 24, 6];

/** The first rows, and how many more there are. */
export function grid(heads: readonly string[], rows: readonly (readonly Part[])[], none = 'None yet.'): Html {
  if (rows.length === 0) return html`<p class="dim">${none}</p>`;
  const cell = (one: Part) => html`<div>${typeof one === 'string' ? told(one, 300) : one}</div>`;
  const draw = (one: Part, at: number) => html`<td data-label="${heads[at]}">${(one || one === 0) && cell(one)}</td>`;
  const drawn = rows.slice(0, MOST_ROWS).map((row) => html`<tr>${row.map(draw)}</tr>`);
  const left = rows.length - drawn.length;
  return html`${table(heads, drawn)}${left > 0 && html`<p class="cut">${left} more are not shown here.</p>`}`;
}

/** As the terminal has it; `to`: where the names in the first column lead. */
export function output({ lines, tables, failure }: Shown, to?: string): Html {
  const drawn = tables.map(({ columns, rows }) =>
    grid(columns, to === undefined ? rows : rows.map(([name = '', ...rest]) => [link(to, name), ...rest])),
  );
  const said = lines.length > 0 && html`<p class="lines" dir="auto">${told(lines.join('\n'), 12_000)}</p>`;
  const none = drawn.length === 0 && !said && !failure && html`<p class="dim">None yet.</p>`;
  return html`${drawn}${said}${none}${failure && html`<p class="dim">${failure.message} ${failure.fix}</p>`}`;
}

const ANSWERS = Object.entries({ once: 'Allow once', session: 'Allow in this session', 'denied on the page': 'Deny' });

/** What a turn waits for, with its buttons. */
export function questions(visit: Visit, all: readonly Waiting[]): readonly Html[] {
  return all.map(({ id, session, tool, reason, preview }) => {
    const buttons = ANSWERS.map(([value, label]) => html`<button name="answer" value="${value}">${label}</button> `);
    const head = html`<p><strong>May ${tool} run? ${shortText(reason, 500)}</strong> ${link('sessions', session, 'in its session')}</p>`;
    const body = html`<pre tabindex="0" dir="auto">${shortText(preview, 4_000)}</pre>${form(visit, 'answer', { id }, buttons)}`;
    return html`<div class="question">${head}${body}</div>`;
  });
}

/** `part` of the value is drawn in another colour. */
type Bar = { readonly value: number; readonly part: number; readonly says: string };

/** The table beside it says the same in figures. */
export function chart(title: string, bars: readonly Bar[]): Html {
  const most = Math.max(...bars.map(({ value }) => value), 0) || 1;
  const drawn = bars.map(({ value, part, says }, at) => {
    const rect = (kind: string, size: number) =>
      html`<rect class="${kind}" x="${at * (WIDE + GAP) + GAP}" y="${HIGH - size + 4}" width="${WIDE}" height="${size}"></rect>`;
    return html`<g><title>${says}</title><text x="${at * (WIDE + GAP) + GAP}" y="${HIGH + 14}">${says.slice(5, 10)}</text>${rect('all', (value / most) * HIGH)}${rect('part', (part / most) * HIGH)}</g>`;
  });
  const [wide, low] = [Math.max(bars.length, 12) * (WIDE + GAP) + GAP, HIGH + 4.5];
  const head = html`<title>${title}</title><line x1="0" x2="${wide}" y1="${low}" y2="${low}"></line>`;
  return html`<svg class="chart" viewBox="0 0 ${wide} ${HIGH + 18}" preserveAspectRatio="xMinYMid" role="img" aria-label="${title}">${head}${drawn}</svg>`;
}
