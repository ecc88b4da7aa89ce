// Owns the commands that only a chat has: help, model, quit, and the lists of the rest. The others come from the app.
// Knows no screen. Invariant: each is a CommandSpec like any other.
import { z } from 'zod';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { ModelAddition, ModelInfo } from '#surfaces/app/app.ts';
import { CHAT_TOPICS, chatAlias, chatName } from '../command-words.ts';
import type { ChatControl } from './chat-control.ts';
import { initCommand } from './init-command.ts';
import { learningCommands } from './learning-commands.ts';
import { sessionCommands } from './session-commands.ts';
import { readSlashLine } from './slash-line.ts';

const line = (text: string): CommandOutput => ({ type: 'line', text });

function failure(code: string, message: string, fix: string): CommandOutput {
  return { type: 'failure', exitCode: 3, code, message, fix };
}

export function chatCommands(chat: ChatControl): readonly AnyCommand[] {
  return [
    helpCommand(chat),
    modelCommand(chat),
    modelAddCommand(chat),
    ...sessionCommands(chat),
    initCommand(chat),
    ...learningCommands(chat),
    quitCommand(chat),
  ];
}

function helpCommand(chat: ChatControl): AnyCommand {
  return defineCommand({
    name: 'help',
    summary: 'what can be typed here; /help NAME shows how',
    surfaces: ['chat'],
    positional: ['name...'],
    input: z.object({
      name: z.array(z.string()).default([]).describe('a command, or reflex: what is understood without a model'),
    }),
    run: async function* ({ name }) {
      if (name[0] === 'reflex') yield* reflexHelp(chat);
      else if (name.length > 0) yield* commandHelp(name, await chat.commands());
      else yield* allHelp(chat);
    },
  });
}

async function* allHelp(chat: ChatControl): AsyncGenerator<CommandOutput, void> {
  const rows = helpRows(await chat.commands()).map(([name, summary]) => [
    name,
    summary.replace(/^./, (first) => first.toUpperCase()),
  ]);
  yield { type: 'table', columns: ['command', 'what it does'], rows };
  yield line('');
  yield line('/help NAME shows how one is typed; those with … hold more: /help skills.');
  yield line('? shows the keys. Lines typed while something runs wait above, and go in order.');
  if (chat.app.model().tier === 'T0')
    yield line('No model is set up: reflex/1 answers by rules; /help reflex lists its lines.');
}

/** By topic, a group as what it does alone. */
function helpRows(commands: readonly AnyCommand[]): readonly (readonly [string, string])[] {
  const names = new Set(Object.values(CHAT_TOPICS).flat());
  const single = commands.filter(({ name }) => names.has(chatName(name)) || !chatName(name).includes(' '));
  const groups = new Set(
    commands.map(({ name }) => name.split(' ')).flatMap(([first = '', ...rest]) => (rest.length > 0 ? [first] : [])),
  );
  const rowOf = ({ name, summary }: AnyCommand): readonly [string, string] => {
    const short = chatName(name);
    const alias = chatAlias(name);
    const more = groups.has(short) && short !== name ? ' …' : '';
    return [`  /${short}${alias === undefined ? '' : ` /${alias}`}${more}`, summary];
  };
  const topics = { ...CHAT_TOPICS, more: single.map(({ name }) => chatName(name)).filter((name) => !names.has(name)) };
  return Object.entries(topics).flatMap(([topic, members]) => {
    const rows = members.flatMap((member) => single.filter(({ name }) => chatName(name) === member).map(rowOf));
    return rows.length === 0 ? [] : [[topic, ''] as const, ...rows];
  });
}

async function* commandHelp(
  words: readonly string[],
  commands: readonly AnyCommand[],
): AsyncGenerator<CommandOutput, void> {
  const [first = '', ...rest] = words.map((word) => word.replace(/^\//, ''));
  const isKnown = commands.some(({ name }) => [name.split(' ')[0], chatName(name), chatAlias(name)].includes(first));
  const read = await readSlashLine(`/${[first, ...rest, ...(isKnown ? ['--help'] : [])].join(' ')}`, commands);
  if (read.type === 'said') yield* read.outputs;
}

async function* reflexHelp(chat: ChatControl): AsyncGenerator<CommandOutput, void> {
  yield line('reflex/1 answers by rules, without a model. It understands lines such as:');
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
    summary: 'show the model, or switch: /model NAME, /model reflex',
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
    summary: 'add a model by key or URL: tried with one call, then used',
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
