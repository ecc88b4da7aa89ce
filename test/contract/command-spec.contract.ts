/**
 * What every CommandSpec promises, whoever made it. Runs over a list of commands; `inputs` gives one
 * legal input for each command that may be run in a test, by name.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import type { AnyCommand, CommandContext, CommandOutput } from '#core/agent/command-spec.ts';
import { verifies } from '../verifies.ts';

export interface CommandContractSetup {
  readonly commands: () => Promise<readonly AnyCommand[]> | readonly AnyCommand[];
  /** Input by name of command; those without one are only looked at. */
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly context: () => CommandContext;
}

type Schema = { readonly properties?: Readonly<Record<string, unknown>>; readonly required?: readonly string[] };

function schemaOf(command: AnyCommand): Schema {
  return z.toJSONSchema(command.input, { io: 'input', unrepresentable: 'any' }) as Schema;
}

export function commandSpecContract(name: string, setup: CommandContractSetup): void {
  describe(`${name}: the contract of commands`, () => {
    verifies('core:command:as-data', 'each is named in words, says what it does, and shows somewhere', async () => {
      const commands = await setup.commands();
      assert.ok(commands.length > 0);
      assert.equal(new Set(commands.map((command) => command.name)).size, commands.length, 'two commands share a name');
      for (const command of commands) {
        assert.match(command.name, /^[a-z][a-z-]*(?: [a-z][a-z-]*)*$/, command.name);
        assert.ok(command.summary.length > 5 && !command.summary.includes('\n'), command.name);
        assert.ok(command.surfaces.length > 0, command.name);
      }
    });

    test('every positional is a key of the input; required ones come before others; only the last takes the rest', async () => {
      for (const command of await setup.commands()) {
        const { properties = {}, required = [] } = schemaOf(command);
        const words = command.positional ?? [];
        for (const [at, word] of words.entries()) {
          const key = word.replace(/\.\.\.$/, '');
          assert.ok(key in properties, `${command.name}: ${key}`);
          assert.ok(!word.endsWith('...') || at === words.length - 1, `${command.name}: ${word} is not the last`);
        }
        const needed = words.map((word) => required.includes(word.replace(/\.\.\.$/, '')));
        assert.deepEqual(
          needed,
          needed.toSorted((a, b) => Number(b) - Number(a)),
          command.name,
        );
      }
    });

    test('every key that must be given can be given in order, without a flag', async () => {
      for (const command of await setup.commands()) {
        const words = new Set((command.positional ?? []).map((word) => word.replace(/\.\.\.$/, '')));
        for (const key of schemaOf(command).required ?? []) assert.ok(words.has(key), `${command.name}: ${key}`);
      }
    });

    test('examples begin with the command itself', async () => {
      for (const command of await setup.commands()) {
        for (const example of command.examples ?? []) {
          assert.match(example, new RegExp(`^(?:talaria |/)${command.name}\\b`), command.name);
        }
      }
    });

    verifies('core:command:as-data', 'running yields outputs that end; a failure is the last of them', async () => {
      const runnable = (await setup.commands()).filter((command) => command.name in setup.inputs);
      for (const command of runnable) checkOutputs(command.name, await outputsOf(command, setup));
    });

    test('calling run starts no work: a command that nobody reads does nothing', async () => {
      for (const command of await setup.commands()) {
        if (!(command.name in setup.inputs)) continue;
        const input = command.input.parse(setup.inputs[command.name]);
        const iterator = command.run(input, setup.context())[Symbol.asyncIterator]();
        await iterator.return?.();
      }
    });
  });
}

async function outputsOf(command: AnyCommand, setup: CommandContractSetup): Promise<readonly CommandOutput[]> {
  const input = command.input.parse(setup.inputs[command.name]);
  return Array.fromAsync(command.run(input, setup.context()));
}

function checkOutputs(name: string, outputs: readonly CommandOutput[]): void {
  const failures = outputs.filter((output) => output.type === 'failure');
  assert.ok(failures.length <= 1, name);
  if (failures.length === 1) assert.equal(outputs.at(-1)?.type, 'failure', name);
  for (const output of outputs) checkOutput(name, output);
}

function checkOutput(name: string, output: CommandOutput): void {
  if (output.type === 'table') {
    for (const row of output.rows) assert.equal(row.length, output.columns.length, `${name}: a row of another length`);
  }
  if (output.type === 'failure') {
    assert.ok([1, 2, 3].includes(output.exitCode), name);
    assert.match(output.code, /^[a-z][a-z_-]*$/, name);
    assert.ok(output.message.length > 0, name);
  }
  if (output.type === 'data')
    assert.deepEqual(JSON.parse(JSON.stringify(output.value)), output.value, `${name}: not JSON`);
}
