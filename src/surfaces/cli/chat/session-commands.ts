// Owns what the chat's own commands may do to the chat, and those on its session: new, resume, retry, title, export, copy, status. Knows no screen.
// Invariant: nothing is overwritten or taken back without a line that says so.
import { z } from 'zod';
import { shownPath } from '#base/paths/typed-path.ts';
import { plural } from '#base/text.ts';
import { type AnyCommand, type CommandOutput, defineCommand, line, refused } from '#core/agent/command-spec.ts';
import type { Conversation } from '#core/agent/conversation.ts';
import { messageText, type UserPart } from '#core/model/message.ts';
import { writeExport } from '#mind/sessions/commands.ts';
import type { App } from '#surfaces/app/app.ts';
import { wallsLine } from '#surfaces/app/walls.ts';
import { askTrust } from '../ask-at-shell.ts';
import { formatCost, plain } from '../terminal-text.ts';

export function sessionCommands(chat: ChatControl): readonly AnyCommand[] {
  return [
    newCommand(chat),
    resumeCommand(chat),
    retryCommand(chat),
    titleCommand(chat),
    exportSessionCommand(chat),
    copyCommand(chat),
    statusCommand(chat),
  ];
}

export const nothingSaid = () =>
  refused('nothing-said', 'Nothing was said in this session yet.', 'Say something first.');

export function spoken({ conversation }: ChatControl): Conversation | undefined {
  return conversation && conversation.history.length > 0 ? conversation : undefined;
}

function newCommand(chat: ChatControl): AnyCommand {
  return defineCommand({
    name: 'new',
    summary: 'start a new session; /resume goes back',
    surfaces: ['chat'],
    input: z.object({}),
    run: async function* (_input, { ask }) {
      const before = spoken(chat)?.session.id;
      const leftOut = await askTrust(chat.app, ask);
      if (leftOut !== undefined) yield line(leftOut);
      const problem = await chat.startNew();
      const back = before === undefined ? '' : ` · the one before is kept: /resume ${before}`;
      yield problem ?? line(`new session ${chat.conversation?.session.id ?? ''}${back}`);
    },
  });
}

function resumeCommand(chat: ChatControl): AnyCommand {
  return defineCommand({
    name: 'resume',
    summary: 'go on with an earlier session: /resume ID, or the last one',
    surfaces: ['chat'],
    input: z.object({ id: z.string().optional().describe('session id as /sessions shows it') }),
    positional: ['id'],
    run: async function* ({ id }) {
      const current = chat.conversation?.session.id;
      const recent = await chat.app.doors.sessions.list({ limit: 20, cwd: chat.app.environment.cwd });
      const target = id ?? recent.find((session) => session.id !== current && session.messageCount > 0)?.id;
      if (target === undefined) {
        yield refused(
          'no-such-session',
          'There is no earlier session of this folder.',
          '/sessions lists those of all folders.',
        );
        return;
      }
      const problem = await chat.resume(target);
      yield problem ??
        line(
          `in session ${chat.conversation?.session.id ?? ''}, ${chat.conversation?.history.length ?? 0} messages so far`,
        );
    },
  });
}

function retryCommand(chat: ChatControl): AnyCommand {
  return defineCommand({
    name: 'retry',
    summary: 'take the last turn back and send your line again',
    surfaces: ['chat'],
    input: z.object({}),
    run: async function* () {
      if (chat.isRunning) {
        yield refused('turn-running', 'A turn is running in this session.', 'Ctrl-C stops it; then type /retry.');
        return;
      }
      const taken = await chat.conversation?.takeBackTurn();
      if (!taken) {
        yield refused('nothing-said', 'There is no line of yours that could be sent again.', 'Say something first.');
        return;
      }
      const stays = taken.acted ? '; what its tools did stays done' : '';
      yield line(`the last turn is taken back and sent again${stays}`);
      chat.submit(taken.text, taken.extra);
    },
  });
}

function titleCommand(chat: ChatControl): AnyCommand {
  return defineCommand({
    name: 'title',
    summary: 'show the title of this session, or set it: /title TEXT',
    surfaces: ['chat'],
    positional: ['text...'],
    input: z.object({ text: z.array(z.string()).default([]).describe('the new title') }),
    run: async function* ({ text }) {
      const id = chat.conversation?.session.id ?? '';
      const title = text.join(' ').trim();
      if (title !== '') {
        await chat.app.doors.sessions.setTitle(id, title);
        yield line(`${id} is now "${title}"`);
        return;
      }
      const present = (await chat.app.doors.sessions.get(id))?.title;
      yield line(present ?? 'no title yet: the first line gives it, or /title TEXT');
    },
  });
}

