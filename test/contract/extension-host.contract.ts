/**
 * What every ExtensionHost promises to an extension. `make` gives a host that was just activated for
 * one extension, ways to look at what it holds, and its shutdown.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { z } from 'zod';
import { defineCommand } from '#core/agent/command-spec.ts';
import type { Extension, ExtensionHost } from '#core/agent/extension-host.ts';
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import { type AnyTool, defineTool } from '#core/agent/tool.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import { verifies } from '../verifies.ts';

export interface HostUnderTest {
  /** Activates one extension. */
  activate(extension: Extension): Promise<void>;
  shutdown(): Promise<void>;
  /** Names of everything that is registered now: `tool:x`, `command:x`, `rule:x`, `hooks:x`. */
  registered(): readonly string[];
  emit(event: TurnEvent): void;
  /** Moves the host's clock. */
  advance(ms: number): Promise<void>;
  /** What failing jobs and closings were reported as. */
  notices(): readonly string[];
  /** Folder of the home. */
  readonly root: string;
}

export interface HostContractSetup {
  /** `config` is what config.yaml holds. */
  readonly make: (context: TestContext, config?: string) => Promise<HostUnderTest>;
}

const schema = { room: 'sample', steps: ['CREATE TABLE things(name TEXT)'] };

function tool(name: string): AnyTool {
  return defineTool({
    name,
    description: 'a tool of a test',
    input: z.object({}),
    toolset: 'test',
    effect: 'read',
    run: async () => ({ text: 'ran' }),
  });
}

function rule(intent: string): ReflexRule {
  return {
    purpose: 'act',
    intent,
    examples: [],
    match: () => undefined,
    restate: () => '',
    act: () => ({ type: 'say', text: '' }),
  };
}

const command = defineCommand({
  name: 'sample',
  summary: 'a sample',
  surfaces: ['cli'],
  input: z.object({}),
  async *run() {},
});

/** An extension that keeps its host for the test. */
async function hostOf(under: HostUnderTest, name = 'sample'): Promise<ExtensionHost> {
  const kept: ExtensionHost[] = [];
  await under.activate({ name, activate: (host) => void kept.push(host) });
  const [host] = kept;
  assert.ok(host);
  return host;
}

