// Owns `sessions list|show|rename|fork`: stored conversations as a person sees them. Knows the store by its contract only.
import { z } from 'zod';
import { isoTime } from '#base/clock.ts';
import type { JsonValue } from '#base/json.ts';
import { ellipsize } from '#base/text.ts';
import { refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { SessionRecord, StoredMessage } from '#core/agent/session-store.ts';
import { findSession } from '../../find-session.ts';
import { refuseNewerHome } from '../../home/newer-home.ts';
import { type CommandDeps, line } from '../command-deps.ts';

const name = z.string().default('last').describe('Session id, its beginning, a part of its title, or `last`');

export function sessionsCommands(deps: CommandDeps): readonly AnyCommand[] {
  return [list(deps), show(deps), rename(deps), fork(deps)];
}

function list(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'sessions list',
    summary: 'List stored sessions, newest first',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    input: z.object({
      limit: z.coerce.number().int().positive().default(20).describe('How many'),
      source: z.string().optional().describe('Only those of this surface: cli, demo, …'),
    }),
    async *run({ limit, source }): AsyncGenerator<CommandOutput> {
      const { store } = await deps.app();
      const sessions = await store.list({ limit, spoken: true, ...(source ? { source } : {}) });
      if (sessions.length === 0) yield line('no session yet');
      else
        yield {
          type: 'table',
          columns: ['session', 'last active', 'source', 'messages', 'model', 'title'],
          rows: sessions.map(rowOf),
        };
      yield { type: 'data', value: sessions as unknown as JsonValue };
    },
  });
}

function show(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'sessions show',
    summary: 'Show the messages of a session',
    surfaces: ['cli', 'chat'],
    readOnly: true,
    positional: ['session'],
    input: z.object({ session: name, full: z.boolean().default(false).describe('Do not shorten long messages') }),
    async *run({ session, full }): AsyncGenerator<CommandOutput> {
      const { store } = await deps.app();
      const found = await findSession(store, session);
      if (!found.ok) {
        yield refused(found.reason, found.detail);
        return;
      }
      const messages = await store.messages(found.value.id);
      yield line(`session ${found.value.id}${found.value.title ? ` · ${found.value.title}` : ''} · ${found.value.cwd}`);
      for (const stored of messages) yield line(messageLine(stored, full ? Number.POSITIVE_INFINITY : 2_000));
      yield { type: 'data', value: { session: found.value, messages } as unknown as JsonValue };
    },
  });
}

function rename(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'sessions rename',
    summary: 'Give a session a title',
    surfaces: ['cli', 'chat'],
    positional: ['session', 'title...'],
    input: z.object({
      session: z.string().describe('Session id, its beginning, or `last`'),
      title: z.array(z.string()).min(1),
    }),
    async *run({ session, title }): AsyncGenerator<CommandOutput> {
      const app = await deps.app();
      refuseNewerHome(app);
      const { store } = app;
      const found = await findSession(store, session);
      if (!found.ok) {
        yield refused(found.reason, found.detail);
        return;
      }
      await store.setTitle(found.value.id, title.join(' '));
      yield line(`${found.value.id} is now "${title.join(' ')}"`);
    },
  });
}

function fork(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'sessions fork',
    summary: 'Start a new session with the messages of another',
    surfaces: ['cli'],
    positional: ['session'],
    input: z.object({ session: name }),
    async *run({ session }): AsyncGenerator<CommandOutput> {
      const app = await deps.app();
      refuseNewerHome(app);
      const { store } = app;
      const found = await findSession(store, session);
      if (!found.ok) {
        yield refused(found.reason, found.detail);
        return;
      }
      const forked = await store.fork(found.value.id);
      yield line(`${forked.id} (go on with: talaria --resume ${forked.id})`);
      yield { type: 'data', value: forked as unknown as JsonValue };
    },
  });
}

function rowOf(session: SessionRecord): readonly string[] {
  return [
    session.id,
    isoTime(session.lastActiveAt).slice(0, 16).replace('T', ' '),
    session.source,
    String(session.messageCount),
    session.model ?? '',
    ellipsize(session.title ?? '', 60),
  ];
}

function messageLine({ id, at, message }: StoredMessage, limit: number): string {
  const who = message.role === 'assistant' ? `assistant (${message.model})` : message.role;
  const parts = message.parts.map((part) => {
    if (part.type === 'tool-call') return `→ ${part.name} ${JSON.stringify(part.arguments)}`;
    if (part.type === 'reasoning') return `(reasoning) ${part.text}`;
    return part.text;
  });
  return `#${id} ${isoTime(at)} ${who}\n${ellipsize(parts.join('\n'), limit)}\n`;
}