function exportSessionCommand(chat: ChatControl): AnyCommand {
  return defineCommand({
    name: 'export',
    summary: 'write this session to a file in this folder: /export FILE',
    surfaces: ['chat'],
    positional: ['file'],
    input: z.object({
      file: z.string().optional().describe('default: talaria-SESSION.md in this folder'),
      force: z.boolean().default(false).describe('write over a file that is already there'),
      format: z.enum(['markdown', 'jsonl']).default('markdown').describe('markdown or jsonl'),
    }),
    run: async function* ({ file, ...how }, { cwd }) {
      const session = spoken(chat)?.session.id;
      if (session === undefined) {
        yield nothingSaid();
        return;
      }
      const named = file ?? `talaria-${session}.${how.format === 'jsonl' ? 'jsonl' : 'md'}`;
      const target = named.replace(/^~(?=\/)/, () => chat.app.environment.userHome);
      yield* writeExport(chat.app.doors.sessions, { session, file: target, ...how }, cwd);
    },
  });
}

function copyCommand(chat: ChatControl): AnyCommand {
  return defineCommand({
    name: 'copy',
    summary: 'put the last answer on the clipboard, also over ssh',
    surfaces: ['chat'],
    input: z.object({}),
    run: async function* () {
      const answer = chat.conversation?.history.findLast(
        (message) => message.role === 'assistant' && messageText(message) !== '',
      );
      if (!answer) {
        yield refused('no-answer', 'There is no answer in this session yet.', 'Say something first.');
        return;
      }
      if (!chat.writeTerminal) {
        yield refused(
          'no-screen',
          'The clipboard is reached through the screen of the chat alone.',
          'Start `talaria` at a terminal, without --plain.',
        );
        return;
      }
      const text = plain(messageText(answer));
      chat.writeTerminal(`\u001b]52;c;${Buffer.from(text, 'utf8').toString('base64')}\u0007`);
      const held =
        chat.app.environment.variables.TMUX === undefined ? '' : '; tmux lets it through with: set -g set-clipboard on';
      yield line(`copied ${plural([...text].length, 'character')}${held}`);
    },
  });
}

function statusCommand(chat: ChatControl): AnyCommand {
  return defineCommand({
    name: 'status',
    summary: 'show model, session, context, cost, approvals, home',
    surfaces: ['chat'],
    input: z.object({}),
    run: async function* () {
      const rows = await statusRows(chat);
      yield { type: 'table', columns: ['what', 'now'], rows };
      yield { type: 'data', value: Object.fromEntries(rows) };
    },
  });
}

async function statusRows(chat: ChatControl): Promise<readonly (readonly [string, string])[]> {
  const { app } = chat;
  const { id, tier, reason } = app.model();
  const allowed = app.approvals().list().length;
  await app.doors.skills.ready();
  const [work, you] = (['memory', 'user'] as const).map((target) => {
    const state = app.doors.memory.read(target);
    return state.ok ? state.value.entries.length : 0;
  });
  return [
    ['model', `${id} (${tier}): ${reason}`],
    ['folder', shownPath(app.environment.cwd, app.environment.userHome)],
    ...(await sessionRows(chat)),
    ['approvals', `${app.approvalMode()}; ${allowed} allowed without asking: /permissions`],
    ['walls', wallsLine(app.walls().state())],
    ['memory', `${work} about the work, ${you} about you`],
    ['skills', String(app.doors.skills.list().length)],
    ['home', shownPath(app.home.root, app.environment.userHome)],
  ];
}

async function sessionRows({ app, conversation }: ChatControl): Promise<readonly (readonly [string, string])[]> {
  if (!conversation) return [];
  const { session } = conversation;
  const stored = await app.doors.sessions.get(session.id);
  const { contextTokens } = await import('#surfaces/app/commands/context.ts');
  const used = (await contextTokens(app, session.id)) ?? 0;
  const window = app.model().contextWindow;
  const calls = await app.doors.sessions.costs({ sessionId: session.id });
  const unpriced = calls.reduce((sum, row) => sum + row.unpriced, 0);
  const cost = formatCost(calls.reduce((sum, row) => sum + row.cost, 0));
  return [
    ['session', [session.id, stored?.title, plural(stored?.messageCount ?? 0, 'message')].filter(Boolean).join(' · ')],
    ['context', `about ${used} of ${window} tokens (${Math.round((used / window) * 100)} %): /context`],
    ['cost', unpriced === 0 ? cost : `${cost}, and ${plural(unpriced, 'call')} whose price is unknown`],
  ];
}

export type CommandFailure = Extract<CommandOutput, { type: 'failure' }>;

export interface ChatControl {
  readonly app: App;
  readonly conversation: Conversation | undefined;
  /** A turn is under way. */
  readonly isRunning: boolean;
  /** Commands that can be typed after a slash, the chat's own first. */
  commands(): Promise<readonly AnyCommand[]>;
  /** Each gives the reason when it could not be done; the old session then stays open. */
  startNew(): Promise<CommandFailure | undefined>;
  resume(sessionId: string): Promise<CommandFailure | undefined>;
  /** Takes the line as if it had been typed, after what waits; `extra` goes with it once more. */
  submit(line: string, extra?: readonly UserPart[]): void;
  /** Gives the terminal a sequence that draws nothing; absent where there is no screen. */
  readonly writeTerminal?: ((sequence: string) => void) | undefined;
  /** The chat ends after the present line. */
  leave(): void;
}
