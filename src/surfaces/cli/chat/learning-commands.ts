// Owns the chat's commands on what is learned in this very conversation, and done to files: undo, diff, learn, compress. Knows learning by its contract.
import { z } from 'zod';
import { ok, refuse } from '#base/result.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { Conversation } from '#core/agent/conversation.ts';
import { diffCommand, type UndoSeat, undoCommand } from '#surfaces/app/commands/undo-command.ts';
import { eventLines } from '../event-lines.ts';
import type { ChatControl } from './chat-control.ts';

export function learningCommands(chat: ChatControl): readonly AnyCommand[] {
  const seat = chatSeat(chat);
  return [undoCommand(seat), diffCommand(seat), learnCommand(chat), compressCommand(chat)];
}

/** The conversation that is open; a turn under way may still change files. */
function chatSeat(chat: ChatControl): UndoSeat {
  return {
    surface: 'chat',
    app: async () => chat.app,
    sessionOf: async () => chat.conversation?.session.id,
    alone: async (_app, _sessionId, work) =>
      chat.isRunning
        ? refuse('turn-running', 'Nothing was undone: a turn is running and may change files. Ctrl-C stops it.')
        : ok(await work()),
  };
}

function learnCommand(chat: ChatControl): AnyCommand {
  return defineCommand({
    name: 'learn',
    summary: 'review this conversation now; /learn HINT says for what',
    surfaces: ['chat'],
    positional: ['hint...'],
    input: z.object({ hint: z.array(z.string()).default([]).describe('what to look for, or a name for the skill') }),
    run: async function* ({ hint }, { signal }) {
      const conversation = spokenIn(chat);
      if (!conversation) {
        yield nothingYet();
        return;
      }
      const learned = await (await chat.app.learning()).learnNow(conversation.session.id, hint.join(' '), signal);
      yield learned.ok ? line(learned.value.line) : refusal(learned.reason, learned.detail, LEARN_FIX);
    },
  });
}

const LEARN_FIX = 'Go on with the task, then type /learn again.';

function compressCommand(chat: ChatControl): AnyCommand {
  return defineCommand({
    name: 'compress',
    summary: 'compress older messages now; they stay searchable',
    surfaces: ['chat'],
    input: z.object({}),
    run: async function* (_input, { signal }) {
      const conversation = spokenIn(chat);
      if (!conversation) {
        yield nothingYet();
        return;
      }
      const before = conversation.history.length;
      let done = false;
      for await (const event of conversation.compress(signal)) {
        done ||= event.type === 'prefix-break';
        for (const { text } of eventLines(event)) yield line(text);
      }
      if (done) yield line(`${before} messages became ${conversation.history.length}; the old ones stay searchable.`);
    },
  });
}

function spokenIn({ conversation }: ChatControl): Conversation | undefined {
  return conversation && conversation.history.length > 0 ? conversation : undefined;
}

function nothingYet(): CommandOutput {
  return refusal('nothing-said', 'Nothing was said in this session yet.', 'Say something first.');
}

function line(text: string): CommandOutput {
  return { type: 'line', text };
}

function refusal(code: string, message: string, fix: string): CommandOutput {
  return { type: 'failure', exitCode: 3, code, message, fix };
}
