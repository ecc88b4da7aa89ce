// Owns what is made of the owner's words: counts, and what the small tier proposes and the evidence gate lets pass. Knows no surface.
// Invariants: only his own words in sessions of his count, each message once; nothing inferred is kept that rests on fewer than two
// messages of two sessions, holds a secret, or was not judged supported; a model is asked once a day at most, within learning's budget.
import { z } from 'zod';
import { localDate } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { sha256 } from '#base/ids.ts';
import { parseJson } from '#base/json.ts';
import { redactSecrets } from '#base/secrets.ts';
import { splitWords } from '#base/text/words.ts';
import { estimateTokens, oneLine } from '#base/text.ts';
import { programName, unwrapCommand } from '#core/tools/risk/call.ts';
import { lexScript } from '#core/tools/risk/lex-script.ts';
import { checkCited } from '#mind/evidence/gate/gate-proposal.ts';
import { isCorrection } from '#mind/learning/learning.rules.ts';
import { readBudget } from '#mind/learning/learning-budget.ts';
import { ownerWords } from '#mind/learning/read-turns.ts';
import { learningSettings } from '#mind/learning/room.ts';
import { lastMessages, type ToldSession, toldSessions } from '#mind/sessions/told-messages.ts';
import { type Desk, markOf, type Row, rowsOf, sessionsOf, WINDOW_MS, write } from './known.ts';

/** A line of the owner, or what `ran` well in a turn of his. */
type Heard = Readonly<Record<'id' | 'at', number> & Record<'handle' | 'text', string>> & { readonly ran: boolean };
type Rows = Readonly<Record<string, Row>>;

const [DAY_MS, MOST_SESSIONS, MOST_MESSAGES, MOST_HANDLES, LEAST, MOST_ANSWER] = [86_400_000, 60, 100, 12, 20, 2_000];

/** Once a day; a model only when enough is new. */
export async function look(desk: Desk, signal: AbortSignal): Promise<void> {
  const now = desk.ground.clock.now();
  if (now - markOf(desk, 'look') < DAY_MS) return;
  await write(desk, { look: now });
  const said = (await count(desk)).filter(({ ran }) => !ran);
  if (said.filter(({ at }) => at > markOf(desk, 'review')).length >= LEAST) await infer(desk, said, signal);
}

/** What needs no model. */
export async function count(desk: Desk): Promise<readonly Heard[]> {
  const since = desk.ground.clock.now() - WINDOW_MS;
  const told = toldSessions(desk.state, since).filter(({ source }) => !desk.deaf.has(source));
  const newest = told.sort((a, b) => b.lastActiveAt - a.lastActiveAt).slice(0, MOST_SESSIONS);
  const heard = newest.flatMap((session) => heardIn(desk.state, session, since)).sort((a, b) => a.id - b.id);
  const rows = counted(desk, heard);
  // Where he was silent for long, the last counts fade.
  const isOver = ({ id, by }: Row) => by === 'count' && heard.length > 0 && !Object.hasOwn(rows, id);
  const over = rowsOf(desk).filter(isOver);
  await write(desk, rows, over);
  return heard;
}

const RAN = [
  "SELECT m.id, m.at, t.arguments ->> '$.command' AS script FROM tool_calls t JOIN messages m ON m.id = t.message_id",
  'WHERE t.session = ? AND m.at >= ? AND t.exit_code = 0 AND (m.active = 1 OR m.compacted = 1) AND m.copy_of IS NULL',
  'ORDER BY m.id DESC LIMIT 100',
].join(' ');

/** Of one session; nothing where the owner says nothing. What a fork copied was said elsewhere. */
function heardIn(state: Database, { key, id: session }: ToldSession, since: number): readonly Heard[] {
  const copied = state.all<{ id: number }>('SELECT id FROM messages WHERE session = ? AND copy_of > 0', key);
  const skipped = new Set(copied.map(({ id }) => id));
  const told = lastMessages(state, session, MOST_MESSAGES).filter(({ id, at }) => at >= since && !skipped.has(id));
  const said = told.map(({ id, at, message }) => ({ id, at, text: ownerWords(message), ran: false }));
  const own = said.filter(({ text }) => text !== '');
  const calls = own.length > 0 ? state.all<{ id: number; at: number; script: string }>(RAN, key, since) : [];
  const ran = calls.flatMap(({ id, at, script }) => programsIn(script).map((text) => ({ id, at, text, ran: true })));
  return [...own, ...ran].map((one) => ({ ...one, handle: `${session}#${one.id}` }));
}

/** Each once. */
function programsIn(script: string): readonly string[] {
  const names = lexScript(script).commands.map(({ words }) => programName(unwrapCommand(words).words[0]?.text ?? ''));
  return [...new Set(names)].filter((name) => /^(?!(?:cd|echo|true|false|test|set|exit|sleep)$)[\w.+-]+$/.test(name));
}

