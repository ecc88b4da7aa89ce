// Owns the commands on stored conversations, as a person sees them: `sessions list|show|search|rename|fork|export` and `trace`, verbatim.
// Knows the store by its contract only, and no ranking.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { isoTime, parseTime } from '#base/clock.ts';
import type { JsonValue } from '#base/json.ts';
import { ellipsize, plural } from '#base/text.ts';
import {
  type AnyCommand,
  type CommandOutput,
  defineCommand,
  line,
  refused,
  wrongUse,
} from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import type { SessionRecord, SessionStore, Span, StoredMessage } from '#core/agent/session-store.ts';
import { imageNote, type Part } from '#core/model/message.ts';
import { findSession } from './find-session.ts';
import type { SqliteSessionStore } from './sqlite-session-store.ts';
import { allTrajectories, type TrajectoryFilter, trajectoryOf } from './trajectories.ts';

const name = z.string().default('last').describe('Session id, its beginning, a part of its title, or `last`');
const READS = { surfaces: ['cli', 'chat'], readOnly: true } as const;

export function sessionCommands(ground: Ground): readonly AnyCommand[] {
  return [list, show, rename, fork, search, exported, trace].map((command) => command(ground));
}

/** What `work` says of the session that a person named, or why there is none. */
async function* ofSession(
  store: SessionStore,
  named: string,
  work: (session: SessionRecord) => AsyncIterable<CommandOutput>,
): AsyncGenerator<CommandOutput> {
  const found = await findSession(store, named);
  if (found.ok) yield* work(found.value);
  else yield refused(found.reason, found.detail);
}

function data(value: unknown): CommandOutput {
  return { type: 'data', value: value as JsonValue };
}

function minuteOf(at: number): string {
  return isoTime(at).slice(0, 16).replace('T', ' ');
}

function list(ground: Ground): AnyCommand {
  return defineCommand({
    name: 'sessions list',
    summary: 'List stored sessions, newest first',
    ...READS,
    input: z.object({
      limit: z.coerce.number().int().positive().default(20).describe('How many'),
      source: z.string().optional().describe('Only those of this surface: cli, demo, …'),
    }),
    async *run({ limit, source }): AsyncGenerator<CommandOutput> {
      const store = await ground.door('sessions');
      const sessions = await store.list({ limit, spoken: true, ...(source ? { source } : {}) });
      const columns = ['session', 'last active', 'source', 'messages', 'model', 'title'];
      if (sessions.length === 0) yield line('no session yet');
      else yield { type: 'table', columns, rows: sessions.map(rowOf) };
      yield data(sessions);
    },
  });
}

function rowOf({ id, lastActiveAt, source, messageCount, model, title }: SessionRecord): readonly string[] {
  return [id, minuteOf(lastActiveAt), source, String(messageCount), model ?? '', ellipsize(title ?? '', 60)];
}

function show(ground: Ground): AnyCommand {
  return defineCommand({
    name: 'sessions show',
    summary: 'Show the messages of a session',
    ...READS,
    positional: ['session'],
    input: z.object({ session: name, full: z.boolean().default(false).describe('Do not shorten long messages') }),
    async *run({ session: named, full }): AsyncGenerator<CommandOutput> {
      const store = await ground.door('sessions');
      yield* ofSession(store, named, async function* (session) {
        const messages = await store.messages(session.id);
        yield line(`session ${session.id}${session.title ? ` · ${session.title}` : ''} · ${session.cwd}`);
        for (const stored of messages) yield line(messageLine(stored, full ? Number.POSITIVE_INFINITY : 2_000));
        yield data({ session, messages });
      });
    },
  });
}

function messageLine({ id, at, message }: StoredMessage, limit: number): string {
  const who = message.role === 'assistant' ? `assistant (${message.model})` : message.role;
  const parts = message.parts.map((part) => {
    if (part.type === 'tool-call') return `→ ${part.name} ${JSON.stringify(part.arguments)}`;
    if (part.type === 'reasoning') return `(reasoning) ${part.text}`;
    return part.type === 'image' ? imageNote(part) : part.text;
  });
  return `#${id} ${isoTime(at)} ${who}\n${ellipsize(parts.join('\n'), limit)}\n`;
}

function rename(ground: Ground): AnyCommand {
  return defineCommand({
    name: 'sessions rename',
    summary: 'Give a session a title',
    surfaces: ['cli', 'chat'],
    positional: ['session', 'title...'],
    input: z.object({
      session: z.string().describe('Session id, its beginning, or `last`'),
      title: z.array(z.string()).min(1),
    }),
    async *run({ session, title: words }): AsyncGenerator<CommandOutput> {
      await ground.writable();
      const store = await ground.door('sessions');
      const title = words.join(' ');
      yield* ofSession(store, session, async function* ({ id }) {
        await store.setTitle(id, title);
        yield line(`${id} is now "${title}"`);
      });
    },
  });
}

