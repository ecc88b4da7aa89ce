/** What every way of carrying the fleet's messages must keep. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { StyxRow, StyxTransport } from '#fleet/styx/home-log.ts';
import type { JsonValue } from '#public/talaria.ts';
import { until } from '../ends.ts';

/** `make` gives a function that opens the same log once more, as another process would. */
export function styxContract(name: string, make: (t: TestContext) => () => StyxTransport): void {
  describe(`styx contract: ${name}`, () => {
    test('rows are read in the order in which they were appended, by whoever, and stand there once', async (t) => {
      const open = make(t);
      const [one, other] = [open(), open()];
      const bodies: JsonValue[] = [{ n: 1, text: 'ä\n' }, [null, true], 'plain'];
      for (const [at, body] of bodies.entries()) await (at % 2 === 0 ? one : other).append('golem.alpha.event', body);
      const rows = other.read(['golem.alpha.event'], 0, 10);
      assert.deepEqual(
        rows.map(({ body }) => body),
        bodies,
      );
      assert.ok(rows.every(({ seq }, at) => at === 0 || seq > (rows[at - 1]?.seq ?? 0)));
      assert.equal(new Set(rows.map(({ origin, originSeq }) => `${origin}:${originSeq}`)).size, 3);
      assert.deepEqual(
        one.read(['golem.alpha.event'], rows[0]?.seq ?? 0, 1).map(({ body }) => body),
        [bodies[1]],
      );
    });

    test('a star stands for one whole segment', async (t) => {
      const log = make(t)();
      for (const topic of ['golem.a.event', 'golem.b.event', 'golem.b.steer', 'golem.b.c.event', 'presence'])
        await log.append(topic, topic);
      const found = (...patterns: string[]) => log.read(patterns, 0, 9).map(({ topic }) => topic);
      assert.deepEqual(found('golem.*.event'), ['golem.a.event', 'golem.b.event']);
      assert.deepEqual(found('golem.b.*', '*'), ['golem.b.event', 'golem.b.steer', 'presence']);
      assert.deepEqual(found(), []);
      const heard: string[] = [];
      log.follow(['golem.*.event', '*'], ({ topic }) => heard.push(topic));
      for (const topic of ['golem.a.event', 'golem.b.c.event', 'golem.b.steer', 'presence']) await log.append(topic, 1);
      await until(() => heard.length === 2);
      assert.deepEqual(heard, ['golem.a.event', 'presence']);
    });

    test('who follows hears what comes from then on, once, in order, from everywhere; one that throws goes on hearing', async (t) => {
      const open = make(t);
      const [writer, reader] = [open(), open()];
      await writer.append('clade.kit', 'before');
      const heard: JsonValue[] = [];
      const stop = reader.follow(['clade.kit'], ({ body }) => {
        heard.push(body);
        if (body === 1) throw new Error('a fault of the listener');
      });
      const own: JsonValue[] = [];
      writer.follow(['clade.kit'], ({ body }) => own.push(body));
      for (const body of [1, 2, 3]) await (body === 2 ? reader : writer).append('clade.kit', body);
      await until(() => heard.length >= 3 && own.length >= 3);
      stop();
      await writer.append('clade.kit', 4);
      await until(() => own.length === 4);
      assert.deepEqual(
        [heard, own],
        [
          [1, 2, 3],
          [1, 2, 3, 4],
        ],
      );
    });

    test('a listener may append and follow: every row is heard once', async (t) => {
      const log = make(t)();
      const heard: JsonValue[] = [];
      const inner: JsonValue[] = [];
      log.follow(['presence'], ({ body }) => {
        heard.push(body);
        if (body !== 1) return;
        log.follow(['presence'], (row) => inner.push(row.body));
        void log.append('presence', 3);
      });
      await Promise.all([log.append('presence', 1), log.append('presence', 2)]);
      await until(() => heard.length >= 3 && inner.length >= 2);
      assert.deepEqual(
        [heard, inner],
        [
          [1, 2, 3],
          [2, 3],
        ],
      );
    });

    test('a question is answered by row, whoever else asks; without an answer it ends', async (t) => {
      const open = make(t);
      const [asker, other, golem] = [open(), open(), open()];
      const asked: StyxRow[] = [];
      golem.follow(['golem.beta.ask'], (row) => asked.push(row));
      const both = [
        asker.ask('golem.beta.ask', 'a', { timeoutMs: 60_000 }),
        other.ask('golem.beta.ask', 'b', { timeoutMs: 60_000 }),
      ];
      await until(() => asked.length === 2);
      for (const row of asked.toReversed()) await golem.answer(row, { said: row.body });
      assert.deepEqual(await Promise.all(both), [{ said: 'a' }, { said: 'b' }]);
      await assert.rejects(asker.ask('golem.gone.ask', null, { timeoutMs: 1 }), { code: 'no-answer' });
    });

    test('a reader’s place is kept, by its name, and never goes back', async (t) => {
      const open = make(t);
      const log = open();
      assert.equal(log.position('meta'), 0);
      const seq = await log.append('presence', 1);
      await log.commit('meta', seq);
      await log.commit('meta', 0);
      assert.deepEqual([open().position('meta'), log.position('other')], [seq, 0]);
    });

    test('topics that are none and bodies over a megabyte are refused, and nothing is kept', async (t) => {
      const log = make(t)();
      for (const topic of ['', 'golem..event', 'Golem.a', 'golem.*.event', 'golem.a b', '../x', 'a.'])
        await assert.rejects(log.append(topic, 1), { code: 'topic-invalid' }, topic);
      assert.throws(() => log.read(['golem.a*'], 0, 1), { code: 'topic-invalid' });
      assert.throws(() => log.follow(['[a]'], () => undefined), { code: 'topic-invalid' });
      await assert.rejects(log.ask('golem.a.event', 1, { timeoutMs: 1 }), { code: 'topic-invalid' });
      await assert.rejects(log.append('presence', 'x'.repeat(1024 ** 2)), { code: 'body-too-large' });
      await log.append('presence', 'x'.repeat(1024 ** 2 - 2));
      assert.equal(log.read(['*', '*.*', '*.*.*'], 0, 9).length, 1);
    });

    test('after close nobody hears anything', async (t) => {
      const open = make(t);
      const [writer, reader, witness] = [open(), open(), open()];
      const heard: StyxRow[] = [];
      const seen: StyxRow[] = [];
      reader.follow(['presence'], (row) => heard.push(row));
      witness.follow(['presence'], (row) => seen.push(row));
      reader.close();
      reader.close();
      await writer.append('presence', 1);
      await until(() => seen.length === 1);
      assert.deepEqual(heard, []);
    });
  });
}