const rowId = (dimension: string, key: string) => sha256(`${dimension}\n${key.toLowerCase()}`).slice(0, 8);

/** Of what was heard, and of rows that were there. */
function rowOf(dimension: string, value: string, on: readonly Heard[], rows: readonly Row[] = []): Row {
  const handles = [...new Set([...rows.flatMap((row) => row.handles), ...on.map(({ handle }) => handle)])];
  const times = [...on.map(({ at }) => at), ...rows.flatMap((row) => [row.first_seen, row.last_seen])];
  const seen = { first_seen: Math.min(...times), last_seen: Math.max(...times), sessions: sessionsOf(handles) };
  return { id: rowId(dimension, value), dimension, value, handles, ...seen, by: 'model' };
}

/** By id. */
function counted(desk: Desk, heard: readonly Heard[]): Rows {
  const said = heard.filter(({ ran }) => !ran);
  const rows: Record<string, Row> = {};
  const add = (dimension: string, key: string, all: readonly Heard[], say: (on: readonly Heard[]) => string) => {
    const id = rowId(dimension, key);
    const on = all.filter(({ at }) => at > markOf(desk, `not ${id}`));
    const row = rowOf(dimension, say(on), on);
    if (said.length < LEAST || on.length < 3 || row.sessions < 2) return;
    rows[id] = { ...row, id, handles: row.handles.slice(-MOST_HANDLES), by: 'count' };
  };
  const corrections = said.filter(({ text }) => isCorrection(text));
  add('work rhythm', '', said, (on) => `hours ${often(on, 'hour')}, days ${often(on, 'weekday')}`);
  add('communication style', '', said, (on) => {
    const lengths = on.map(({ text }) => splitWords(text).length).sort((a, b) => a - b);
    return `half of the lines have ${lengths[on.length >> 1]} words or fewer`;
  });
  add('feedback style', '', corrections, (on) => {
    const plain = on.filter(({ text }) => /^(?:no|nope|wrong|stop|wait)\b/i.test(text)).length;
    return `corrects ${on.length} of ${said.length} lines: ${plain} say no, ${on.length - plain} say what instead`;
  });
  for (const [name, all] of Map.groupBy(said, languageOf))
    if (name) add('language', name, all, (on) => `${name} in ${on.length} of ${said.length} lines`);
  for (const [name, all] of Map.groupBy(heard, ({ ran, text }) => (ran ? text : '')))
    if (name) add('tools', name, all, (on) => `${name}, ended well ${on.length} times`);
  return rows;
}

/** What a tenth of the lines has. */
function often(on: readonly Heard[], part: 'hour' | 'weekday'): string {
  const found = [...Map.groupBy(on, ({ at }) => localDate(at)[part])].sort(([a], [b]) => a - b);
  const most = found.filter(([, list]) => list.length * 10 >= on.length).map(([value]) => value);
  return most.map((value) => (part === 'hour' ? value : 'Sun Mon Tue Wed Thu Fri Sat'.split(' ')[value])).join(' ');
}

/** Letters of a script, or stop words, behind what they show. */
const LANGUAGES: readonly (readonly [name: string, marks: RegExp])[] = [
  ...['Cyrillic', 'Arabic', 'Hebrew', 'Greek', 'Hangul', 'Hiragana', 'Devanagari', 'Thai', 'Han'].map(
    (script) => [script, new RegExp(`\\p{sc=${script}}`, 'gu')] as const,
  ),
  ['English', /\b(?:the|and|is|of|to|it|you|that|for|with|this)\b/gi],
  ['German', /\b(?:der|die|das|und|ist|nicht|ich|ein|mit|auf|bitte)\b/gi],
  ['French', /\b(?:le|la|les|et|est|une|des|que|pour|pas|dans)\b/gi],
  ['Spanish', /\b(?:el|los|las|y|es|una|que|por|con|para)\b/gi],
];

/** Empty: it does not show. */
function languageOf({ text }: Heard): string {
  const hits = LANGUAGES.map(([name, marks]) => ({ name, count: text.slice(0, 200).match(marks)?.length ?? 0 }));
  const [best, next] = hits.sort((a, b) => b.count - a.count);
  return best && best.count > Math.max(1, next?.count ?? 0) ? best.name : '';
}

const INFERRED =
  'technical level,domains,tools,communication style,goals,constraints,decision style,feedback style,preferences';
const proposal = z.object({
  dimension: z.enum(INFERRED.split(',')),
  value: z.string().transform((text) => oneLine(text, 160)),
  quotes: z.array(z.object({ message: z.coerce.number(), text: z.string() })),
  contradicts: z.string().default(''),
});

