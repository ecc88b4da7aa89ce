/** The disk is full while a golem is born, lives a tick, dreams or ends: whatever got onto it, the next start finds a golem that is whole, or none. */
import assert from 'node:assert/strict';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createFaults, type Faults } from '#public/testing.ts';
import * as golem from '../fleet/golem/stage.ts';
import { many, stride } from '../property-runs.ts';
import { breakDisk, diesAt, systemError } from './failing-disk.ts';

/** What a full disk refuses. */
const WRITES = /^(?:mkdir|open|write|fsync|link|rename|copyFile|writeFile)Sync$/;
const TOML = '[hermes]\ncurator_interval = 20\n';
const isHidden = (name: string) => name.startsWith('.');

interface Act {
  /** Ticks that `ada` has lived before; absent: she is not born. */
  readonly after?: number;
  readonly work: (stage: golem.GolemStage) => Promise<unknown>;
  /** Fails only every so many-th operation. */
  readonly every: number;
}

const ACTS: Readonly<Record<string, Act>> = {
  'its birth': { work: ({ run }) => run('golem create', { name: 'ada', domain: 'sim' }), every: stride(16) },
  'a tick that learns': {
    after: 19,
    work: ({ life }) => life('ada', {}, (one) => golem.liveTicks(one, 1)),
    every: stride(40),
  },
  'a dream': { after: 60, work: ({ run }) => run('golem dream', { name: 'ada' }), every: many(3, 180) },
  'its end': { after: 60, work: ({ run }) => run('golem retire', { name: 'ada', yes: true }), every: stride(16) },
};

async function template(t: TestContext, ticks: number | undefined): Promise<string> {
  const stage = golem.createGolemStage(t);
  if (ticks === undefined) return stage.root;
  await stage.create('ada', { toml: TOML });
  await stage.life('ada', {}, (life) => golem.liveTicks(life, ticks));
  return stage.root;
}

/** The next start: what is there is whole, lives on without a gap, and leaves one testament. */
async function isLegal({ run, life, at, root, create }: golem.GolemStage, lived = 0, wasKilled = false): Promise<void> {
  const there = readdirSync(root).includes('golems') ? readdirSync(join(root, 'golems')) : [];
  assert.ok(wasKilled || !there.some(isHidden), there.join());
  const known = (await run('golem list')).data as readonly { readonly name: string }[];
  assert.equal(known.length, Number(there.includes('ada')));
  assert.ok(known.length === 1 || lived === 0);
  if (known.length === 0) await create('ada');
  const { path, phase, id } = await life('ada', {}, async (one) => {
    const { rows, identity } = one.golem;
    const { records } = rows.death() === undefined ? await golem.liveTicks(one, 2) : { records: [] };
    assert.ok(records.every(({ faults }) => faults.length === 0));
    return { ...(await one.end('vm-failure', golem.never)), id: identity.id };
  });
  assert.deepEqual([phase, path], ['done', at('ada', 'testament', `${id}.json`)]);
  const told = (await run('golem ticks', { name: 'ada', from: 1 })).data as readonly golem.TickRecord[];
  assert.ok(told.length >= lived && told.every(({ tick }, index) => tick === index + 1));
  const left = readdirSync(at('ada', 'testament')).filter((name) => !isHidden(name) && !name.endsWith('-bundle.json'));
  assert.equal(left.length, 1, left.join());
  assert.match((await run('golem verify', { file: path })).text, /^whole: skill-testament .*\n.*born in this home/);
}

const error = (name: string) => systemError('ENOSPC', name);
const WAYS = {
  'one operation finds no space': (failAt: number) => createFaults({ failAt, error }),
  'from one operation on nothing more gets onto the disk': diesAt,
} as const;

for (const [what, { after, work, every }] of Object.entries(ACTS))
  for (const [how, planned] of Object.entries(WAYS))
    test(`${what}: ${how}`, async (t) => {
      const from = await template(t, after);
      let faults: Faults;
      let tried = 0;
      do {
        const stage = golem.createGolemStage(t);
        cpSync(from, stage.root, { recursive: true });
        faults = planned(tried * every + 1);
        const { step } = faults;
        const disk = breakDisk(stage.root, { ...faults, step: (name) => void (WRITES.test(name) && step(name)) });
        // What was said of it is not the matter here; what is on the disk is.
        await work(stage).catch(() => undefined);
        disk.mend();
        await isLegal(stage, after, planned === diesAt);
        tried += 1;
      } while (faults.failed !== undefined);
      assert.ok(tried > many(10, 1), String(tried));
    });

test('a life whose database has no more space loses no tick that was told, and goes on when there is', async (t) => {
  const stage = golem.createGolemStage(t);
  await stage.create('ada', { toml: TOML });
  let lived = 0;
  for (let room = 0; room < 12; room += 1) {
    const life = stage.life('ada', {}, async (one) => {
      const { database } = one.golem.rows;
      const pages = database.get<{ page_count: number }>('PRAGMA page_count')?.page_count ?? 0;
      database.exec(`PRAGMA max_page_count = ${pages + room}`);
      for await (const event of one.live({ ticks: 40, signal: golem.never }))
        if (event.type === 'tick') lived = event.record.tick;
    });
    await assert.rejects(life, { code: 'disk-full' });
    const { records } = await stage.life('ada', {}, (one) => golem.liveTicks(one, 1));
    assert.equal(records[0]?.tick, lived + 1);
    lived += 1;
  }
  await isLegal(stage, lived);
});
