/** Commands as data: one spec gives flags, help, validation and errors on every surface. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { Command, CommanderError } from 'commander';
import { z } from 'zod';
import { type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import { type Invocation, mountCommands } from '#surfaces/cli/mount-command.ts';
import { renderOutput } from '#surfaces/cli/render-output.ts';
import { verifies } from '../../verifies.ts';

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