const PROMPT = [
  'Below are lines that one person, the owner, typed in several sessions. Say what lasts about him, for an assistant of his.',
  'Answer with a JSON list and nothing else, [] where nothing is plain, of',
  '{"dimension": "…", "value": "…", "quotes": [{"message": 12, "text": "words copied exactly"}], "contradicts": "id or value"}',
  `dimension: one of ${INFERRED}.`,
  'value: a short sentence, no surer than it was said; no secret, no mood, nothing of one errand. To confirm a row, repeat it.',
  'quotes: of two messages or more, in two sessions or more, each of which says it.',
  'contradicts: only where it and a known row, or another value of the list, cannot both be true.',
].join('\n');

async function infer(desk: Desk, said: readonly Heard[], signal: AbortSignal): Promise<void> {
  const { ground } = desk;
  const rows = rowsOf(desk).filter(({ by, between }) => by === 'model' && !between);
  const known = rows.map(({ id, dimension, value }) => `${id} ${dimension}: ${value}`);
  const newest = said.slice(-200);
  const lines = newest.map(({ handle, text }) => `${handle.replace('#', ' message ')}: ${oneLine(text, 400)}`);
  const text = ['Known rows:', ...known, 'Sessions, messages, lines:', ...lines].join('\n');
  const { enabled, budget, ...rest } = (await ground.settings()).section('learning', learningSettings);
  const rules = { ...budget, share: rest.budget_share, floorPerDay: rest.budget_floor };
  const { left } = await readBudget(await ground.door('sessions'), ground.clock.now(), rules);
  const judge = await ground.door('judge');
  if (!enabled || !judge.isThere() || left < estimateTokens(PROMPT + text) + MOST_ANSWER) return;
  await write(desk, { review: ground.clock.now() });
  const wish = { purpose: 'review', tier: 'T1', tools: [], maxSteps: 1, maxOutputTokens: MOST_ANSWER } as const;
  let answer = '';
  for await (const event of (await ground.open()).runTurn({ ...wish, system: PROMPT, text }, signal))
    if (event.type === 'turn-end') answer = event.text;
  const list = parseJson(/\[[\s\S]*\]/.exec(answer)?.[0] ?? '');
  const items =
    list.ok && Array.isArray(list.value) ? list.value.flatMap((item) => proposal.safeParse(item).data ?? []) : [];
  const passed = items.flatMap((item) => gated(desk, item, newest));
  const claims = passed.map(({ row, on }, at) => ({
    id: `${at}`,
    text: row.value,
    sources: on.map(({ id }) => `${id}`),
  }));
  const sources = newest.map(({ id, text: line }) => ({ id: `${id}`, origin: 'owner' as const, text: line }));
  const verdicts = await judge.judge(claims, sources, { task: 'keep', subject: 'user' }, signal);
  const good = passed.filter((_, at) => verdicts[at]?.verdict === 'supported');
  await write(desk, Object.fromEntries(good.map(({ row }) => [row.id, row])));
  for (const { row, against } of good) await write(desk, contradiction(row, against.toLowerCase(), rowsOf(desk)));
}

/** By rule: none or one. What the owner took away needs newer words. */
function gated(desk: Desk, asked: z.infer<typeof proposal>, said: readonly Heard[]) {
  const { dimension, value, quotes, contradicts: against } = asked;
  const open = said.filter(({ at }) => at > markOf(desk, `not ${dimension}`));
  const entries = open.map(({ id, text }) => ({ handle: `${id}`, texts: [{ text, origin: 'owner' as const }] }));
  const citations = quotes.map(({ message, text }) => ({ handle: `${message}`, quote: text }));
  const on = open.filter(({ id }) => quotes.some(({ message }) => message === id));
  const before = rowsOf(desk).filter(({ id }) => id === rowId(dimension, value));
  const row = rowOf(dimension, value, on, before);
  const { accepted } = checkCited(entries, { id: row.id, text: value, citations }, { origins: ['owner'] });
  const isSecret = [value, ...on.map(({ text }) => text)].some(
    (text) => redactSecrets(desk.ground.redact(text)) !== text,
  );
  return accepted && !isSecret && row.sessions > 1 ? [{ row, on, against }] : [];
}

/** With what was kept: none or one. */
function contradiction(row: Row, named: string, rows: readonly Row[]): Rows {
  const isMeant = ({ id, value }: Row) => id !== row.id && (id === named || value.toLowerCase() === named);
  const other = rows.find((one) => one.by === 'model' && !one.between && isMeant(one));
  if (other === undefined) return {};
  const pair = [other, row].sort((a, b) => a.first_seen - b.first_seen);
  const made = rowOf('contradictions', pair.map(({ value }) => `"${value}"`).join(' against '), [], pair);
  return { [made.id]: { ...made, between: pair.map(({ id }) => id) } };
}
