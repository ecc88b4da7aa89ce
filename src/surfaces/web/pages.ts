// Owns the pages themselves, each by its path: what it asks of doors and commands, and how it is drawn. Knows no HTTP and writes nothing.
// Invariants: a page has at most some 100 KB, whatever is stored, and says what it leaves out; it asks for as much as it shows, no more.
import { unescape as decoded } from 'node:querystring';
import { localDate, localMidnight } from '#base/clock.ts';
import { counted, type Html, html, markupOf, money, type Part, share, shortText } from '#base/text/page.ts';
import { plural } from '#base/text.ts';
import type { CostRow, SessionRecord } from '#core/agent/session-store.ts';
import { type ImagePart, imagesIn, type Message, type Part as Piece } from '#core/model/message.ts';
import type { Proposal } from '#mind/evidence/proposal.ts';
import { decodeSealed, SEALED, type SealedRow } from '#mind/sessions/message-rows.ts';
import { isHeld } from '#mind/sessions/session-lease.ts';
import { needSession, selectSessions } from '#mind/sessions/session-rows.ts';
import type { SkillVersion } from '#mind/skills/skill.ts';
import type { PageDesk, Shown } from './desk.ts';
import { chart, diff, form, grid, link, output, type Page, questions, section, type Visit, when } from './frame.ts';

type Draw = (visit: Visit, name: string) => Page | undefined | Promise<Page | undefined>;

const DRAWN: Readonly<Record<string, Draw>> = {
  '': today,
  sessions: (visit, name) => (name === '' ? sessions(visit) : session(visit, name)),
  skills: (visit, name) => (name === '' ? asShown('Skills', 'skills list', 'skills')(visit) : skill(visit, name)),
  memory: asShown('Memory', 'memory why'),
  ...{ pending, schedule, people, costs, doctor },
};

/** Undefined: there is none. */
export async function pageAt(visit: Visit): Promise<Page | undefined> {
  const [, kind = '', name = '', ...rest] = visit.path.split('/');
  const draw = Object.hasOwn(DRAWN, kind) && rest.length === 0 ? DRAWN[kind] : undefined;
  return draw?.(visit, decoded(name));
}

/** A command, as it is. */
function asShown(title: string, name: string, to?: string) {
  return async ({ desk }: Visit): Promise<Page> => {
    return { title, session: null, live: output(await desk.command(name, { offline: true }), to) };
  };
}

function rowsOf<T>({ value }: Shown): readonly T[] {
  return (value ?? []) as unknown as readonly T[];
}

const DAY_MS = 86_400_000;
/** Of the latest spans. */
const FAILED = `SELECT s.id, s.title, l.name, l.detail, l.started_at AS at FROM (SELECT * FROM spans ORDER BY rowid DESC LIMIT 2000) AS l
JOIN sessions s ON s.key = l.session WHERE l.status = 'error' AND l.started_at > ? ORDER BY at DESC LIMIT 15`;

async function today(visit: Visit): Promise<Page> {
  const { desk } = visit;
  const { sessions: store, state } = desk.app.doors;
  const now = desk.app.clock.now();
  const { year, month, day } = localDate(now);
  const since = async (time: number) => totalOf(await store.costs({ since: time }));
  const [cron, drafts] = [await desk.command('cron status'), await desk.command('pending list')];
  const failed = state
    .all<{ id: string; title: string | null; name: string; detail: string | null; at: number }>(FAILED, now - DAY_MS)
    .map(({ id, title, name, detail, at }) => [when(at), name, link('sessions', id, title), detail ?? '']);
  const waits = html`<a href="/pending">${plural(rowsOf(drafts).length, 'draft')}</a> of skills and memories.`;
  const [spent, week] = [await since(localMidnight(year, month, day)), await since(now - 7 * DAY_MS)];
  const live = html`${section('running', 'Running', grid(['Session', 'From', 'State'], openSessions(desk), 'No turn runs.'))}
${section('waits', 'Waits for you', [...questions(visit, desk.waiting()), waits])}
${section('failures', 'Failed in the last day', grid(['When', 'What', 'Session', 'Why'], failed, 'Nothing failed.'))}
${section('cost', 'Cost', html`Today ${spent}, in the last 7 days ${week}: <a href="/costs">all</a>.`)}
${section('jobs', 'Schedule', output(cron))}
${section('latest', 'Latest sessions', sessionTable(await store.list({ limit: 10, spoken: true })))}`;
  return { title: 'Today', live, rest: section('new', 'Begin something', writeBox(visit, '')) };
}

