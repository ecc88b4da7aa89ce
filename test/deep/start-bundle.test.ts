/** The bundle that a start runs: what it loads before the first request to a model leaves, cold, warm, and with a cache that is broken or old. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { repository, run } from '../gates/temp-tree.ts';

interface Seen {
  readonly code: number | null;
  /** Both streams. */
  readonly text: string;
  /** Files of the bundle that were loaded when the request left. */
  readonly files: readonly string[];
  readonly zod: boolean;
  readonly builtins: readonly string[];
}

/** Tells what is loaded when the first socket is written to. */
const WATCH = `
const files = [];
process.getBuiltinModule('node:module').registerHooks({
  load: (url, context, next) => (url.startsWith('file:') && files.push(url.split('/').at(-1)), next(url, context)),
});
const { Socket } = process.getBuiltinModule('node:net');
const write = Socket.prototype._writeGeneric;
Socket.prototype._writeGeneric = function (...given) {
  if (!this.connecting) return write.apply(this, given);
  const builtins = process.moduleLoadList.map((name) => name.replace('NativeModule ', ''));
  const seen = { files, zod: globalThis.__zod_globalConfig !== undefined, builtins };
  process.getBuiltinModule('node:fs').writeFileSync(process.env.SEEN, JSON.stringify(seen));
  return write.apply(this, given);
};
`;

let folder = '';

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'talaria-bundle-'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'watch.cjs'), WATCH);
  const built = run(process.execPath, ['scripts/build.ts', '--out', join(folder, 'dist')], { cwd: repository });
  assert.equal(built.code, 0, built.text);
});
after(() => rmSync(folder, { recursive: true, force: true }));

interface Stage {
  readonly home: string;
  readonly requests: readonly { readonly body: object }[];
  start(...args: readonly string[]): Promise<Seen>;
}

async function stage(context: TestContext): Promise<Stage> {
  const temp = createTempHome(context);
  const server = await startScriptedServer(Array.from({ length: 9 }, () => 'Hello there.'));
  context.after(() => server.close());
  temp.write('config.yaml', 'version: 1\nmodel: openai/some-model\nagent:\n  max_steps: 7\n');
  const seenFile = join(temp.path, 'seen.json');
  const cwd = createTempHome(context).path;
  const env = {
    PATH: process.env.PATH,
    HOME: temp.path,
    TALARIA_HOME: temp.path,
    OPENAI_BASE_URL: server.baseUrl,
    SEEN: seenFile,
  };
  const start = (...args: readonly string[]): Promise<Seen> =>
    new Promise((resolve, reject) => {
      rmSync(seenFile, { force: true });
      const command = ['--require', join(folder, 'watch.cjs'), join(folder, 'dist/main.js'), ...args];
      const child = spawn(process.execPath, command, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
      let text = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => {
          text += chunk;
        });
      child.once('error', reject);
      child.once('close', (code) => {
        const seen = existsSync(seenFile) ? JSON.parse(readFileSync(seenFile, 'utf8')) : {};
        resolve({ code, text, files: [], zod: false, builtins: [], ...seen });
      });
    });
  return { home: temp.path, requests: server.requests, start };
}

const cacheOf = (home: string) => join(home, 'cache/start.json');