function fork(ground: Ground): AnyCommand {
  return defineCommand({
    name: 'sessions fork',
    summary: 'Start a new session with the messages of another',
    surfaces: ['cli'],
    positional: ['session'],
    input: z.object({ session: name }),
    async *run({ session }): AsyncGenerator<CommandOutput> {
      await ground.writable();
      const store = await ground.door('sessions');
      yield* ofSession(store, session, async function* ({ id }) {
        const forked = await store.fork(id);
        yield line(`${forked.id} (go on with: talaria --resume ${forked.id})`);
        yield data(forked);
      });
    },
  });
}

function search(ground: Ground): AnyCommand {
  return defineCommand({
    name: 'sessions search',
    summary: 'Find what was said, by plain words',
    ...READS,
    positional: ['words...'],
    input: z.object({
      words: z.array(z.string()).min(1).describe('A question in plain words'),
      limit: z.coerce.number().int().positive().max(100).default(10).describe('How many'),
    }),
    examples: ['talaria sessions search what did we decide about the port'],
    async *run({ words, limit }): AsyncGenerator<CommandOutput> {
      const store = await ground.door('sessions');
      const hits = await store.search(words.join(' '), { limit });
      if (hits.length === 0) yield line('nothing found');
      for (const { sessionId, messageId, at, role, snippet } of hits) {
        const title = (await store.get(sessionId))?.title;
        yield line(`${sessionId} #${messageId} ${minuteOf(at)} ${role}${title ? ` · ${title}` : ''}`);
        yield line(`  ${readable(snippet)}`);
      }
      yield data(hits);
    },
  });
}

/** On one line, without the marks around the words that were found: those are for programs. */
function readable(snippet: string): string {
  return snippet.replace(/>>>([\s\S]*?)<<</g, '$1').replaceAll('\n', ' ');
}

function exported(ground: Ground): AnyCommand {
  return defineCommand({
    name: 'sessions export',
    summary: 'Write a session as Markdown or JSON lines',
    surfaces: ['cli', 'chat'],
    positional: ['session', 'file'],
    input: z.object({
      session: z.string().default('last').describe('Session id, its beginning, or `last`'),
      file: z.string().optional().describe('File to write; default: standard output'),
      force: z.boolean().default(false).describe('Write over a file that is already there'),
      format: z.enum(['markdown', 'jsonl', 'sharegpt', 'openai']).default('markdown').describe(FORMATS),
      all: z.boolean().default(false).describe('Every session; for sharegpt and openai, the file comes first then'),
      since: z.string().optional().describe('With --all: only those since this time (ISO)'),
      source: z.string().optional().describe('With --all: only those of this surface: cli, telegram, …'),
      completed: z.boolean().default(false).describe('With --all: only those that ended with an answer'),
      others: z.boolean().default(false).describe('With --all: also those that others than you began'),
    }),
    examples: ['talaria sessions export last notes.md', 'talaria sessions export --all --format sharegpt data.jsonl'],
    run: async function* ({ format, ...asked }, { cwd }) {
      const store = await ground.door('sessions');
      if (format === 'markdown' || format === 'jsonl') yield* writeExport(store, { ...asked, format }, cwd);
      else yield* writeTrajectories(store, { ...asked, format }, cwd);
    },
  });
}

const FORMATS = 'markdown, jsonl, or lines of training data: sharegpt, openai';

interface TrajectoryRequest extends Omit<ExportRequest, 'format'>, Omit<TrajectoryFilter, 'since'> {
  readonly all: boolean;
  readonly since?: string | undefined;
}

async function* writeTrajectories(
  store: SqliteSessionStore,
  { all, format, since, force, ...asked }: TrajectoryRequest,
  cwd: string,
): AsyncGenerator<CommandOutput> {
  const from = parseTime(since ?? '1970-01-01');
  if (from === undefined) return yield wrongUse('unreadable', `${since} is no time`, 'Say e.g. 2026-01-31.');
  const found = all ? undefined : await findSession(store, asked.session);
  if (found?.ok === false) return yield refused(found.reason, found.detail);
  const lines = found
    ? [await trajectoryOf(store, found.value, format)]
    : await allTrajectories(store, { ...asked, since: from, format });
  if (lines.length === 0) return yield refused('no-such-session', 'No session fits that.');
  // With --all there is no session to name: the first word is the file.
  const file = all && asked.session !== 'last' ? asked.session : asked.file;
  const target = resolve(cwd, file ?? '.');
  if (file === undefined) return yield line(lines.join('\n'));
  if (!force && existsSync(target)) return yield alreadyThere(target);
  atomicWrite(target, lines.map((one) => `${one}\n`).join(''));
  yield line(`${target} (${plural(lines.length, 'session')})`);
}