function totalOf(rows: readonly CostRow[]): string {
  const unpriced = rows.reduce((sum, row) => sum + row.unpriced, 0);
  const known = money(rows.reduce((sum, row) => sum + row.cost, 0));
  return `${known}${unpriced > 0 ? ` and ${counted(unpriced, 'call')} without a price` : ''}`;
}

const OPEN = 'WHERE key IN (SELECT session FROM leases) ORDER BY last_active_at DESC LIMIT 50';

/** Those with a turn in this program, and those that another one has open. */
function openSessions({ app, running }: PageDesk) {
  const database = app.doors.state;
  const open = selectSessions(database, OPEN).filter(({ key }) => isHeld(database, key, app.clock));
  const state = (id: string) => (running.has(id) ? 'a turn runs' : 'open');
  return open.map(({ id, title, source }) => [link('sessions', id, title), source, state(id)]);
}

function writeBox(visit: Visit, session: string): Html {
  const box = html`<label for="box">Your message</label><textarea id="box" name="text" required maxlength="100000"></textarea>`;
  return form(visit, 'send', { session }, html`${box}<button>Send</button> <span class="dim">or Ctrl+Enter</span>`);
}

function pageOf(query: URLSearchParams, name: string): number {
  return Math.max(0, Math.trunc(Number(query.get(name))) || 0);
}

function sessionTable(all: readonly SessionRecord[]): Html {
  const rows = all.map((one) => {
    return [link('sessions', one.id, one.title), when(one.lastActiveAt), one.source, one.messageCount, one.model];
  });
  return grid(['Session', 'Last active', 'From', 'Messages', 'Model'], rows);
}

const [PAGE_OF, MOST_SPANS, MOST_VERSIONS, MOST_PENDING, SMALL] = [50, 60, 10, 20, 50_000];
const SPOKEN = 'WHERE message_count > 0 ORDER BY last_active_at DESC, key DESC LIMIT ? OFFSET ?';

async function sessions({ desk, query }: Visit): Promise<Page> {
  const words = (query.get('q') ?? '').trim().slice(0, 500);
  const skip = pageOf(query, 'skip');
  const search = html`<form action="/sessions" role="search"><label for="q">Find what was said</label><input id="q" type="search" name="q" value="${words}"><button>Find</button></form>`;
  if (words !== '') return { title: 'Sessions', live: html`${search}${await found(desk, words)}` };
  const all = selectSessions(desk.app.doors.state, SPOKEN, PAGE_OF + 1, skip);
  const links = more('/sessions', skip, all.length > PAGE_OF ? skip + PAGE_OF : 0);
  return { title: 'Sessions', live: html`${search}${sessionTable(all.slice(0, PAGE_OF))}${links}` };
}

function more(path: string, skip: number, next: number): Html {
  const [older, first] = [html`<a href="${path}?skip=${next}">Older</a> `, html`<a href="${path}">The newest</a>`];
  return html`<p>${next > 0 && older}${skip > 0 && first}</p>`;
}

async function found(desk: PageDesk, words: string): Promise<Html> {
  const store = desk.app.doors.sessions;
  const drawn = (await store.search(words, { limit: PAGE_OF })).map(async ({ sessionId, at, role, snippet }) => {
    const pieces = snippet.slice(0, 1_000).split(/>>>|<<</);
    const marked = pieces.map((text, place) => (place % 2 === 1 ? html`<mark>${text}</mark>` : text));
    return [link('sessions', sessionId, (await store.get(sessionId))?.title), when(at), role, marked];
  });
  return grid(['Session', 'When', 'Who', 'What'], await Promise.all(drawn), 'Nothing was found.');
}

