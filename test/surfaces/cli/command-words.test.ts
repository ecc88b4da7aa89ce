/** Short forms of command lines, and which flags go together. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CommanderError } from 'commander';
import type { AnyCommand } from '#core/agent/command-spec.ts';
import { extensionCommands, shellCommands } from '#surfaces/app/commands/shell-commands.ts';
import { createProgram, flagProblem } from '#surfaces/cli/cli-program.ts';
import { chatAlias, chatName, fullChatWords, fullWords, isExitLine } from '#surfaces/cli/command-words.ts';
import { verifies } from '../../verifies.ts';
import { createStage } from '../app/app-fixture.ts';

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
    const all = [...shellCommands(options), ...(await extensionCommands(options))];
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
