/** What Meta does by itself: events counted, living golems asked every five minutes by one process, versions that do worse ordered back. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countEvents, cycleLines, hearNominations, POLL_MS, pollClade } from '#fleet/meta/listening.ts';
import { room } from '#fleet/meta/room.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { verifies } from '../../verifies.ts';
import { createCladeStage, golem, type Hands } from './clade-stage.ts';

const event = (name: string, fields: object) =>
  ({ golem: `${name}-gen1`, seq: 1, tick: 5, at: 0, event: fields }) as never;

describe('events', () => {
  verifies(['R1.83', 'RX.1'], 'are counted over all golems, and go one way', async (t) => {
    const { log, conversation } = createCladeStage(t);
    for (const name of ['alpha', 'beta', 'gamma', 'gamma'])
      await log.append(`golem.${name}.event`, event(name, { type: 'SkillCreated', name: 'x' }));
    await log.append('golem.alpha.event', event('alpha', { type: 'SkillImproved', name: 'x' }));
    for (const body of ['none', { golem: 'x' }, { golem: 'x', event: { type: '<b>' } }])
      await log.append('golem.alpha.event', body as never);
    const cycle = countEvents(log.read(['golem.*.event'], 0, 99));
    assert.deepEqual([cycle.SkillCreated?.count, cycle.SkillCreated?.golems.length], [4, 3]);
    assert.deepEqual(cycleLines(cycle), ['3 golems created skills this cycle', '1 golem improved skills this cycle']);
    const told = await pollClade(conversation.meta);
    assert.deepEqual(told?.events, ['3 golems created skills this cycle', '1 golem improved skills this cycle']);
    assert.match(
      conversation
        .messages(9)
        .map(({ text }) => text)
        .join('\n'),
      /3 golems created skills this cycle/,
    );
    assert.equal(log.read(['golem.*.event'], 0, 99).length, 8, 'Meta says nothing there');
  });

  test('are read in batches by their own topics, and others get their turn between', async (t) => {
    const { log, conversation, ground } = createCladeStage(t);
    const body = event('alpha', { type: 'SkillCreated', name: 'x' });
    const rows = Array.from({ length: 2_500 }, (_, at) => at + 1);
    await log.take(rows.map((originSeq) => ({ origin: 'feed', originSeq, topic: 'golem.alpha.event', body })));
    const did: string[] = [];
    const read: typeof log.read = (topics, ...more) => {
      did.push(...topics);
      return log.read(topics, ...more);
    };
    const clock = { ...ground.clock, sleep: async () => void did.push('turn') };
    const told = { latest: log.latest.bind(log), read } as unknown as typeof log;
    const meta = { ...conversation.meta, log: () => told, ground: { ...ground, clock } };
    assert.deepEqual((await pollClade(meta))?.events, ['1 golem created skills this cycle']);
    const topic = 'golem.alpha.event';
    assert.deepEqual(did, [topic, 'turn', topic, 'turn', topic]);
    assert.equal(meta.rows().value('eventsUpTo'), 2_500);
  });

  verifies(['R1.86', 'RX.3'], 'a nomination is told when it comes, not at the next poll', async (t) => {
    const clock = createManualClock();
    const { log, conversation } = createCladeStage(t, { clock });
    const held: Promise<unknown>[] = [];
    const stop = hearNominations(conversation.meta, (work) => held.push(work));
    await log.append(
      'golem.alpha.event',
      event('alpha', { type: 'SkillPromoted', name: 'free-disk', confidence: 0.82 }),
    );
    await log.append('golem.alpha.event', event('alpha', { type: 'SkillCreated', name: 'free-disk' }));
    await clock.advance(300);
    await Promise.all(held);
    assert.deepEqual(
      conversation.messages(9).map(({ text }) => text),
      ['alpha-gen1 nominates free-disk for the clade (0.82).'],
    );
    stop();
  });
});

describe('the round', () => {
  verifies(
    ['R1.48', 'R1.49', 'RX.3'],
    'asks living golems every five minutes, in one process of the home',
    async (t) => {
      const clock = createManualClock();
      const asked: (readonly string[])[] = [];
      const library = {
        aggregate: async (_ask: unknown, clade: readonly { readonly called: string }[]) => {
          asked.push(clade.map(({ called }) => called));
          return null;
        },
      };
      const golems = [
        golem('alpha'),
        golem('beta', { status: 'rests' }),
        golem('dead', { status: 'dead', cause: 'age' }),
      ];
      const { conversation, open } = createCladeStage(t, { golems, clock, library });
      await pollClade(conversation.meta);
      await pollClade(open().meta);
      await clock.advance(POLL_MS - 1);
      await pollClade(conversation.meta);
      assert.deepEqual(asked, [['alpha', 'beta']]);
      await clock.advance(1);
      await pollClade(conversation.meta);
      assert.equal(asked.length, 2);
      assert.equal(POLL_MS, 300_000);
    },
  );

  test('asks all of them at once: one that does not answer holds up nobody', async (t) => {
    const aggregate: Hands['aggregate'] = async (ask, clade) => {
      for (const one of clade) await ask(one, { what: 'skills' });
      return null;
    };
    const { conversation } = createCladeStage(t, {
      golems: ['alpha', 'beta', 'gamma'].map((name) => golem(name)),
      library: { aggregate },
    });
    const asked: string[] = [];
    const all = Promise.withResolvers<void>();
    const ask: typeof conversation.meta.ask = async ({ called }) => {
      if (asked.push(called) === 3) all.resolve();
      await all.promise;
      return { ok: false, reason: 'no-answer', detail: '' };
    };
    await pollClade({ ...conversation.meta, ask });
    assert.deepEqual(asked, ['alpha', 'beta', 'gamma']);
  });

  verifies(
    'RQ.4',
    'orders a version back that does worse over the clade: by a signed word, once, and says so',
    async (t) => {
      const clock = createManualClock();
      const [alpha, beta] = [golem('alpha'), golem('beta', { status: 'dead', cause: 'age' })];
      let owed = [alpha, beta].map(({ signer }) => ({ signer, skill: 'free-disk', version: 3 }));
      const library = {
        worse: async () => owed,
        sent: async ({ signer }: { readonly signer: string }) => {
          owed = owed.filter((order) => order.signer !== signer);
        },
      };
      const { conversation, open, told } = createCladeStage(t, { golems: [alpha, beta], clock, library });
      const full = { ...conversation.meta, send: () => Promise.reject(new Error('disk full')) };
      await assert.rejects(pollClade(full), /disk full/);
      assert.equal(owed.length, 2, 'what was not sent is owed');
      await clock.advance(POLL_MS);
      for (let round = 0; round < 3; round += 1) {
        await pollClade(open().meta);
        assert.deepEqual(owed, []);
        await clock.advance(POLL_MS);
      }
      assert.deepEqual(
        told().map(({ golem: id, kind, skill, version }) => [id, kind, skill, version]),
        [['alpha-gen1', 'rollback', 'free-disk', 3]],
      );
      assert.match(
        conversation
          .messages(9)
          .map(({ text }) => text)
          .join('\n'),
        /alpha: version 3 of free-disk does worse over the clade; it is told to go back\./,
      );
    },
  );

  verifies(
    ['R1.2', 'R1.84'],
    'is all that Meta does by itself: it has no heartbeat, key, Grimoire or end',
    async (t) => {
      const { ground } = createCladeStage(t);
      const opened = await room.open?.({ ...ground, stays: false } as never);
      assert.deepEqual(
        opened?.jobs?.map(({ name, everyMs }) => [name, everyMs]),
        [['poll', 300_000]],
      );
      assert.deepEqual(Object.keys(opened?.doors ?? {}).sort(), ['clade', 'library']);
      assert.deepEqual(
        [room.tables, room.provider, opened?.tools, opened?.hooks],
        [undefined, undefined, undefined, undefined],
      );
      await opened?.close?.();
    },
  );

  test('a home in which nothing was ever said is left as it is', async (t) => {
    const { conversation } = createCladeStage(t);
    const quiet = { ...conversation.meta, hasLog: () => false, rows: () => assert.fail() };
    assert.equal(await pollClade(quiet), undefined);
  });
});