async function session(visit: Visit, id: string): Promise<Page | undefined> {
  const { desk, query } = visit;
  const { sessions: store, state } = desk.app.doors;
  const known = await store.get(id);
  if (!known) return undefined;
  const { source, cwd, startedAt, model, title } = known;
  const [skip, { key }] = [pageOf(query, 'skip'), needSession(state, id)];
  const { drawn, next } = messages(desk, id, key, skip);
  const spans = state.all<Record<string, string>>(SPANS, key, MOST_SPANS).map(Object.values<string>);
  const isElsewhere = isHeld(state, key, desk.app.clock) && !desk.isOurs(id);
  const doing = desk.running.has(id) ? 'a turn runs' : isElsewhere ? 'open in another program' : 'at rest';
  const at = `/sessions/${encodeURIComponent(id)}`;
  const live = html`<p>${doing} · from ${source} · in ${shortText(cwd, 200)} · begun ${when(startedAt)} · ${model ?? 'no model'}</p>
<p>${desk.isOurs(id) && form(visit, 'stop', { session: id }, 'Stop')}${form(visit, 'fork', { session: id }, 'Fork')}
<a href="${at}/export">Markdown</a> · <a href="${at}/export?format=jsonl">JSON lines</a></p>
${section('messages', 'Messages', [more(at, skip, next), ...drawn])}${shortText(desk.faults.get(id) ?? '')}
${questions(visit, desk.waiting(id))}
${folded('spans', 'What it took and cost', [output(await desk.command('cost', { session: id })), grid(['When', 'What', 'ms', 'Cost', 'Status'], spans)])}`;
  const isOwners = await desk.isOwners(known);
  const box = isOwners ? writeBox(visit, id) : 'Somebody else talks here: fork it to go on by yourself.';
  const rest = html`<pre id="stream" aria-live="polite"></pre><div id="end">${box}</div>`;
  return { title: title || id, live, rest, session: id };
}

const SPANS = `SELECT strftime('%Y-%m-%dT%H:%M:%SZ', started_at / 1000, 'unixepoch'), kind || ' ' || name || ' ' || coalesce(extra ->> 'purpose', '') AS what,
CAST(ms AS INTEGER) AS ms, coalesce('$' || round(extra ->> 'cost', 4), '') AS cost, status || ' ' || coalesce(detail, '') AS said FROM spans WHERE session = ? ORDER BY started_at DESC LIMIT ?`;

const [AT_ONCE, MOST_BYTES, LONGEST] = [40, 60_000, 4_000];
/** A row that was put in later stands before its number: the last by number are looked at, and so many more as were ever put in. */
const LATEST = `SELECT ${SEALED} FROM messages m WHERE id IN (SELECT id FROM (SELECT id, seq, place FROM messages
WHERE session = ? AND active = 1 ORDER BY seq DESC LIMIT 1000 + ?) ORDER BY coalesce(place, seq) DESC, seq DESC LIMIT ? OFFSET ?)
ORDER BY coalesce(place, seq) DESC, seq DESC`;

/** The newest that have a place, but `skip`; `next`: what is to be skipped for the older ones, 0 where there are none. */
function messages({ app }: PageDesk, id: string, key: number, skip: number) {
  const { state } = app.doors;
  const rows = state.all<SealedRow>(LATEST, key, skip + AT_ONCE, AT_ONCE + 1, skip);
  const drawn: Html[] = [];
  let bytes = 0;
  for (const row of rows.slice(0, AT_ONCE)) {
    const piece = drawMessage(row.id, row.at, decodeSealed(state, row, id).message);
    bytes += Buffer.byteLength(markupOf(piece));
    if (bytes > MOST_BYTES && drawn.length > 0) break;
    drawn.unshift(piece);
  }
  return { drawn, next: drawn.length < rows.length ? skip + drawn.length : 0 };
}

