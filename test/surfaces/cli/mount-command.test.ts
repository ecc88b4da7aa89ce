/** Commands as data: one spec gives flags, help, validation and errors on every surface. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Command, CommanderError } from 'commander';
import { z } from 'zod';
import { type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { AnyCommand } from '#public/talaria.ts';
import { roomCommands, shellCommands } from '#surfaces/app/commands/shell-commands.ts';
import { createProgram, flagProblem } from '#surfaces/cli/cli-program.ts';
import {
  chatAlias,
  chatName,
  fullChatWords,
  fullWords,
  type Invocation,
  isExitLine,
  mountCommands,
} from '#surfaces/cli/mount-command.ts';
import { renderOutput } from '#surfaces/cli/render-output.ts';
import { verifies } from '../../verifies.ts';
import { createStage } from '../app/app-fixture.ts';

const list = defineCommand({
  name: 'sessions list',
  summary: 'List sessions',
  surfaces: ['cli', 'chat'],
  positional: ['source', 'rest...'],
  input: z.object({
    source: z.string(),
    rest: z.array(z.string()).default([]),
    maxRows: z.number().int().min(1).default(20).describe('how many'),
    order: z.enum(['newest', 'oldest']).default('newest'),
    all: z.boolean().default(false),
  }),
  run: async function* () {
    yield { type: 'line', text: 'ok' };
  },
});

async function parse(words: readonly string[]): Promise<Invocation | CommanderError> {
  let found: Invocation | undefined;
  const program = new Command('talaria')
    .exitOverride()
    .configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  mountCommands(program, [list], (invocation) => {
    found = invocation;
  });
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error;
    throw error;
  }
  if (!found) throw new Error('nothing was invoked');
  return found;
}

async function printed(outputs: readonly CommandOutput[], json: boolean) {
  let out = '';
  let err = '';
  const each = async function* () {
    yield* outputs;
  };
  const code = await renderOutput(each(), json, { out: (text) => (out += text), err: (text) => (err += text) });
  return { code, out, err };
}

describe('mounting commands', () => {
  verifies(['core:command:as-data'], 'positionals and flags become validated input', async () => {
    const got = await parse([
      'sessions',
      'list',
      'cli',
      'a',
      'b',
      '--max-rows',
      '5',
      '--order',
      'oldest',
      '--all',
      '--json',
    ]);
    assert.ok(!(got instanceof CommanderError));
    assert.deepEqual(got.input, { source: 'cli', rest: ['a', 'b'], maxRows: 5, order: 'oldest', all: true });
    assert.equal(got.json, true);
    const plain = await parse(['sessions', 'list', 'cli']);
    assert.ok(!(plain instanceof CommanderError));
    assert.deepEqual(plain.input, { source: 'cli', rest: [], maxRows: 20, order: 'newest', all: false });
  });

  verifies(
    ['core:bad-input:unknown-flag', 'core:cli:exit-codes'],
    'unknown flags, bad values and missing words name what is wrong and exit 2',
    async () => {
      const cases: readonly [readonly string[], RegExp][] = [
        [['sessions', 'list', 'cli', '--frobnicate'], /unknown option '--frobnicate'/],
        [['sessions', 'list', 'cli', '--max-rows', 'many'], /max-rows/],
        [['sessions', 'list', 'cli', '--max-rows', '0'], /max-rows/],
        [['sessions', 'list', 'cli', '--order', 'random'], /newest, oldest/],
        [['sessions', 'list'], /source/],
        [['sesions'], /unknown command 'sesions'/],
      ];
      for (const [words, expected] of cases) {
        const got = await parse(words);
        assert.ok(got instanceof CommanderError, words.join(' '));
        assert.match(got.message, expected);
      }
    },
  );

  verifies(
    ['core:command:as-data', 'core:cli:exit-codes'],
    'output is printed as lines or JSON; a failure gives its exit code',
    async () => {
      const table: CommandOutput = { type: 'table', columns: ['id'], rows: [['s1']] };
      assert.deepEqual(await printed([table, { type: 'data', value: [1] }], false), {
        code: 0,
        out: 'id\ns1\n',
        err: '',
      });
      assert.deepEqual(JSON.parse((await printed([table, { type: 'data', value: { a: 1 } }], true)).out), { a: 1 });
      assert.deepEqual(JSON.parse((await printed([table], true)).out), [{ id: 's1' }]);
      const failure: CommandOutput = {
        type: 'failure',
        exitCode: 3,
        code: 'owned',
        message: 'it is open elsewhere',
        fix: 'close it',
      };
      assert.deepEqual(await printed([failure], false), { code: 3, out: '', err: 'it is open elsewhere\nclose it\n' });
      assert.equal(JSON.parse((await printed([failure], true)).out).error.code, 'owned');
      const error = { code: 'owned', message: 'it is open elsewhere', fix: 'close it' };
      const object: CommandOutput = { type: 'data', value: { done: 1, error: 'in short' } };
      const both = await printed([table, object, failure], true);
      assert.deepEqual([both.code, both.err], [3, 'it is open elsewhere\nclose it\n']);
      assert.deepEqual(JSON.parse(both.out), { done: 1, error });
      const list = await printed([{ type: 'data', value: [1] }, failure], true);
      assert.deepEqual(JSON.parse(list.out), { data: [1], error });
      assert.deepEqual(JSON.parse((await printed([table, failure], true)).out), { error });
    },
  );
});

/** Short forms of command lines, and which flags go together. */

