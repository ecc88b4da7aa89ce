/** What every way of carrying the fleet's messages must keep. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { StyxRow, StyxTransport } from '#fleet/styx/home-log.ts';
import type { JsonValue } from '#public/talaria.ts';
import { until } from '../ends.ts';

export interface StyxBench {
  /** The log as the n-th process sees it; those with an even number share a home in any case. */
  readonly open: (process: number) => StyxTransport;
  /** What was appended stands wherever it comes to. */
  readonly settled: () => Promise<void>;
}

export function styxContract(name: string, make: (t: TestContext) => StyxBench): void {
  describe(`styx contract: ${name}`, () => {
    test('rows are read in the order in which they were appended, by whoever, and stand there once', async (t) => {
      const { open, settled } = make(t);
      const [one, other] = [open(0), open(1)];
      const bodies: JsonValue[] = [{ n: 1, text: 'ä\n' }, [null, true], 'plain'];
      for (const [at, body] of bodies.entries()) {
        await (at % 2 === 0 ? one : other).append('golem.alpha.event', body);
        await settled();
      }
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
      const log = make(t).open(0);
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
      const { open, settled } = make(t);
      const [writer, reader] = [open(0), open(1)];
      await writer.append('clade.kit', 'before');
      await settled();
      const heard: JsonValue[] = [];
      const stop = reader.follow(['clade.kit'], ({ body }) => {
        heard.push(body);
        if (body === 1) throw new Error('a fault of the listener');
      });
      const own: JsonValue[] = [];
      writer.follow(['clade.kit'], ({ body }) => own.push(body));
      for (const body of [1, 2, 3]) {
        await (body === 2 ? reader : writer).append('clade.kit', body);
        await settled();
      }
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
      const log = make(t).open(0);
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
      const { open } = make(t);
      const [asker, other, golem] = [open(0), open(1), open(2)];
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
      const { open } = make(t);
      const log = open(0);
      assert.equal(log.position('meta'), 0);
      const seq = await log.append('presence', 1);
      await log.commit('meta', seq);
      await log.commit('meta', 0);
      assert.deepEqual([open(2).position('meta'), log.position('other')], [seq, 0]);
    });

    test('of each topic and origin the newest row is found, without reading the others', async (t) => {
      const log = make(t).open(0);
      for (const [at, topic] of ['golem.a.event', 'golem.b.event', 'golem.a.event', 'presence'].entries())
        await log.append(topic, at);
      await log.take(
        [4, 6, 5].map((originSeq) => ({ origin: 'far', originSeq, topic: 'golem.a.event', body: originSeq })),
      );
      const found = (...patterns: string[]) => log.latest(patterns).map(({ body }) => body);
      assert.deepEqual(found('golem.*.event'), [1, 2, 6]);
      assert.deepEqual(found('golem.b.event', 'presence'), [1, 3]);
      assert.deepEqual([found('>'), found('none')], [[1, 2, 3, 6], []]);
    });

    test('a row of another log is taken once, by its name there; none is taken in its own name, or that is none', async (t) => {
      const { open } = make(t);
      const [log, reader] = [open(0), open(2)];
      const heard: StyxRow[] = [];
      reader.follow(['>'], (row) => heard.push(row));
      const row = { origin: 'far', originSeq: 7, topic: 'golem.a.event', body: { x: 'ä' } };
      const odd = [
        ...[{ origin: log.origin, originSeq: 0 }, { origin: '' }, { origin: 'a.b' }, { originSeq: 0.5 }],
        ...[{ topic: 'golem..a' }, { topic: '>' }, { body: 'x'.repeat(1024 ** 2) }],
      ];
      assert.equal(await log.take([...odd.map((part) => ({ ...row, ...part })), row, row]), 1);
      assert.equal(await reader.take([{ ...row, body: 'another' }]), 0);
      await log.append('presence', 'own');
      await until(() => heard.length >= 2);
      const told = heard.map(({ origin, originSeq, body }) => [origin, originSeq, body]);
      assert.deepEqual(told, [
        ['far', 7, { x: 'ä' }],
        [log.origin, 1, 'own'],
      ]);
    });

    test('a log that meets a row of its own that it never wrote is an older copy, and goes on under another name', async (t) => {
      const { open } = make(t);
      const [log, other] = [open(0), open(2)];
      await log.append('presence', 1);
      const { origin } = log;
      const row = (originSeq: number) => ({ origin, originSeq, topic: 'presence', body: originSeq });
      assert.equal(await log.take([row(1), row(2), row(3), row(2)]), 2);
      await other.append('presence', 'next');
      const rows = log.read(['presence'], 0, 9);
      assert.deepEqual(
        rows.map(({ body }) => body),
        [1, 2, 3, 'next'],
      );
      assert.ok(log.origin !== origin && rows.at(-1)?.origin === log.origin && other.origin === log.origin);
    });

    test('a reader may begin again, and facts are kept by their name', async (t) => {
      const { open } = make(t);
      const log = open(0);
      await log.commit('meta', await log.append('presence', 1));
      await log.rewind('meta');
      assert.deepEqual([log.position('meta'), log.note('fact')], [0, null]);
      await log.keepNote('fact', { at: 1 });
      await log.keepNote('fact', { at: 2 });
      assert.deepEqual(open(2).note('fact'), { at: 2 });
    });

    test('topics that are none and bodies over a megabyte are refused, and nothing is kept', async (t) => {
      const log = make(t).open(0);
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
      const { open } = make(t);
      const [writer, reader, witness] = [open(0), open(1), open(3)];
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