function drawMessage(id: number, at: number, message: Message): Html {
  const who = message.role === 'assistant' ? `${message.model} ${message.cut ?? ''}` : message.role;
  const parts = (message.parts as readonly Piece[]).map((part, place) => drawPart(part, `m${id}-${place}`));
  const head = html`<h3>${shortText(who, 80)} ${when(at)}</h3>`;
  return html`<div class="message ${message.role}" id="m${id}">${head}${parts}${imagesIn(message).map(picture)}</div>
`;
}

/** Pictures come behind. */
function drawPart(part: Piece, id: string): Html | false {
  if (part.type === 'image') return false;
  const tag = html`<span class="tag ${part.origin}">${part.origin}</span>`;
  const [name, text] = namedText(part);
  const said = html`<div class="said" dir="auto">${shortText(text, LONGEST)}</div>`;
  return name === '' ? html`${tag}${said}` : folded(id, html`${tag}${shortText(name, 80)}`, said);
}

/** What is folded has a name. */
function namedText(part: Exclude<Piece, ImagePart>): readonly [name: string, text: string] {
  if (part.type === 'reasoning') return [part.type, part.text];
  if (part.type === 'text') return [part.label === 'steer' ? '' : (part.label ?? ''), part.text];
  if (part.type === 'tool-result') return [`${part.name}${part.isError ? ': error' : ''}`, part.text];
  return [`→ ${part.name}`, part.malformed ?? JSON.stringify(part.arguments, null, 2)];
}

function folded(id: string, head: Part, body: Part): Html {
  return html`<details id="${id}"><summary>${head}</summary>${body}</details>`;
}

function picture({ hash, mediaType, name = 'picture', width, height }: ImagePart): Html {
  const from = `/pictures/${hash}.${mediaType.replace('image/', '')}`;
  return html`<img loading="lazy" src="${from}" width="${width}" height="${height}" alt="${shortText(name, 100)}">`;
}

async function skill({ desk }: Visit, name: string): Promise<Page | undefined> {
  const all = ['show', 'log', 'why'].map((one) => desk.command(`skills ${one}`, { name }));
  const [text, log, why] = (await Promise.all(all)).map((one) => ({ ...one, shown: output(one) }));
  if (!text || !log || (text.failure && log.failure)) return undefined;
  const newest = rowsOf<SkillVersion>(log).toSorted((a, b) => b.version - a.version);
  const diffs = newest.slice(0, MOST_VERSIONS).map(async ({ version, at, actor, action }) => {
    const changed = await desk.command('skills diff', { name, from: version - 1, to: version });
    const head = html`Version ${version}: ${action} by ${actor}, ${when(at)}`;
    return folded(`v${version}`, head, diff(changed));
  });
  const live = html`${section('text', 'What it says', text.shown)}
${section('versions', 'Versions', [...(await Promise.all(diffs)), log.shown])}${section('why', 'Why', why?.shown)}`;
  return { title: name, live };
}

async function pending(visit: Visit): Promise<Page> {
  const { desk } = visit;
  const all = rowsOf<Proposal>(await desk.command('pending list'));
  const drawn = all.slice(0, MOST_PENDING).map(async ({ id, kind, action, target, actor, createdAt }) => {
    const text = diff(await desk.command('pending show', { id }));
    const buttons = [form(visit, 'pending accept', { id }, 'Accept'), form(visit, 'pending reject', { id }, 'Reject')];
    return section(id, `${action} ${kind} ${target}`, [`by ${actor}, `, when(createdAt), text, buttons]);
  });
  const left = all.length - MOST_PENDING;
  const rest = left > 0 ? `${plural(left, 'more draft')}: talaria pending list has all.` : 'Nothing else waits.';
  return { title: 'Pending', live: html`${await Promise.all(drawn)}<p class="dim">${rest}</p>` };
}

type JobRow = Readonly<Record<'id' | 'name' | 'state' | 'prompt' | 'next_run_at', string>> & {
  readonly schedule: Readonly<Record<'display' | 'zone', string>>;
};

