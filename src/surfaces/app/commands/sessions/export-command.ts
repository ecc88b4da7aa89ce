// Owns `sessions export`: one session as JSON lines or Markdown, verbatim. Knows the store by its contract only.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { isoTime } from '#base/clock.ts';
import { plural } from '#base/text.ts';
import { refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { SessionRecord, SessionStore, StoredMessage } from '#core/agent/session-store.ts';
import type { Part } from '#core/model/message.ts';
import { findSession } from '../../find-session.ts';
import { type CommandDeps, line } from '../command-deps.ts';

export function exportCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'sessions export',
    summary: 'Write a session as Markdown or JSON lines',
    surfaces: ['cli', 'chat'],
    positional: ['session', 'file'],
    input: z.object({
      session: z.string().default('last').describe('Session id, its beginning, or `last`'),
      file: z.string().optional().describe('File to write; default: standard output'),
      force: z.boolean().default(false).describe('Write over a file that is already there'),
      format: z.enum(['markdown', 'jsonl']).default('markdown').describe('markdown or jsonl'),
    }),
    examples: ['talaria sessions export last notes.md', 'talaria sessions export last --format jsonl'],
    run: async function* (asked, context) {
      yield* writeExport((await deps.app()).store, asked, context.cwd);
    },
  });
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
  { session, file, force, format }: ExportRequest,
  cwd: string,
): AsyncGenerator<CommandOutput> {
  const target = file === undefined ? undefined : resolve(cwd, file);
  if (target !== undefined && !force && existsSync(target)) {
    yield refused('file-exists', `${target} is already there.`, 'Name another file, or add --force to write over it.');
    return;
  }
  const found = await findSession(store, session);
  if (!found.ok) {
    yield refused(found.reason, found.detail);
    return;
  }
  const messages = await store.messages(found.value.id);
  const text = format === 'jsonl' ? asJsonLines(found.value, messages) : asMarkdown(found.value, messages);
  if (target === undefined) yield line(text);
  else {
    atomicWrite(target, `${text}\n`);
    yield line(`${target} (${plural(messages.length, 'message')})`);
  }
}

function asJsonLines(session: SessionRecord, messages: readonly StoredMessage[]): string {
  return [session, ...messages].map((row) => JSON.stringify(row)).join('\n');
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
  if (part.type === 'tool-result') return fenced(part.text);
  return part.type === 'reasoning' ? `> ${part.text.replaceAll('\n', '\n> ')}` : part.text;
}

/** A fence longer than any inside. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
