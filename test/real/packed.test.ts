/**
 * What a stranger gets: the tarball of `npm pack`, installed into an empty folder. It is packed in a copy,
 * since packing rewrites package.json for a moment.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { verifies } from '../verifies.ts';

const repository = resolve(import.meta.dirname, '../..');
const packedFrom = [
  'bin',
  'src',
  'scripts',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'LICENSE',
  'CHANGELOG.md',
  'README.md',
  '.npmrc',
];

describe('the packed tarball in an empty folder', () => {
  let work = '';
  let installed = '';

  before(() => {
    work = mkdtempSync(join(tmpdir(), 'talaria packed '));
    const copy = join(work, 'copy');
    for (const name of packedFrom) cpSync(join(repository, name), join(copy, name), { recursive: true });
    symlinkSync(join(repository, 'node_modules'), join(copy, 'node_modules'));
    run('npm', ['pack', '--silent', '--pack-destination', work], copy);
    const source = readFileSync(join(repository, 'package.json'), 'utf8');
    assert.equal(readFileSync(join(copy, 'package.json'), 'utf8'), source, 'packing brings package.json back');
    installed = join(work, 'installed');
    mkdirSync(installed);
    writeFileSync(join(installed, 'package.json'), '{ "private": true, "type": "module" }');
    const tarball = readdirSync(work).find((name) => name.endsWith('.tgz')) ?? 'no tarball';
    run('npm', ['install', '--silent', '--no-audit', '--no-fund', join(work, tarball)], installed);
  });
  after(() => rmSync(work, { recursive: true, force: true }));

  function run(command: string, args: readonly string[], cwd: string): string {
    // The node of this process first, as an installed script would find it.
    const env = {
      ...process.env,
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      TALARIA_HOME: join(work, 'home'),
    };
    const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env, encoding: 'utf8', input: '' });
    assert.equal(status, 0, `${command} ${args.join(' ')}: ${error?.message ?? ''}${stdout}${stderr}`);
    return stdout;
  }

  function evaluate(code: string): string {
    const own = join(installed, 'node_modules/.bin/node');
    return run(own, ['--input-type=module', '-e', code], installed).trim();
  }

  verifies('core:entry:packed', 'the command answers', () => {
    const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
    const command = join(installed, 'node_modules/.bin/talaria');
    assert.equal(run(command, ['--version'], installed).trim(), version);
    assert.match(run(command, ['--help'], installed), /talaria/i);
  });

  verifies('core:entry:packed', 'the demo runs from the bundle alone', () => {
    run(join(installed, 'node_modules/.bin/talaria'), ['demo'], installed);
  });

  verifies('core:entry:packed', 'every entry can be imported', () => {
    const parsed = evaluate(`
      const { parseTextToolCalls } = await import('talaria/tool-calls');
      const tools = [{ type: 'function', function: { name: 'ls', description: '', parameters: { type: 'object', properties: {} } } }];
      console.log(JSON.stringify(parseTextToolCalls('<tool_call>{"name": "ls", "arguments": {}}</tool_call>', tools).calls));
    `);
    assert.deepEqual(JSON.parse(parsed), [{ name: 'ls', arguments: {} }]);
    const found = evaluate(`
      const { openSessions } = await import('talaria/sessions');
      const sessions = await openSessions('s.db');
      await sessions.append({ sessionId: 'a', role: 'user', content: 'the winged sandals', timestamp: 1 });
      console.log((await sessions.search('sandals', { limit: 3 }))[0].sessionId);
      await sessions.close();
    `);
    assert.equal(found, 'a');
    for (const entry of ['talaria', 'talaria/testing', 'talaria/skills', 'talaria/curator']) {
      assert.notEqual(evaluate(`console.log(Object.keys(await import('${entry}')).length)`), '0');
    }
  });

  test('a TypeScript program finds the types', () => {
    writeFileSync(
      join(installed, 'use.ts'),
      "import { parseTextToolCalls } from 'talaria/tool-calls';\nexport const content: string = parseTextToolCalls('', []).content;\n// @ts-expect-error a number is no text\nparseTextToolCalls(1, []);\n",
    );
    const options = ['--module', 'nodenext', '--target', 'es2024', '--strict', '--noEmit', '--types', ''];
    run(join(repository, 'node_modules/.bin/tsc'), [...options, 'use.ts'], installed);
  });

  test('the notices of what is bundled are part of it', () => {
    const notices = readFileSync(join(installed, 'node_modules/talaria/dist/THIRD_PARTY_NOTICES'), 'utf8');
    for (const name of ['zod', 'yaml', 'commander']) assert.match(notices, new RegExp(`^${name} \\d`, 'm'));
  });
});