export function extensionHostContract(name: string, { make }: HostContractSetup): void {
  describe(`${name}: the contract of extension hosts`, () => {
    verifies(
      ['core:extension:host', 'core:extension:removable'],
      'what is added is there, and gone after shutdown',
      async (t) => {
        const under = await make(t);
        const host = await hostOf(under);
        host.addTool(tool('sample_tool'));
        host.addHooks({ name: 'sample-hooks' });
        host.addCommand(command);
        host.addReflexRule(rule('sample'));
        host.addReflexTask({ schema: 'sample.v1', load: async () => () => '{}' });
        assert.deepEqual([...under.registered()].sort(), [
          'command:sample',
          'hooks:sample-hooks',
          'rule:sample',
          'task:sample.v1',
          'tool:sample_tool',
        ]);
        await under.shutdown();
        assert.deepEqual(under.registered(), []);
        await under.shutdown();
      },
    );

    test('a name that is taken is refused at once, also by another extension', async (t) => {
      const under = await make(t);
      const first = await hostOf(under, 'first');
      const second = await hostOf(under, 'second');
      first.addTool(tool('sample_tool'));
      first.addCommand(command);
      first.addReflexRule(rule('sample'));
      assert.throws(() => first.addTool(tool('sample_tool')), { code: 'name-taken' });
      assert.throws(() => second.addTool(tool('sample_tool')), { code: 'name-taken' });
      assert.throws(() => second.addCommand(command), { code: 'name-taken' });
      assert.throws(() => second.addReflexRule(rule('sample')), { code: 'name-taken' });
      await under.shutdown();
    });

    test('an extension that fails to activate leaves nothing', async (t) => {
      const under = await make(t);
      const broken = async (host: ExtensionHost) => {
        host.addTool(tool('sample_tool'));
        throw new Error('broken');
      };
      await assert.rejects(under.activate({ name: 'broken', activate: broken }), /broken/);
      assert.deepEqual(under.registered(), []);
      (await hostOf(under)).addTool(tool('sample_tool'));
      await under.shutdown();
    });

    test('events arrive until the shutdown', async (t) => {
      const under = await make(t);
      const host = await hostOf(under);
      const seen: string[] = [];
      host.events.subscribe((event) => seen.push(event.type));
      under.emit({ type: 'notice', text: 'one' });
      await under.shutdown();
      under.emit({ type: 'notice', text: 'two' });
      assert.deepEqual(seen, ['notice']);
    });

    test('its section of the configuration is validated, with defaults; a wrong value names line and key', async (t) => {
      const under = await make(t, 'version: 1\nsample:\n  size: 3\nwrong:\n  size: big\n');
      const host = await hostOf(under);
      const sized = z.object({ size: z.number().default(7) });
      assert.deepEqual(host.config('sample', sized), { size: 3 });
      assert.deepEqual(host.config('absent', sized), { size: 7 });
      assert.throws(
        () => host.config('wrong', sized),
        (error: Error) =>
          /config\.yaml:5:\d+: wrong\.size: /.test(error.message) && 'code' in error && error.code === 'config-invalid',
      );
      await under.shutdown();
    });

    test('its database is a file of its own, kept between runs, closed after its own shutdown', async (t) => {
      const under = await make(t);
      const host = await hostOf(under);
      const database = host.openDatabase('sample.db', schema);
      database.run('INSERT INTO things VALUES(?)', 'kept');
      let atShutdown: unknown;
      host.onShutdown(async () => {
        atShutdown = database.all('SELECT name FROM things').length;
      });
      assert.ok(existsSync(`${under.root}/sample.db`));
      assert.throws(() => host.openDatabase('sample.db', schema), { code: 'name-taken' });
      await under.shutdown();
      assert.equal(atShutdown, 1);
      assert.throws(() => database.all('SELECT name FROM things'));
    });

    test('no file outside the home and none of the agent can be opened', async (t) => {
      const under = await make(t);
      const host = await hostOf(under);
      for (const file of ['../escaped.db', '/tmp/escaped.db', 'state.db', 'a/b/c.db', 'config.yaml', '']) {
        assert.throws(() => host.openDatabase(file, schema), { code: 'file-name' }, file);
      }
      await under.shutdown();
    });

    test('jobs run at their times, one at a time, a late one once, a failing one again', async (t) => {
      const under = await make(t);
      const host = await hostOf(under);
      const ran: string[] = [];
      let running = 0;
      const job = (name: string, everyMs: number, fails = false) =>
        host.addJob({
          name,
          everyMs,
          run: async () => {
            running += 1;
            assert.equal(running, 1, 'two jobs at once');
            ran.push(name);
            await Promise.resolve();
            running -= 1;
            if (fails) throw new Error('not now');
          },
        });
      job('slow', 1000);
      job('failing', 400, true);
      await under.advance(500);
      assert.deepEqual(ran, ['failing']);
      await under.advance(600);
      assert.deepEqual(ran, ['failing', 'failing', 'slow']);
      assert.equal(under.notices().filter((notice) => notice.includes('failing')).length, 2);
      await under.shutdown();
      await under.advance(5000);
      assert.equal(ran.length, 3);
    });

    test('shutdown stops a running job and waits for it', async (t) => {
      const under = await make(t);
      const host = await hostOf(under);
      let ended = false;
      host.addJob({
        name: 'long',
        everyMs: 100,
        run: (signal) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => {
              ended = true;
              resolve();
            });
          }),
      });
      await under.advance(150);
      await under.shutdown();
      assert.equal(ended, true);
    });

    test('a failing shutdown is reported and does not stop the others', async (t) => {
      const under = await make(t);
      const ended: string[] = [];
      const host = await hostOf(under, 'first');
      host.onShutdown(async () => void ended.push('first'));
      (await hostOf(under, 'second')).onShutdown(async () => {
        throw new Error('stuck');
      });
      await under.shutdown();
      assert.deepEqual(ended, ['first']);
      assert.ok(under.notices().some((notice) => notice.includes('stuck')));
      assert.throws(() => host.addTool(tool('late')), { code: 'extension-ended' });
    });
  });
}
