// Owns the chat's commands on what is learned in this very conversation: undo, learn, compress. Knows learning by its contract.
import { z } from 'zod';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { Conversation } from '#core/agent/conversation.ts';
import { eventLines } from '../event-lines.ts';
import type { ChatControl } from './chat-control.ts';

export function learningCommands(chat: ChatControl): readonly AnyCommand[] {
  return [undoCommand(chat), learnCommand(chat), compressCommand(chat)];
}

function undoCommand(chat: ChatControl): AnyCommand {
  return defineCommand({
    name: 'undo',
    summary: 'take back the last thing that was learned',
    surfaces: ['chat'],
    input: z.object({}),
    run: async function* () {
      const undone = await (await chat.app.learning()).undoLast(chat.conversation?.session.id);
      yield undone.ok ? line(undone.value) : refusal(undone.reason, undone.detail, UNDO_FIXES[undone.reason] ?? ANEW);
    },
  });
}

const ANEW = 'Mend that, then type /undo again.';

const UNDO_FIXES: Readonly<Record<string, string>> = {
  'nothing-to-undo': '/memory remove takes an entry out, /skills rollback NAME undoes an older change of a skill.',
  'target-changed': '/memory show and /skills log NAME show what stands; /undo again means the write before it.',
  'later-version': 'Then /undo means the same write again.',
  'backup-not-found': '/skills log NAME shows its versions; /undo again means the write before it.',
  'manifest-changed': '/skills log NAME shows its versions; /undo again means the write before it.',
};

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
