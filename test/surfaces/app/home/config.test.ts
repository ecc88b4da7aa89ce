import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import { TalariaError } from '#base/errors.ts';
import { lateSchemas, madeOf } from '#base/late-schema.ts';
import { editConfig, loadConfig, openStartCache, readConfigSection } from '#surfaces/app/home/config.ts';
import { readEnvFile, setEnvValue } from '#surfaces/app/home/variables.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { many, runs } from '../../../property-runs.ts';
import { MAIN } from '../../../scenario/cli-process.ts';
import { slow } from '../../../slow.ts';
import { verifies } from '../../../verifies.ts';

async function failure(run: () => Promise<unknown>): Promise<TalariaError> {
  try {
    await run();
  } catch (error) {
    assert.ok(error instanceof TalariaError);
    return error;
  }
  return assert.fail('nothing was thrown');
}

describe('config.yaml', () => {
  test('no file is a whole configuration of defaults', async (t) => {
    const home = createTempHome(t);
    const loaded = await loadConfig(join(home.path, 'config.yaml'));
    assert.equal(loaded.config.agent.max_steps, 200);
    assert.deepEqual(loaded.config.toolsets, ['default']);
    assert.equal(loaded.config.web.enabled, false);
  });

  test('an empty file and one with comments only are defaults too', async (t) => {
    const home = createTempHome(t);
    for (const text of ['', '\n', '# nothing yet\n', '---\n']) {
      const path = home.write('config.yaml', text);
      assert.equal((await loadConfig(path)).config.terminal.timeout, 180);
    }
  });

  verifies(
    'core:bad-input:corrupt-config',
    'text that is no YAML: line, column and key are named, the file stays',
    async (t) => {
      const home = createTempHome(t);
      const text = 'model: openai/gpt-5\nagent:\n  max_steps: [1, 2\nterminal:\n  timeout: 5\n';
      const path = home.write('config.yaml', text);
      const error = await failure(() => loadConfig(path));
      assert.equal(error.code, 'config-invalid');
      assert.match(error.message, /config\.yaml:\d+:\d+: (?:max_steps|terminal)/);
      assert.ok(error.fix);
      assert.equal(home.read('config.yaml'), text);
    },
  );

  verifies('core:bad-input:corrupt-config', 'a wrong value: its own line, column and dotted key', async (t) => {
    const home = createTempHome(t);
    const path = home.write('config.yaml', '# mine\nagent:\n  max_steps: many\n');
    const error = await failure(() => loadConfig(path));
    assert.match(error.message, /config\.yaml:3:14: agent\.max_steps: /);
  });

  test('a list at the top is refused with its position', async (t) => {
    const home = createTempHome(t);
    const error = await failure(() => loadConfig(home.write('config.yaml', '- a\n- b\n')));
    assert.match(error.message, /config\.yaml:1:1: the file: /);
  });

  verifies(
    'core:bad-input:newer-config',
    'a newer version is read as far as it is understood, and not rewritten',
    async (t) => {
      const home = createTempHome(t);
      const text = 'version: 99\nmodel: openai/gpt-5\nagent: everything\n';
      const path = home.write('config.yaml', text);
      const loaded = await loadConfig(path);
      assert.equal(loaded.config.model, 'openai/gpt-5');
      assert.equal(loaded.config.agent.max_steps, 200);
      assert.match(loaded.readOnly ?? '', /version 99/);
      const edited = await editConfig(path, [{ path: ['model'], value: 'x/y' }]);
      assert.equal(edited.ok, false);
      assert.equal(!edited.ok && edited.reason, 'config-newer');
      assert.equal(home.read('config.yaml'), text);
    },
  );

  verifies('core:home:config-keeps-unknown', 'unknown keys and comments survive an edit', async (t) => {
    const home = createTempHome(t);
    const path = home.write(
      'config.yaml',
      '# my settings\nversion: 1\nmcp_servers: # later\n  files: {command: x}\nagent:\n  max_steps: 7 # enough\n  personality: calm\n',
    );
    assert.ok((await editConfig(path, [{ path: ['agent', 'max_steps'], value: 9 }])).ok);
    assert.ok((await editConfig(path, [{ path: ['terminal', 'timeout'], value: 30 }])).ok);
    const text = home.read('config.yaml');
    for (const kept of ['# my settings', '# later', '# enough', 'personality: calm', 'command: x']) {
      assert.ok(text.includes(kept), `${kept} in ${text}`);
    }
    const { config, raw } = await loadConfig(path);
    assert.equal(config.agent.max_steps, 9);
    assert.equal(config.terminal.timeout, 30);
    assert.ok(raw.mcp_servers);
  });

  test('an edit that would not read back is refused and changes nothing', async (t) => {
    const home = createTempHome(t);
    const path = home.write('config.yaml', 'model: a/b\n');
    const refused = await editConfig(path, [{ path: ['agent', 'max_steps'], value: 'many' }]);
    assert.equal(!refused.ok && refused.reason, 'config-value');
    assert.equal(home.read('config.yaml'), 'model: a/b\n');
  });

  verifies('core:home:secrets-in-env-only', 'a key-shaped value is not written into the configuration', async (t) => {
    const home = createTempHome(t);
    const path = join(home.path, 'config.yaml');
    const refused = await editConfig(path, [
      { path: ['providers', 'openai', 'api_key'], value: `sk-${'a1'.repeat(20)}` },
    ]);
    assert.equal(!refused.ok && refused.reason, 'secret');
  });

  verifies('core:home:private', 'a new configuration is readable by the owner only', async (t) => {
    const home = createTempHome(t);
    const path = join(home.path, 'config.yaml');
    assert.ok((await editConfig(path, [{ path: ['model'], value: 'a/b' }])).ok);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.match(readFileSync(path, 'utf8'), /^version: 1$/m);
  });

  verifies(
    'core:home:atomic-writes',
    'a process killed in the middle of writing leaves an old or a new file, whole',
    async (t) => {
      const home = createTempHome(t);
      const path = home.write('config.yaml', `# ${'long '.repeat(20_000)}\nagent:\n  max_steps: 1\n`);
      const script = `
      import { editConfig } from '#surfaces/app/home/config.ts';
      import { setEnvValue } from '#surfaces/app/home/variables.ts';
      for (let i = 1; ; i += 1) {
        await editConfig(${JSON.stringify(path)}, [{ path: ['agent', 'max_steps'], value: i }]);
        await setEnvValue(${JSON.stringify(join(home.path, '.env'))}, 'NUMBER', String(i).repeat(2000));
        process.stdout.write('.');
      }`;
      const root = join(import.meta.dirname, '../../../..');
      const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], { cwd: root });
      await new Promise<void>((resolve) => {
        let wrote = 0;
        child.stdout.on('data', (chunk: Buffer) => {
          wrote += chunk.length;
          if (wrote > 25) child.kill('SIGKILL');
        });
        child.on('close', () => resolve());
      });
      const { config } = await loadConfig(path);
      assert.ok(config.agent.max_steps >= 25);
      const value = readEnvFile(join(home.path, '.env')).NUMBER ?? '';
      assert.match(value, /^(\d+?)\1{1999}$/);
    },
  );

  verifies.slow(
    'core:home:edits-kept',
    'processes that change settings and keys at once (twenty in a deep run): every change is kept',
    async (t) => {
      const home = createTempHome(t);
      const path = home.write('config.yaml', '# mine\nmodel: a/b\n');
      writeFileSync(`${path}.lock`, '4194304 a-machine-that-is-gone\n');
      utimesSync(`${path}.lock`, 1, 1);
      const script = (n: number) => `
      import { editConfig } from '#surfaces/app/home/config.ts';
      import { setEnvValue } from '#surfaces/app/home/variables.ts';
      const done = await editConfig(${JSON.stringify(path)}, [{ path: ['providers', 'p${n}', 'base_url'], value: 'http://localhost:${n}' }]);
      if (!done.ok) throw new Error(done.detail);
      await setEnvValue(${JSON.stringify(join(home.path, '.env'))}, 'KEY_${n}', '${n}');`;
      const cwd = join(import.meta.dirname, '../../../..');
      const processes = many(20, 5);
      const ended = Array.from({ length: processes }, async (_, n) => {
        const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script(n)], {
          cwd,
          stdio: 'ignore',
        });
        return once(child, 'close');
      });
      assert.deepEqual([...new Set((await Promise.all(ended)).map(([code]) => code))], [0]);
      const { config } = await loadConfig(path);
      assert.equal(Object.keys(config.providers).length, processes);
      assert.match(home.read('config.yaml'), /^# mine\n/);
      assert.equal(Object.keys(readEnvFile(join(home.path, '.env'))).length, processes);
      assert.deepEqual(readdirSync(home.path).sort(), ['.env', 'config.yaml']);
    },
  );

  slow('commands that set something at once keep all settings', async (t) => {
    const home = createTempHome(t);
    const env = { ...process.env, TALARIA_HOME: home.path };
    const names = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'].slice(0, many(6, 3));
    const ended = names.map(async (name, n) => {
      const words = ['config', 'set', `providers.${name}.base_url`, `http://localhost:${n}`];
      return once(spawn(process.execPath, [MAIN, ...words], { env, stdio: 'ignore' }), 'close');
    });
    assert.deepEqual([...new Set((await Promise.all(ended)).map(([code]) => code))], [0]);
    const { config } = await loadConfig(join(home.path, 'config.yaml'));
    assert.deepEqual(Object.keys(config.providers).sort(), names);
  });

  test('whatever the text, it is read or refused with a position, never anything else', async (t) => {
    const home = createTempHome(t);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 60 }), async (text) => {
        const path = home.write('config.yaml', text);
        try {
          await loadConfig(path);
        } catch (error) {
          assert.ok(error instanceof TalariaError, String(error));
          assert.match(error.message, /config\.yaml:\d+:\d+: /);
        }
      }),
      { numRuns: runs(200) },
    );
  });
});