async function schedule(visit: Visit): Promise<Page> {
  const { desk } = visit;
  const [jobs, runs, status] = await Promise.all(['list', 'runs', 'status'].map((one) => desk.command(`cron ${one}`)));
  const rows = (jobs ? rowsOf<JobRow>(jobs) : []).map(({ id: job, name, state, prompt, schedule: at, next_run_at }) => {
    const [act, label] = state === 'active' ? (['cron pause', 'Pause'] as const) : (['cron resume', 'Resume'] as const);
    const acts = [form(visit, act, { job }, label), form(visit, 'cron run', { job }, 'Run now')];
    const what = html`<strong>${shortText(name, 80)}</strong><br>${shortText(prompt, 160)}`;
    return [what, `${at.display} (${at.zone})`, state, when(next_run_at), acts];
  });
  const live = html`${status && output(status)}
${section('jobs', 'Jobs', grid(['Job', 'When', 'State', 'Next', 'Do'], rows))}${section('runs', 'Runs', runs && output(runs))}`;
  return { title: 'Schedule', live };
}

async function people(visit: Visit): Promise<Page> {
  const { desk } = visit;
  const [users, status] = [await desk.command('gateway users'), await desk.command('gateway status')];
  const box = html`<label for="code">The code that somebody was told</label><input id="code" name="code" required><button>Let in</button>`;
  const rest = !users.failure && section('pair', 'Let somebody in', form(visit, 'gateway pair', {}, box));
  const live = html`${section('people', 'People', output(users))}${section('deliveries', 'Deliveries', output(status))}`;
  return { title: 'People and deliveries', live, rest };
}

const LEARNING: ReadonlySet<string> = new Set(['review', 'flush', 'curate', 'dream', 'judge', 'draft']);
const DAYS = [1, 7, 30];
type Day = { readonly day: string; readonly rows: readonly CostRow[] };

async function costs({ desk, query }: Visit): Promise<Page> {
  const days = DAYS.find((one) => one === pageOf(query, 'days')) ?? 7;
  const shown = await desk.command('cost', { days });
  const { days: all = [] } = (shown.value ?? {}) as unknown as { readonly days?: readonly Day[] };
  const isPriced = all.some(({ rows }) => rows.some(({ cost }) => cost > 0));
  const unit = (value: number) => (isPriced ? money(value) : counted(value, 'token'));
  const sum = (rows: readonly CostRow[]) =>
    rows.reduce((total, { cost, usage }) => total + (isPriced ? cost : usage.inputTokens + usage.outputTokens), 0);
  const bars = all.toReversed().map(({ day, rows }) => {
    const [value, part] = [sum(rows), sum(rows.filter(({ purpose }) => LEARNING.has(purpose)))];
    return { value, part, says: `${day}: ${unit(value)}, of it learning ${unit(part)}` };
  });
  const [value, part] = [sum(all.flatMap(({ rows }) => rows)), bars.reduce((total, bar) => total + bar.part, 0)];
  const links = DAYS.map((one) => html`<li><a href="/costs?days=${one}">${plural(one, 'day')}</a></li>`);
  const said = html`Of ${unit(value)} in ${plural(days, 'day')}, <span class="learning">learning</span> took ${unit(part)}: ${share(part, value)}.`;
  const drawn = chart(`${isPriced ? 'Cost' : 'Tokens'} a day, learning in another colour`, bars);
  const top = html`<nav aria-label="How long"><ul>${links}</ul></nav><p>${said}</p>`;
  return { title: 'Costs', live: html`${top}${drawn}${output(shown)}` };
}

async function doctor(visit: Visit): Promise<Page> {
  const { id } = visit.desk.app.doors.state.get<{ id: number | null }>('SELECT max(id) AS id FROM messages') ?? {};
  if ((id ?? 0) < SMALL || visit.query.has('now')) return asShown('Doctor', 'doctor')(visit);
  return { title: 'Doctor', live: html`<p><a href="/doctor?now=1">Look now</a>: it reads all of a large home.</p>` };
}