describe('the bundle of the start', () => {
  test('first hour start: a warm start loads one file, and neither zod nor yaml nor the library of fetch', async (context) => {
    const { home, requests, start } = await stage(context);
    const cold = await start('-p', 'hello');
    assert.equal(cold.code, 0, cold.text);
    assert.equal(cold.text, 'Hello there.\n');
    assert.equal(cold.zod, true, 'what is measured can be seen');
    assert.equal(statSync(cacheOf(home)).mode & 0o777, 0o600);
    const warm = await start('-p', 'hello');
    assert.equal(warm.code, 0, warm.text);
    assert.equal(warm.zod, false);
    // The program, its start, and what libraries of the older module form share: a small file of its own since some stand beside the agent.
    assert.equal(warm.files.length, 4, warm.files.join(' '));
    for (const name of ['internal/deps/undici/undici', 'child_process', 'readline', 'worker_threads', 'zlib', 'https'])
      assert.ok(!warm.builtins.includes(name), name);
    assert.deepEqual(toolsOf(requests[1]), toolsOf(requests[0]), 'a request is the same, cold and warm');
  });

  test('first hour start: a cache that is broken, of another build or of another config counts as none', async (context) => {
    const { home, requests, start } = await stage(context);
    await start('-p', 'hello');
    const good = readFileSync(cacheOf(home), 'utf8');
    writeFileSync(cacheOf(home), good.slice(0, 200));
    assert.equal((await start('-p', 'hello')).zod, true, 'broken');
    writeFileSync(cacheOf(home), JSON.stringify({ ...JSON.parse(good), build: 'another' }));
    assert.equal((await start('-p', 'hello')).zod, true, 'of another build');
    assert.deepEqual(toolsOf(requests[2]), toolsOf(requests[0]));
    writeFileSync(join(home, 'config.yaml'), 'version: 1\nmodel: openai/some-model\nagent:\n  max_steps: seven\n');
    const refused = await start('-p', 'hello');
    assert.equal(refused.code, 1);
    assert.match(refused.text, /config\.yaml:4:14: agent\.max_steps: /);
  });
});

test('first hour start: zod is built in with one of its languages', () => {
  const dist = join(folder, 'dist');
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
  const text = files.map((name) => readFileSync(join(dist, name), 'utf8')).join('\n');
  const [english, dutch, italian] = ['Invalid input: expected', 'Ongeldige invoer', 'Input non valido'];
  assert.deepEqual(
    [english, dutch, italian].map((words) => text.includes(words)),
    [true, false, false],
  );
  const names = new Set([...text.matchAll(/zod\/v4\/locales\/([\w-]+)\.c?js/g)].map(([, name]) => name));
  assert.deepEqual([...names].sort(), ['en', 'index']);
});

describe('a bundle that is older than the source', () => {
  test('first hour start: a chat says so in one line when it ends; a fresh one and a single answer say nothing', async (context) => {
    const { home, start } = await stage(context);
    await start('-p', 'hello');
    const source = join(folder, 'src/surfaces/cli');
    mkdirSync(source, { recursive: true });
    context.after(() => rmSync(join(folder, 'src'), { recursive: true, force: true }));
    writeFileSync(join(source, 'main.ts'), '');
    utimesSync(join(source, 'main.ts'), 1_000, 1_000);
    const line = 'talaria: the source is newer than the bundle: npm run build\n';
    assert.ok(!(await start('hello there')).text.includes(line));
    const later = statSync(join(folder, 'dist/main.js')).mtimeMs / 1000 + 60;
    utimesSync(join(source, 'main.ts'), later, later);
    const { code, text } = await start('hello there');
    assert.equal(code, 0, home);
    assert.ok(text.endsWith(line), text);
    assert.equal(text.split(line).length, 2);
    assert.equal((await start('-p', 'hello')).text, 'Hello there.\n', 'what a program asks for is not kept waiting');
  });

  test('first hour start: building if stale builds what was edited since, and nothing else', () => {
    const main = join(folder, 'dist/main.js');
    const build = () =>
      run(process.execPath, ['scripts/build.ts', '--if-stale', '--out', join(folder, 'dist')], { cwd: repository });
    const before = statSync(main).mtimeMs;
    assert.deepEqual(build(), { code: 0, text: '' });
    assert.equal(statSync(main).mtimeMs, before);
    utimesSync(main, 1_000, 1_000);
    assert.equal(build().code, 0);
    assert.ok(statSync(main).mtimeMs > 1_000_000);
  });
});

function toolsOf(request: { readonly body: object } | undefined): unknown {
  assert.ok(request && 'tools' in request.body);
  return request.body.tools;
}
