/** From one machine to another: a golem ends here, and what it knew helps one that is born there. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { aggregate } from '#fleet/meta/library/curation.ts';
import { withLibrary } from '#fleet/meta/library/library-home.ts';
import { kitThrough } from '#fleet/meta/library/loadout.ts';
import { room } from '#fleet/meta/room.ts';
import { openHomeLog } from '#fleet/styx/home-log.ts';
import { ownerOf, trustKey } from '#fleet/styx/owner-key.ts';
import { many } from '../../property-runs.ts';
import { slow } from '../../slow.ts';
import { runSpec } from '../../surfaces/app/app-fixture.ts';
import { always, createGolemStage, type GolemStage, liveTicks, taught } from '../golem/stage.ts';

const TEXT = 'disk volume full inode';
const CURE = ['restart', 'rotate', 'drain'];

/** A command of Meta's room, in this home. */
async function library({ ground, cwd }: GolemStage, name: string, input: unknown = {}) {
  const command = (await room.commands?.(ground))?.find((one) => one.name === `library ${name}`);
  return runSpec(command ?? assert.fail(name), input, { cwd });
}

/** Rows of one log, as a link brings them to another. */
async function carry(from: GolemStage, to: GolemStage, topics: readonly string[]): Promise<void> {
  const log = openHomeLog({ path: join(to.root, 'styx.db'), clock: to.clock });
  for (const topic of topics) for (const row of from.log(topic)) await log.append(row.topic, row.body);
  log.close();
}

/** It lived in the first home, and was retired there; the rows are in the second. */
async function inherited(t: Parameters<typeof createGolemStage>[0]) {
  const [here, there] = [createGolemStage(t), createGolemStage(t)];
  await here.create('ada');
  await here.teach('ada', [
    taught('free-disk', TEXT, CURE),
    taught('old-cure', 'certificate expired renew', ['scale', 'drain']),
  ]);
  await here.life('ada', { domain: always(TEXT, CURE), listens: true }, async (life) => {
    await liveTicks(life, 12);
    await life.end('owner-kill', new AbortController().signal);
  });
  await carry(here, there, ['golem.ada.presence', 'golem.ada.testament']);
  trustKey(there.root, ownerOf(here.root).key);
  return there;
}

describe('a testament goes over, and a newborn is asked for', () => {
  slow(
    'reject: it starts empty; accept: it starts with the discounted skill, and show says that it helped',
    async (t) => {
      const there = await inherited(t);
      const list = await library(there, 'list');
      assert.match(list.text, /free-disk \| clade \| 0\.\d\d \| 0\.\d\d \| ada-gen1/);
      await there.create('bob');
      const refused = await library(there, 'kit', { for: 'bob', reject: true });
      assert.match(refused.text, /free-disk[\s\S]*bob gets nothing/);
      await there.life('bob', { domain: always(TEXT, CURE) }, async (life) => {
        await liveTicks(life, 1);
        assert.deepEqual(life.mind?.skills(), []);
      });
      await there.create('eve');
      const given = await library(there, 'kit', { for: 'eve', accept: true });
      assert.match(given.text, /eve is sent \d skill/);
      await there.life('eve', { domain: always(TEXT, CURE) }, async (life) => {
        await liveTicks(life, 1);
        const record = life.mind?.skill('free-disk')?.record;
        const [entry] = (list.data as { name: string; raw: number }[]).filter(({ name }) => name === 'free-disk');
        assert.ok(Math.abs((record?.priorConfidence ?? 0) - 0.9 * (entry?.raw ?? 0)) < 1e-9);
        assert.deepEqual(
          [record?.lineage, record?.derivedFrom, record?.bloodstain],
          [['ada-gen1'], 'library/free-disk', true],
        );
        await liveTicks(life, many(199, 19));
        const { value } = await life.hooks.end({});
        const text = readFileSync(value.bundle ?? assert.fail('no bundle'), 'utf8');
        await withLibrary(there.ground, async (opened) => {
          const { signer } = life.golem.identity;
          const eve = { golem: 'eve-gen1', signer, called: 'eve', status: 'rests' } as const;
          const answer = { ok: true, value: { golem: 'eve-gen1', lines: [], value: text } } as const;
          const done = await aggregate(opened, [eve], async () => answer);
          assert.deepEqual([done.asked, done.failed], [1, []]);
        });
      });
      const shown = await library(there, 'show', { name: 'free-disk' });
      assert.match(
        shown.text,
        /equipped to 1, validated by 1, contradicted by 0\n {2}eve-gen1: validated, \d+ of \d+ uses went well/,
      );
    },
  );

  test('a kit as a file: born with it; changed by a byte it is refused', async (t) => {
    const there = await inherited(t);
    const made = await library(there, 'kit', { archetype: 'observer', accept: true, out: 'kit.json' });
    assert.match(made.text, /skill.* in .*kit\.json: talaria golem create NAME --from/);
    const born = await there.run('golem create', { name: 'bob', domain: 'sim', from: 'kit.json' });
    assert.match(born.text, /It knows \d skills? that it was given/);
    await there.life('bob', { domain: always(TEXT, CURE) }, async (life) => {
      await life.hooks.session({ reason: 'start' });
      assert.deepEqual([life.golem.identity.generation, life.golem.identity.lineage], [1, ['bob-gen1']]);
    });
    const path = join(there.cwd, 'kit.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace('rotate', 'rotated'));
    const refused = await there.run('golem create', { name: 'eve', domain: 'sim', from: 'kit.json' });
    assert.equal(refused.failure?.code, 'bad-signature');
  });

  test('what the owner wrote into its STRATEGY.md counts, and is said', async (t) => {
    const there = await inherited(t);
    await there.create('bob');
    const path = there.at('bob', 'STRATEGY.md');
    writeFileSync(path, `${readFileSync(path, 'utf8')}\nKeep the disk volume from running full of inodes.\n`);
    const { text } = await library(there, 'kit', { for: 'bob' });
    assert.match(text, /free-disk \| [^\n]*fits what you want/);
    assert.doesNotMatch((await library(there, 'kit', { archetype: 'observer' })).text, /fits what you want/);
  });

  test('the kit of a trial is that of a library of its own, which is gone afterwards', async (t) => {
    const there = await inherited(t);
    const [row] = there.log('golem.ada.testament');
    const text = String((row?.body as { text?: string } | undefined)?.text);
    const kit = await kitThrough(there.ground, [text], 'observer');
    assert.match(kit, /"kind":"seed-kit"/);
  });
});
