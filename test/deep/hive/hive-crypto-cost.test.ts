// What encryption costs, and that the cost of a write does not grow with what is known.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { agentsOn, room } from '../../extensions/hive/key-stage.ts';
import { verifies } from '../../verifies.ts';

describe('the cost of encryption', () => {
  verifies(['R4.36', 'R4.75'], 'rows and bytes of a write are the same with 10 and with 500 known rooms', async (t) => {
    const written = { rows: 0, bytes: 0 };
    const counting = {
      openDatabase: (...args: Parameters<typeof openDatabase>) => counted(openDatabase(...args), written),
    };
    const { open } = agentsOn(t, counting);
    const [alice, bob] = [await open('alice'), await open('bob')];
    const measure = async (work: () => Promise<unknown>) => {
      Object.assign(written, { rows: 0, bytes: 0 });
      await work();
      return { ...written };
    };
    const costs = [];
    let known = 0;
    for (const rooms of [10, 500]) {
      for (; known < rooms; known += 1) await alice.say(room(`!known${known}:x`, '@alice:x', '@bob:x'), 'x');
      await bob.sync();
      const target = room(`!fresh${rooms}:x`, '@alice:x', '@bob:x');
      const first = await measure(() => alice.say(target, 'x'));
      const next = await measure(() => alice.say(target, 'y'));
      const received = await measure(() => bob.sync());
      costs.push({ first, next, received });
      t.diagnostic(`${rooms} rooms: ${JSON.stringify({ first, next, received })}`);
    }
    const [few, many] = costs;
    for (const kind of ['first', 'next', 'received'] as const) {
      assert.equal(many?.[kind].rows, few?.[kind].rows, kind);
      assert.ok((many?.[kind].bytes ?? 0) < (few?.[kind].bytes ?? 0) * 1.1 + 500, kind);
    }
    const started = performance.now();
    await alice.crypto.close();
    const again = await open('alice');
    t.diagnostic(`opening with 500 rooms and a sync: ${Math.round(performance.now() - started)} ms`);
    assert.deepEqual(again.warnings, []);
  });

  verifies('R4.36', 'a message is encrypted and read in a few milliseconds once keys are shared', async (t) => {
    const { open } = agentsOn(t);
    const [alice, bob] = [await open('alice'), await open('bob')];
    const target = { ...room('!r:x', '@alice:x', '@bob:x') };
    await alice.say(target, 'warm');
    await bob.sync();
    const cpu = { encrypt: 0, decrypt: 0 };
    for (let count = 0; count < 90; count += 1) {
      const before = process.cpuUsage();
      const said = await alice.say(target, `message ${count}`);
      const between = process.cpuUsage(before);
      const middle = process.cpuUsage();
      assert.equal(await bob.read(said), `message ${count}`);
      const after = process.cpuUsage(middle);
      cpu.encrypt += (between.user + between.system) / 90_000;
      cpu.decrypt += (after.user + after.system) / 90_000;
    }
    t.diagnostic(`CPU a message: encrypt ${cpu.encrypt.toFixed(2)} ms, decrypt ${cpu.decrypt.toFixed(2)} ms`);
    assert.ok(cpu.encrypt + cpu.decrypt < 10, JSON.stringify(cpu));
  });
});

type Opened = ReturnType<typeof openDatabase>;

function counted(opened: Opened, written: { rows: number; bytes: number }): Opened {
  const { database } = opened;
  const run = database.run.bind(database);
  database.run = (sql, ...values) => {
    const done = run(sql, ...values);
    written.rows += done.changes;
    for (const value of values)
      written.bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8;
    return done;
  };
  return opened;
}