describe('what a start keeps of config.yaml', () => {
  test('first hour start: a configuration that was kept is the one that was read, places included', async (context) => {
    const home = createTempHome(context);
    const path = home.write(
      'config.yaml',
      'version: 1\nmodel:\n  provider: mine\n  name: m\nproviders:\n  mine:\n    base_url: http://127.0.0.1:9/v1\nown_key: [1, {a: b}]\n',
    );
    const open = () => openStartCache(join(home.path, 'cache'), 'a-build');
    const first = open();
    const read = await loadConfig(path, first);
    first?.keep();
    const kept = await loadConfig(path, open());
    assert.deepEqual(kept.config, read.config);
    assert.deepEqual(kept.raw, read.raw);
    for (const keys of [
      [],
      ['model'],
      ['model', 'name'],
      ['providers', 'mine', 'nothing'],
      ['own_key', '1', 'a'],
      ['no'],
    ])
      assert.equal(kept.locate(keys), read.locate(keys), keys.join('.'));
    const late = lateSchemas(() => z);
    const section = late.object({ own_key: late.number().default(4) });
    assert.equal(madeOf(section) === undefined, false);
    assert.deepEqual(readConfigSection(kept, 'rlm', section), { own_key: 4 });
    assert.deepEqual(readConfigSection(kept, 'rlm', section), { own_key: 4 });
    assert.throws(
      () => readConfigSection(kept, 'model', late.object({ name: late.number() })),
      /config\.yaml:4:9: model\.name/,
    );
  });

  test('first hour start: a key in the file stands in no other, and the text of a file in none', async (context) => {
    const home = createTempHome(context);
    const provider = 'version: 1\nproviders:\n  mine:\n    base_url: http://127.0.0.1:9/v1\n';
    const section = lateSchemas(() => z).object({ mine: z.unknown() });
    const keptOf = async (text: string): Promise<string> => {
      const cache = openStartCache(home.path, 'a-build');
      const loaded = await loadConfig(home.write('config.yaml', text), cache);
      readConfigSection(loaded, 'providers', section);
      cache?.set('something', { is: 'new' });
      cache?.keep();
      return home.read('start.json');
    };
    const plain = await keptOf(provider);
    assert.match(plain, /127\.0\.0\.1:9/);
    assert.ok(!plain.includes('config.yaml'), 'the names of what is kept are hashes');
    const secret = ['sk-', 'proj-', 'q8Zt3Lw0Xc7Vb2Nm5Kj9Hg4Fd1Sa6Pq'].join('');
    assert.ok(!(await keptOf(`${provider}    api_key: ${secret}\n`)).includes(secret));
  });

  test('first hour start: a cache that cannot be read or is of another build is empty, and one that was not made is not written', (context) => {
    const home = createTempHome(context);
    const made = openStartCache(home.path, 'a');
    made?.keep();
    assert.throws(() => home.read('start.json'));
    made?.set('key', { is: 'kept' });
    made?.keep();
    assert.deepEqual(openStartCache(home.path, 'a')?.get('key'), { is: 'kept' });
    assert.equal(openStartCache(home.path, 'b')?.get('key'), undefined);
    assert.equal(openStartCache(home.path, 'a')?.get('toString'), undefined);
    home.write('start.json', '{"build":"a","entries":[');
    assert.equal(openStartCache(home.path, 'a')?.get('key'), undefined);
    assert.equal(openStartCache(home.path), undefined, 'a checkout that runs its source keeps nothing');
  });
});

