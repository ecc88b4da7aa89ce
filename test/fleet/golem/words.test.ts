/** What an owner tells a golem: whose words count, and what becomes of them. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Life } from '#fleet/golem/life.ts';
import { room } from '#fleet/golem/room.ts';
import { ownerOf, trustKey } from '#fleet/styx/owner-key.ts';
import { sendKit, sendWord } from '#fleet/styx/words.ts';
import type { JsonValue } from '#public/talaria.ts';
import { createTempHome } from '#testing/temp-home.ts';
import * as golem from './stage.ts';

const HIS = ['golem.ada.steer'];

function meant({ golem: { identity } }: Life) {
  return { golem: identity.id, signer: identity.signer } as const;
}

async function steersOf(life: Life, ticks = 1): Promise<readonly string[]> {
  const { records } = await golem.liveTicks(life, ticks);
  return records.flatMap(({ steers }) => steers);
}

test('a word that is unsigned, altered, of a stranger, for another or said before changes nothing, and is answered with why', async (t) => {
  await golem.withMind(t, {}, async (life, stage) => {
    const owner = ownerOf(stage.root, stage.clock);
    const stranger = ownerOf(createTempHome(t).path, stage.clock);
    const { log } = life;
    const to = meant(life);
    await sendWord(log, owner, { ...to, kind: 'steer', text: 'first' });
    const [first] = log.read(HIS, 0, 1).map(({ body }) => Object(body));
    assert.deepEqual(await steersOf(life), ['first']);
    const far = (bodies: readonly JsonValue[]) => {
      const origin = hash('sha256', String(bodies.length));
      return log.take(bodies.map((body, at) => ({ origin, originSeq: at + 1, topic: 'golem.ada.steer', body })));
    };
    await far([
      { kind: 'retire' },
      { ...first, word: { ...first.word, text: 'sell everything' } },
      { ...first, word: { ...first.word, kind: 'retire' } },
      { ...first, signature: 'x' },
      first,
      { ...first, by: stranger.key },
    ]);
    await sendWord(log, stranger, { ...to, kind: 'retire' });
    await sendWord(log, owner, { ...to, golem: 'ada-gen2', kind: 'retire' });
    await sendWord(log, owner, { ...to, signer: '0x0', kind: 'retire' });
    assert.deepEqual(await steersOf(life), []);
    await life.log.append('golem.ada.steer', 'prose');
    assert.deepEqual(await steersOf(life), []);
    const told = stage.bodies('golem.ada.heard').map((body) => Object(body));
    assert.deepEqual(
      told.map(({ tick, refused }) => refused ?? tick),
      [
        ...[1, 'unsigned', 'bad-signature', 'bad-signature', 'bad-signature', 'replayed', 'unknown-owner'],
        ...['unknown-owner', 'not-for-it', 'not-for-it', 'unsigned'],
      ],
    );
    assert.equal(told[0]?.id, first.word.id);
  });
});

test('an owner’s other key counts once it is trusted; a clock that is a day off counts too; what was said stays said after long', async (t) => {
  await golem.withMind(t, {}, async (life, stage) => {
    const other = ownerOf(createTempHome(t).path, stage.clock);
    const off = (days: number) => ({
      ...other,
      clock: { ...stage.clock, now: () => 1_768_478_400_000 + days * 86_400_000 },
    });
    const to = meant(life);
    const say = (days: number, text: string) => sendWord(life.log, off(days), { ...to, kind: 'steer', text });
    await say(0, 'too early');
    assert.deepEqual(await steersOf(life), []);
    trustKey(stage.root, other.key);
    for (const days of [1, -1, 0]) await say(days, `${days}`);
    assert.deepEqual(await steersOf(life), ['1', '-1', '0']);
    const all = life.log.read(HIS, 0, 9).slice(1);
    for (let n = 0; n < 300; n += 1) await say(n / 1_000, `${n}`);
    assert.equal((await steersOf(life)).length, 300);
    await life.log.take(all.map(({ topic, body }, at) => ({ origin: 'far', originSeq: at, topic, body })));
    assert.deepEqual(await steersOf(life), []);
  });
});

test('the key is the owner’s alone, made once; a kit is taken when it is signed for this golem, whatever its size', async (t) => {
  const stage = golem.createGolemStage(t);
  await stage.create('elder');
  await stage.teach('elder', [golem.taught('disk-full', 'disk full', ['restart'], { confidence: 0.8, useCount: 5 })]);
  await stage.create('ada');
  const keys = Array.from({ length: 2 }, () => ownerOf(stage.root).key);
  assert.equal(new Set(keys).size, 1);
  assert.equal(statSync(join(stage.root, 'meta', 'owner.key')).mode & 0o777, 0o600);
  const stranger = ownerOf(createTempHome(t).path);
  await stage.life('elder', { domain: golem.quiet() }, (life) => life.end('age', golem.never));
  const [{ text }] = stage.bodies('golem.elder.testament').map((body) => Object(body)) as [{ text: string }];
  await stage.life('ada', { domain: golem.quiet(), listens: true }, async (life) => {
    const to = meant(life);
    await sendKit(life.log, stranger, { ...to, text });
    await sendKit(life.log, ownerOf(stage.root), { ...to, golem: 'bea-gen1', text });
    await golem.liveTicks(life, 1);
    assert.deepEqual(life.mind?.skills().length, 0);
    await sendKit(life.log, ownerOf(stage.root), { ...to, text });
    const before = stage.bodies('golem.ada.presence').length;
    await golem.liveTicks(life, 1);
    assert.deepEqual(life.mind?.skills().length, 1);
    const told = stage.bodies('golem.ada.presence').slice(before);
    // As it begins, when it took the kit, and as it ends.
    assert.deepEqual(
      told.map((body) => Object(body).skills),
      [0, 1, 1],
    );
  });
});

test('a skill goes back to the version before when the owner says so of the one that stands, and by no other word', async (t) => {
  const skill = golem.taught('disk-full', 'disk full', ['restart', 'drain']);
  await golem.withMind(t, { skills: [skill] }, async (life, stage) => {
    const owner = ownerOf(stage.root, stage.clock);
    const say = async (version: number, name = 'disk-full') => {
      await sendWord(life.log, owner, { ...meant(life), kind: 'rollback', skill: name, version });
      const { records } = await golem.liveTicks(life, 2);
      return [life.mind?.skill('disk-full')?.steps.join(), records.flatMap(({ faults }) => faults).join()];
    };
    const opened = stage.ground.homeAt({ root: stage.at('ada'), cwd: stage.cwd });
    const door = await opened.ground.door('door');
    const expectedHash = (await opened.ground.door('skills')).get('disk-full')?.hash ?? '';
    const change = { action: 'edit', content: golem.skillMd({ ...skill, steps: ['scale'] }) } as const;
    const written = await door.write({ name: 'disk-full', change, actor: 'dream', approved: true, expectedHash });
    await opened.shutdown();
    assert.ok(written.ok, JSON.stringify(written));
    const { version } = written.value;
    assert.deepEqual(await say(version - 1), [
      'scale',
      `rollback: disk-full is at version ${version}, not ${version - 1}`,
    ]);
    assert.deepEqual(await say(1, 'none'), ['scale', 'rollback: none is at version none, not 1']);
    assert.deepEqual(await say(version), ['restart,drain', '']);
  });
});

test('what a word asked for is done when the process ends in between: who said it is answered, the skill goes back, it dreams, and ends', async (t) => {
  const skill = golem.taught('disk-full', 'disk full', ['restart', 'drain']);
  await golem.withMind(t, { skills: [skill] }, async (life, stage) => {
    const owner = ownerOf(stage.root, stage.clock);
    const say = (what: Omit<Parameters<typeof sendWord>[2], 'golem' | 'signer'>) =>
      sendWord(life.log, owner, { ...meant(life), ...what });
    const heard = () => stage.bodies('golem.ada.heard').map((body) => Object(body).id);
    const cut = async () => {
      const { log } = life;
      const append = log.append.bind(log);
      log.append = async (topic, body) => {
        if (topic.endsWith('.heard')) throw new Error('killed');
        return append(topic, body);
      };
      await assert.rejects(golem.liveTicks(life, 1), /killed/);
      log.append = append;
    };
    const words = [await say({ kind: 'dream' }), await say({ kind: 'rollback', skill: 'none', version: 1 })];
    await cut();
    assert.deepEqual(heard(), []);
    const { told, records } = await golem.liveTicks(life, 1);
    assert.deepEqual(
      told.map(({ type }) => type),
      ['dream', 'tick'],
    );
    assert.deepEqual(records[0]?.faults, ['rollback: none is at version none, not 1']);
    assert.deepEqual(
      heard(),
      words.map(({ id }) => id),
    );
    words.push(await say({ kind: 'retire' }));
    await cut();
    const end = await golem.liveTicks(life, 9);
    assert.deepEqual(
      end.told.map((event) => (event.type === 'dying' ? event.cause : event.type)),
      ['owner-kill'],
    );
    assert.deepEqual(
      heard(),
      words.map(({ id }) => id),
    );
  });
});

test('a pause is answered when it begins, and once', async (t) => {
  await golem.withMind(t, {}, async (life, stage) => {
    const owner = ownerOf(stage.root, stage.clock);
    const heard = () => stage.bodies('golem.ada.heard').map((body) => Object(body).id);
    const word = await sendWord(life.log, owner, { ...meant(life), kind: 'pause' });
    const end = new AbortController();
    for await (const { type } of life.live({ signal: end.signal })) {
      if (type !== 'paused') continue;
      stage.clock.after(1, () => end.abort());
    }
    assert.deepEqual(heard(), [word.id]);
    const next = await sendWord(life.log, owner, { ...meant(life), kind: 'resume' });
    await golem.liveTicks(life, 1);
    assert.deepEqual(heard(), [word.id, next.id]);
  });
});

test('skills that are known are not sent again, until one of them says something else', async (t) => {
  const stage = golem.createGolemStage(t);
  await stage.create('ada');
  const golems = (await room.open?.(stage.ground as never))?.doors?.golems;
  const ask = async (known?: string) => {
    const asked = await golems?.ask('ada', { what: 'skills', ...(known === undefined ? {} : { known }) });
    assert.ok(asked?.ok);
    return { ...asked.value, isText: typeof asked.value.value === 'string' };
  };
  const none = await ask();
  assert.equal(none.isText, false);
  await stage.teach('ada', [golem.taught('disk-full', 'disk full', ['restart'])]);
  const first = await ask(none.hash);
  const again = await ask(first.hash);
  assert.deepEqual([first.isText, again.isText, again.hash], [true, false, first.hash]);
  await stage.teach('ada', [golem.taught('disk-slow', 'disk slow', ['drain'])]);
  const next = await ask(first.hash);
  assert.ok(next.isText && next.hash !== first.hash);
});
