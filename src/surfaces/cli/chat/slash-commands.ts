// Owns the commands that only a chat has: help, model, quit, and the lists of the rest. The others come from the app.
// Knows no screen. Invariant: each is a CommandSpec like any other.
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { isJsonObject, parseJsonObject } from '#base/json.ts';
import { readRegular } from '#base/paths/open-files.ts';
import { ok, refuse } from '#base/result.ts';
import { isYes, oneLine } from '#base/text.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  defineCommand,
  line,
  refused,
} from '#core/agent/command-spec.ts';
import type { App, ModelAddition, ModelInfo } from '#surfaces/app/app.ts';
import { diffCommand, type UndoSeat, undoCommand } from '#surfaces/app/commands/undo.ts';
import { lookAtProject, trustProject } from '#surfaces/app/home/trust.ts';
import { CHAT_TOPICS, chatAlias, chatName, readSlashLine } from '../mount-command.ts';
import { eventLines } from '../terminal-text.ts';
import { type ChatControl, nothingSaid, sessionCommands, spoken } from './session-commands.ts';

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
        : refused(switched.reason, switched.detail, '/model add KEY-OR-URL adds one.');
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
        yield refused('missing-key', 'No key and no URL was given.', 'Type /model add KEY, or /model add URL.');
        return;
      }
      yield line('testing it with one call …');
      const added = await chat.app.addModel(additionOf(where, input), context.signal);
      if (added.ok) yield line(`it works; from now on: ${modelLine(added.value)}`);
      else yield refused(added.reason, added.detail, 'Nothing was kept.');
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

// The chat's commands on what is learned in this very conversation, and done to files: undo, diff, learn, compress. Knows learning by its contract.

function learningCommands(chat: ChatControl): readonly AnyCommand[] {
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
      const conversation = spoken(chat);
      if (!conversation) {
        yield nothingSaid();
        return;
      }
      const learned = await (await chat.app.doors.learning.load()).learnNow(
        conversation.session.id,
        hint.join(' '),
        signal,
      );
      yield learned.ok ? line(learned.value.line) : refused(learned.reason, learned.detail, LEARN_FIX);
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
      const conversation = spoken(chat);
      if (!conversation) {
        yield nothingSaid();
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

// `/init`: a first AGENTS.md for a folder. A model is asked to write it; without one it is filled from what lies there.
// Knows no prompt of sessions. Invariants: facts of the folder alone; a file that is there is never written over.

/** Sent as the owner's own line. */
export const INIT_PROMPT = [
  'Write AGENTS.md for this folder: what an agent has to know to work well here.',
  'Look first at the README, build files, scripts, tests and the main source folders. Change nothing else.',
  'Say what this is in two sentences; how to build, test, check and run it, and one test alone; how it is laid out;',
  'and the conventions that its files show. Only what you saw: nothing that any developer knows, no secrets, at most 60 lines.',
  'If AGENTS.md is there already, read it and change only what is wrong or missing.',
].join('\n');

const NAME = 'AGENTS.md';

function initCommand(chat: ChatControl): AnyCommand {
  return defineCommand({
    name: 'init',
    summary: 'write a first AGENTS.md: what an agent has to know here',
    surfaces: ['chat'],
    input: z.object({}),
    run: async function* (_input, context) {
      if (chat.app.model().tier === 'T0') yield* writeTemplate(chat.app, context);
      else chat.submit(INIT_PROMPT);
    },
  });
}

async function* writeTemplate(app: App, { cwd, ask }: CommandContext): AsyncGenerator<CommandOutput, void> {
  const path = join(cwd, NAME);
  if (existsSync(path)) {
    yield refused('file-exists', `${NAME} is already there.`, 'With a model, /init goes through it.');
    return;
  }
  const facts = [...commandLines(cwd), ...folderLines(cwd)];
  if (facts.length === 0) {
    yield refused(
      'nothing-found',
      'No scripts, targets or folders are here that it could name.',
      `Write ${NAME} yourself.`,
    );
    return;
  }
  const text = [`# ${basename(cwd)}`, ...facts].join('\n');
  yield line(text);
  yield line('');
  const answer = await ask?.(`Write this as ${NAME}? (y/n)`);
  if (answer !== undefined && !isYes(answer)) {
    yield line('nothing was written');
    return;
  }
  atomicWrite(path, `${text}\n`, { mode: 0o644 });
  const written = lookAtProject(app.home, cwd);
  if (answer !== undefined && written?.file.path === path) trustProject(app.home, written.file, app.clock);
  yield line(`${NAME} is written; it counts from the next session on: /new`);
}

function commandLines(cwd: string): readonly string[] {
  const lines = [...scriptLines(cwd), ...targetLines(cwd)];
  return lines.length === 0 ? [] : ['', '## Commands', '', ...lines];
}

const LONGEST = 80;

function scriptLines(cwd: string): readonly string[] {
  const read = parseJsonObject(textOf(cwd, 'package.json'));
  const scripts = read.ok ? read.value.scripts : undefined;
  if (!isJsonObject(scripts)) return [];
  const runner = existsSync(join(cwd, 'pnpm-lock.yaml')) ? 'pnpm' : 'npm';
  return Object.entries(scripts).map(
    ([name, work]) => `- \`${runner} run ${name}\`: ${oneLine(String(work), LONGEST)}`,
  );
}

function targetLines(cwd: string): readonly string[] {
  const targets = [...textOf(cwd, 'Makefile').matchAll(/^([A-Za-z0-9][\w-]*)[ \t]*:(?!=)/gm)].map(([, name]) => name);
  return [...new Set(targets)].map((name) => `- \`make ${name}\``);
}

const NOT_SOURCE = new Set(['node_modules', 'dist', 'build', 'target', 'vendor']);

function folderLines(cwd: string): readonly string[] {
  const folders = readdirSync(cwd, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !NOT_SOURCE.has(entry.name))
    .map(({ name }) => `- \`${name}/\``)
    .sort();
  return folders.length === 0 ? [] : ['', '## Folders', '', ...folders];
}

const MOST_BYTES = 2_000_000;

function textOf(cwd: string, name: string): string {
  try {
    return readRegular(join(cwd, name), MOST_BYTES).toString('utf8');
  } catch {
    // What is not there, or cannot be read, adds no line.
    return '';
  }
}