describe('.env', () => {
  test('reads plain, quoted and exported values, without comments', (t) => {
    const home = createTempHome(t);
    const path = home.write(
      '.env',
      '# keys\nA=1\nexport B="two words" # why\nC=\'as $is\'\n\nD = x # note\nnonsense\nE=\n',
    );
    assert.deepEqual(readEnvFile(path), { A: '1', B: 'two words', C: 'as $is', D: 'x', E: '' });
  });

  test('no file is no variables', (t) => {
    assert.deepEqual(readEnvFile(join(createTempHome(t).path, '.env')), {});
  });

  verifies('core:home:private', 'setting a value keeps the other lines and makes the file private', async (t) => {
    const home = createTempHome(t);
    const path = home.write('.env', '# mine\nA=1\nB=2\n');
    chmodSync(path, 0o644);
    await setEnvValue(path, 'A', 'new value');
    await setEnvValue(path, 'C', '3');
    assert.equal(home.read('.env'), '# mine\nA="new value"\nB=2\nC=3\n');
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  test('any value of one line comes back as it was', async (t) => {
    const home = createTempHome(t);
    const path = join(home.path, '.env');
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme' }).filter((text) => !/[\r\n]/.test(text)),
        async (value) => {
          await setEnvValue(path, 'KEY', value);
          assert.equal(readEnvFile(path).KEY, value);
        },
      ),
      { numRuns: 60, examples: [['\u2028'], ['a\u2029 # b']] },
    );
  });

  test('a line break or a strange name is refused without naming the value', async (t) => {
    const path = join(createTempHome(t).path, '.env');
    await assert.rejects(
      () => setEnvValue(path, 'KEY', 'secret\nB=2'),
      (error: Error) => !error.message.includes('secret'),
    );
    await assert.rejects(() => setEnvValue(path, 'A B', 'x'));
  });
});