function problemOf(argv: readonly string[]): string | undefined {
  const program = createProgram('1.2.3').argument('[words...]');
  program.configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  try {
    program.parse([...argv], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.message;
    throw error;
  }
  return flagProblem(program, program.args);
}

describe('command words', () => {
  it('short forms are the same in the shell and the chat', () => {
    assert.deepEqual(fullWords(['sessions']), ['sessions', 'list']);
    assert.deepEqual(fullWords(['sessions', '--limit', '3']), ['sessions', 'list', '--limit', '3']);
    assert.deepEqual(fullWords(['sessions', '--help']), ['sessions', '--help']);
    assert.deepEqual(fullWords(['sessions', 'show', 'x']), ['sessions', 'show', 'x']);
    assert.deepEqual(fullWords(['constructor']), ['constructor']);
    assert.deepEqual(fullChatWords(['search', 'a', 'b']), ['sessions', 'search', 'a', 'b']);
    assert.deepEqual(fullChatWords(['memory']), ['memory', 'show']);
    assert.equal(chatName('sessions search'), 'search');
    assert.equal(chatName('sessions list'), 'sessions');
    assert.equal(chatName('sessions show'), 'sessions show');
  });

  it('first hour 7: every group that is mounted has a most likely act, in the shell and in the chat', async (t) => {
    const { environment } = createStage(t);
    const options = { environment, app: () => Promise.reject(new Error('no command runs here')) };
    const all = [...shellCommands(options), ...(await roomCommands(options))];
    const wordsOf = (commands: readonly AnyCommand[]) => commands.map(({ name }) => name.split(' '));
    for (const surface of ['cli', 'chat'] as const) {
      const words = wordsOf(all.filter(({ surfaces }) => surfaces.includes(surface)));
      const names = new Set(words.map((each) => each.join(' ')));
      const groups = new Set(words.flatMap(([first = '', ...rest]) => (rest.length > 0 ? [first] : [])));
      assert.ok(groups.size >= 6, `${groups.size} groups`);
      for (const group of groups) {
        const full = (surface === 'cli' ? fullWords([group]) : fullChatWords([group])).join(' ');
        assert.ok(names.has(full) || full === `${group} --help`, `${surface}: ${full}`);
      }
    }
  });

  it('first hour 7: words that users of other agents type mean what they expect', () => {
    const meant = ['new', 'compress', 'quit', 'help'].map((name) => chatAlias(name));
    assert.deepEqual(meant, ['clear', 'compact', 'exit', undefined]);
  });

  verifies('core:cli:exit-words', 'exit and quit leave, with or without a slash', () => {
    for (const line of ['exit', 'quit', '/exit', '/quit', ' Quit ']) assert.ok(isExitLine(line), line);
    for (const line of ['exit the loop', '/quitter', '']) assert.ok(!isExitLine(line), line);
  });

  verifies(
    ['core:bad-input:unknown-flag', 'core:cli:exit-codes'],
    'a flag that is unknown, without its value, or without effect is named',
    () => {
      const cases: readonly [readonly string[], RegExp][] = [
        [['--frob'], /unknown option '--frob'/],
        [['--modle', 'x'], /unknown option '--modle'[\s\S]*--model/],
        [['-p', 'hi', '--resume'], /--resume needs an id with -p/],
        [['-p', 'hi', 'there', 'you'], /"there you".*quotes/],
        [['-p', 'hi', '--output-format', 'yaml'], /text, json, stream-json/],
        [['--output-format', 'json'], /goes with -p/],
        [['--yes'], /goes with -p/],
        [['-c', '-r', 'x'], /cannot be used with/],
        [['--resume', ' '], /--resume needs/],
        [['--model', ''], /--model needs/],
        [['--toolsets', ', ,'], /--toolsets needs/],
        [['--permission-mode', 'no'], /ask, read-only, auto/],
        [['-p', 'hi', '--yes', '--permission-mode', 'ask'], /--yes approves/],
        [['--max-turns', '0'], /whole number from 1/],
        [['--allowed-tools', ' ,'], /--allowed-tools needs/],
        [['--session-id', '../up'], /--session-id takes/],
        [['--session-id', 'last'], /"last" names/],
        [['--session-id', 'mine', '--continue'], /cannot be used with/],
        [['--append-system-prompt', 'x', '--resume', 'y'], /goes with a new session/],
        [['--append-system-prompt', ' '], /needs a text/],
        [['--cwd', ''], /--cwd needs/],
        [['--input-format', 'stream-json'], /goes with -p/],
        [['-p', 'hi', '--input-format', 'stream-json'], /leave out the text/],
        [['-p', '--input-format', 'stream-json'], /--output-format stream-json/],
        [['--max-turns', '3', 'sessions'], /--max-turns does not go with the command "sessions"/],
        [['--plain', 'sessions'], /--plain does not go with the command "sessions"/],
      ];
      for (const [argv, expected] of cases) assert.match(problemOf(argv) ?? 'nothing', expected, argv.join(' '));
      for (const argv of [
        [],
        ['-p'],
        ['-p', 'hi', '--yes', '--output-format', 'json'],
        ['-m', 'reflex', 'tools'],
        ['--resume'],
      ])
        assert.equal(problemOf(argv), undefined, argv.join(' '));
    },
  );
});