function alreadyThere(path: string): CommandOutput {
  return refused('file-exists', `${path} is already there.`, 'Name another file, or add --force to write over it.');
}

export interface ExportRequest {
  readonly session: string;
  /** Absent: it is printed. */
  readonly file?: string | undefined;
  readonly force: boolean;
  readonly format: 'markdown' | 'jsonl';
}

export async function* writeExport(
  store: SessionStore,
  { session: named, file, force, format }: ExportRequest,
  cwd: string,
): AsyncGenerator<CommandOutput> {
  const target = file === undefined ? undefined : resolve(cwd, file);
  if (target !== undefined && !force && existsSync(target)) return yield alreadyThere(target);
  yield* ofSession(store, named, async function* (session) {
    const messages = await store.messages(session.id);
    const rows = [session, ...messages].map((row) => JSON.stringify(row));
    const text = format === 'jsonl' ? rows.join('\n') : asMarkdown(session, messages);
    if (target === undefined) yield line(text);
    else {
      atomicWrite(target, `${text}\n`);
      yield line(`${target} (${plural(messages.length, 'message')})`);
    }
  });
}

function asMarkdown(session: SessionRecord, messages: readonly StoredMessage[]): string {
  const head = `# ${session.title ?? session.id}\n\n${session.id} · ${isoTime(session.startedAt)} · ${session.cwd}`;
  const blocks = messages.map(({ id, at, message }) => {
    const who = message.role === 'assistant' ? message.model : message.role;
    return `## ${who} · #${id} · ${isoTime(at)}\n\n${message.parts.map(partText).join('\n\n')}`;
  });
  return [head, ...blocks].join('\n\n');
}

function partText(part: Part): string {
  if (part.type === 'tool-call') return fenced(`${part.name} ${JSON.stringify(part.arguments, null, 2)}`);
  if (part.type === 'image') return imageNote(part);
  if (part.type === 'tool-result') return fenced(part.text);
  return part.type === 'reasoning' ? `> ${part.text.replaceAll('\n', '\n> ')}` : part.text;
}

/** A fence longer than any inside. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

function trace(ground: Ground): AnyCommand {
  return defineCommand({
    name: 'trace',
    summary: 'Show each model call and tool of a session: time, cost',
    ...READS,
    positional: ['session'],
    input: z.object({ session: z.string().default('last').describe('Session id, its beginning, or `last`') }),
    examples: ['talaria trace', 'talaria trace 20260115_120000_ab12cd'],
    async *run({ session }): AsyncGenerator<CommandOutput> {
      const store = await ground.door('sessions');
      yield* ofSession(store, session, async function* ({ id }) {
        const spans = await store.spans(id);
        yield line(`session ${id}`);
        const columns = ['turn', 'what', 'start', 'ms', 'tokens', 'cost', 'purpose', 'status'];
        yield { type: 'table', columns, rows: spanRows(spans) };
        yield data({ session: id, spans });
      });
    },
  });
}

function spanRows(spans: readonly Span[]): readonly (readonly string[])[] {
  const depths = new Map<string, number>();
  return spans
    .toSorted((a, b) => a.startedAt - b.startedAt)
    .map((span) => {
      const { id, parentId, turn, startedAt, ms, usage, cost, purpose, status, detail } = span;
      const depth = parentId === undefined ? 0 : (depths.get(parentId) ?? 0) + 1;
      depths.set(id, depth);
      const tokens = usage ? `${usage.inputTokens} in (${usage.cachedTokens} cached), ${usage.outputTokens} out` : '';
      return [
        ...[String(turn), `${'  '.repeat(depth)}${labelOf(span)}`, isoTime(startedAt), String(Math.round(ms)), tokens],
        ...[cost === undefined ? '' : dollars(cost), purpose ?? '', detail ? `${status}: ${detail}` : status],
      ];
    });
}

/** The name of a turn or a step already says what it is. */
function labelOf({ kind, name: own }: Span): string {
  return own.startsWith(kind) ? own : `${kind} ${own}`;
}

/** `unknown` for a price that is not in the table, never zero. */
export function dollars(cost: number | null): string {
  return cost === null ? 'unknown' : `$${cost.toFixed(cost > 0 && cost < 0.01 ? 6 : 4)}`;
}
