// Owns the commands that only a chat has: help, model, new, resume, quit. The others come from the app.
// Knows no screen. Invariant: each is a CommandSpec like any other.
import { z } from 'zod';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { ModelAddition, ModelInfo } from '#surfaces/app/app.ts';
import { chatName } from '../command-words.ts';
import type { ChatControl } from './chat-control.ts';
import { learningCommands } from './learning-commands.ts';

const line = (text: string): CommandOutput => ({ type: 'line', text });

function failure(code: string, message: string, fix: string): CommandOutput {
  return { type: 'failure', exitCode: 3, code, message, fix };
}

export function chatCommands(chat: ChatControl): readonly AnyCommand[] {
  return [
    helpCommand(chat),
    modelCommand(chat),
    modelAddCommand(chat),
    newCommand(chat),
    resumeCommand(chat),
    ...learningCommands(chat),
    quitCommand(chat),
  ];
}

function helpCommand(chat: ChatControl): AnyCommand {
  return defineCommand({
    name: 'help',
    summary: 'what can be typed here',
    surfaces: ['chat'],
    input: z.object({}),
    run: async function* () {
      const commands = await chat.commands();
      yield {
        type: 'table',
        columns: ['command', 'what it does'],
        rows: commands.map((command) => [`/${chatName(command.name)}`, command.summary]),
      };
      yield line('');
      yield line(
        'Enter sends, Shift-Enter or \\ Enter starts a new line, Up brings back earlier lines, Ctrl-C stops a turn, twice leaves.',
      );
      yield line('While a turn runs, what you type is taken into account at its next step.');
      if (chat.app.model().tier === 'T0') yield* reflexHelp(chat);
    },
  });
}

async function* reflexHelp(chat: ChatControl): AsyncGenerator<CommandOutput, void> {
  yield line('');
  yield line('No model is configured: reflex/1 answers, by rules. It understands lines such as:');
  for (const rule of await chat.app.reflexRules()) {
    const [example] = rule.examples;
    if (example) yield line(`  ${example}`);
  }
  yield line('Add a model with /model add KEY-OR-URL.');
}

function modelLine(model: ModelInfo): string {
  return `${model.id} (${model.tier}, window ${model.contextWindow} tokens): ${model.reason}`;
}

function modelCommand(chat: ChatControl): AnyCommand {
  return defineCommand({
    name: 'model',
    summary: 'show the model, or switch to another: /model NAME, /model reflex',
    surfaces: ['chat'],
    input: z.object({
      name: z.string().optional().describe('provider/model, a model of the present provider, or reflex'),
    }),
    positional: ['name'],
    run: async function* ({ name }) {
      if (name === undefined) {
        const present = chat.app.model();
        yield line(modelLine(present));
        for (const { id } of chat.app.models()) yield line(`${id === present.id ? '* ' : '  '}${id}`);
        return;
      }
      const switched = await chat.app.switchModel(name);
      yield switched.ok
        ? line(`from the next step on: ${modelLine(switched.value)}`)
        : failure(switched.reason, switched.detail, '/model add KEY-OR-URL adds one.');
    },
  });
}

const ADD_INPUT = z.object({
  where: z.string().optional().describe('an API key, or the URL of an OpenAI-compatible endpoint'),
  key: z.string().optional().describe('the key for that URL'),
  provider: z.string().optional().describe('openai, anthropic, openrouter, …'),
  model: z.string().optional().describe('which model to use there'),
  baseUrl: z.string().optional().describe('the URL, when the key comes first'),
});

function modelAddCommand(chat: ChatControl): AnyCommand {
  return defineCommand({
    name: 'model add',
    summary: 'add a model by key or URL, test it with one call, and go on with it',
    surfaces: ['chat'],
    input: ADD_INPUT,
    positional: ['where', 'key'],
    examples: ['/model add sk-…', '/model add http://127.0.0.1:11434/v1'],
    run: async function* (input, context) {
      const where =
        input.where ?? (await context.ask?.('API key, or URL of an OpenAI-compatible endpoint:', 'secret'))?.trim();
      if (!where) {
        yield failure('missing-key', 'No key and no URL was given.', 'Type /model add KEY, or /model add URL.');
        return;
      }
      yield line('testing it with one call …');
      const added = await chat.app.addModel(additionOf(where, input), context.signal);
      if (added.ok) yield line(`it works; from now on: ${modelLine(added.value)}`);
      else yield failure(added.reason, added.detail, 'Nothing was kept.');
    },
  });
}

function additionOf(where: string, input: z.infer<typeof ADD_INPUT>): ModelAddition {
  const isUrl = /^https?:\/\//i.test(where);
  const given = {
    baseUrl: isUrl ? where : input.baseUrl,
    key: isUrl ? input.key : where,
    provider: input.provider,
    model: input.model,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function newCommand(chat: ChatControl): AnyCommand {
  return defineCommand({
    name: 'new',
    summary: 'start a new session',
    surfaces: ['chat'],
    input: z.object({}),
    run: async function* () {
      const problem = await chat.startNew();
      yield problem ?? line(`new session ${chat.conversation?.session.id ?? ''}`);
    },
  });
}

function resumeCommand(chat: ChatControl): AnyCommand {
  return defineCommand({
    name: 'resume',
    summary: 'go on with an earlier session: /resume ID, or the last one of this folder',
    surfaces: ['chat'],
    input: z.object({ id: z.string().optional().describe('session id as /sessions shows it') }),
    positional: ['id'],
    run: async function* ({ id }) {
      const current = chat.conversation?.session.id;
      const recent = await chat.app.store.list({ limit: 20, cwd: chat.app.environment.cwd });
      const target = id ?? recent.find((session) => session.id !== current && session.messageCount > 0)?.id;
      if (target === undefined) {
        yield failure(
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

function quitCommand(chat: ChatControl): AnyCommand {
  return defineCommand({
    name: 'quit',
    summary: 'leave; the session can be resumed',
    surfaces: ['chat'],
    input: z.object({}),
    run: async function* () {
      chat.leave();
      yield* [];
    },
  });
}
