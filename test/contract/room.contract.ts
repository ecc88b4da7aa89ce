/**
 * What a house promises to its rooms. `make` gives one without rooms, ways to look at what its rooms have added, and its end.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { z } from 'zod';
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import {
  type AnyTool,
  defineTool,
  type Job,
  type OpenRoom,
  type Room,
  type RoomGround,
  type SessionEvent,
} from '#public/talaria.ts';
import { verifies } from '../verifies.ts';

export interface HouseUnderTest {
  open(room: Room): Promise<void>;
  close(): Promise<void>;
  /** Everything that rooms have added now: `tool:x`, `rule:x`, `task:x`, `hooks:x`. */
  added(): Promise<readonly string[]>;
  emit(event: SessionEvent): void;
  /** Moves its clock. */
  advance(ms: number): Promise<void>;
  /** What failing jobs and endings were reported as. */
  notices(): readonly string[];
  /** Folder of the home. */
  readonly root: string;
}

export interface RoomContractSetup {
  /** `config` is what config.yaml holds. */
  readonly make: (context: TestContext, config?: string) => Promise<HouseUnderTest>;
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

/** Opens a room that adds this, and gives what the room was lent. */
async function opened(under: HouseUnderTest, name = 'sample', added: OpenRoom = {}): Promise<RoomGround> {
  const kept: RoomGround[] = [];
  const open = (ground: RoomGround): OpenRoom => {
    kept.push(ground);
    return added;
  };
  await under.open({ name, open });
  const [ground] = kept;
  assert.ok(ground);
  return ground;
}

export function roomContract(name: string, { make }: RoomContractSetup): void {
  describe(`${name}: the contract of rooms`, () => {
    verifies(
      ['core:extension:host', 'core:extension:removable'],
      'what a room adds is there, and gone after the end',
      async (t) => {
        const under = await make(t);
        await opened(under, 'sample', {
          tools: [tool('sample_tool')],
          hooks: [{ name: 'sample-hooks' }],
          rules: async () => [rule('sample')],
          tasks: [{ schema: 'sample.v1', load: async () => () => '{}' }],
        });
        const all = ['hooks:sample-hooks', 'rule:sample', 'task:sample.v1', 'tool:sample_tool'];
        assert.deepEqual([...(await under.added())].sort(), all);
        await under.close();
        assert.deepEqual(await under.added(), []);
        await under.close();
      },
    );

    test('a name that is taken is refused, also by another room', async (t) => {
      const under = await make(t);
      const task = { schema: 'sample.v1', load: async () => () => '{}' };
      const taken = { code: 'name-taken' };
      await opened(under, 'first', { tools: [tool('sample_tool')], tasks: [task], rules: async () => [rule('one')] });
      await assert.rejects(opened(under, 'first'), taken);
      await assert.rejects(opened(under, 'second', { tools: [tool('sample_tool')] }), taken);
      await assert.rejects(opened(under, 'second', { tasks: [task] }), taken);
      await opened(under, 'second', { rules: async () => [rule('one')] });
      await assert.rejects(under.added(), taken);
      await under.close();
    });

    test('a room that fails to open leaves nothing', async (t) => {
      const under = await make(t);
      const kept: RoomGround[] = [];
      const open = async (ground: RoomGround) => {
        kept.push(ground);
        ground.database('sample.db', schema);
        throw new Error('broken');
      };
      await assert.rejects(under.open({ name: 'broken', open }), /broken/);
      assert.deepEqual(await under.added(), []);
      const again = await opened(under, 'broken', { tools: [tool('sample_tool')] });
      again.database('sample.db', schema);
      await under.close();
    });

    test('events arrive until the end', async (t) => {
      const under = await make(t);
      const { events } = await opened(under);
      const seen: string[] = [];
      events.subscribe(({ event }) => seen.push(event.type));
      under.emit({ sessionId: 's', event: { type: 'notice', text: 'one' } });
      await under.close();
      under.emit({ event: { type: 'notice', text: 'two' } });
      assert.deepEqual(seen, ['notice']);
    });

    test('its section of the configuration is checked, with defaults; a wrong value names line and key', async (t) => {
      const under = await make(t, 'version: 1\nsample:\n  size: 3\nwrong:\n  size: big\n');
      const { section } = await (await opened(under)).settings();
      const sized = z.object({ size: z.number().default(7) });
      assert.deepEqual(section('sample', sized), { size: 3 });
      assert.deepEqual(section('absent', sized), { size: 7 });
      assert.throws(
        () => section('wrong', sized),
        (error: Error) =>
          /config\.yaml:5:\d+: wrong\.size: /.test(error.message) && 'code' in error && error.code === 'config-invalid',
      );
      await under.close();
    });

    test('its database is a file of its own, kept between runs, closed after its own end', async (t) => {
      const under = await make(t);
      let atEnd: unknown;
      let count = () => 0;
      const close = (): void => {
        atEnd = count();
      };
      const ground = await opened(under, 'sample', { close });
      const database = ground.database('sample.db', schema);
      count = () => database.all('SELECT name FROM things').length;
      database.run('INSERT INTO things VALUES(?)', 'kept');
      assert.ok(existsSync(`${under.root}/sample.db`));
      assert.throws(() => ground.database('sample.db', schema), { code: 'name-taken' });
      await under.close();
      assert.equal(atEnd, 1);
      assert.throws(count);
    });

    test('no file outside the home and none of the agent can be opened', async (t) => {
      const under = await make(t);
      const { database } = await opened(under);
      for (const file of ['../escaped.db', '/tmp/escaped.db', 'state.db', 'a/b/c.db', 'config.yaml', '']) {
        assert.throws(() => database(file, schema), { code: 'file-name' }, file);
      }
      await under.close();
    });

    test('jobs run at their times, one at a time, a late one once, a failing one again', async (t) => {
      const under = await make(t);
      const ran: string[] = [];
      let running = 0;
      const job = (name: string, everyMs: number, fails = false): Job => ({
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
      await opened(under, 'sample', { jobs: [job('slow', 1000), job('failing', 400, true)] });
      await under.advance(500);
      assert.deepEqual(ran, ['failing']);
      await under.advance(600);
      assert.deepEqual(ran, ['failing', 'failing', 'slow']);
      assert.equal(under.notices().filter((notice) => notice.includes('failing')).length, 2);
      await under.close();
      await under.advance(5000);
      assert.equal(ran.length, 3);
    });

    test('the end stops a running job and waits for it', async (t) => {
      const under = await make(t);
      let ended = false;
      const run = (signal: AbortSignal) =>
        new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => {
            ended = true;
            resolve();
          });
        });
      await opened(under, 'sample', { jobs: [{ name: 'long', everyMs: 100, run }] });
      await under.advance(150);
      await under.close();
      assert.equal(ended, true);
    });

    test('a failing end is reported and does not stop the others', async (t) => {
      const under = await make(t);
      const ended: string[] = [];
      const stuck = (): never => {
        throw new Error('stuck');
      };
      await opened(under, 'first', { close: () => void ended.push('first') });
      const { database } = await opened(under, 'second', { close: stuck });
      await under.close();
      assert.deepEqual(ended, ['first']);
      assert.ok(under.notices().some((notice) => notice.includes('stuck')));
      assert.throws(() => database('late.db', schema), { code: 'room-ended' });
    });
  });
}
