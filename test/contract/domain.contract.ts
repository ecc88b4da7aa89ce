/** What every domain of a golem keeps: plain data out, nothing run that its guard does not allow, an end when it is told. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { isAborted } from '#base/abort.ts';
import type { Life } from '#fleet/golem/life.ts';

type DomainPlugin = Life['domain'];
type Action = Parameters<DomainPlugin['act']>[0];

export interface DomainScene {
  /** Something is the matter. */
  readonly domain: DomainPlugin;
  readonly refused: readonly Action[];
  /** How many actions were run. */
  readonly ran: () => number;
  /** From now on what it looks at never answers; resolves when that is being waited for. Absent where nothing is ever waited for. */
  readonly hang?: () => Promise<void>;
}

const never = new AbortController().signal;
const isShare = (value: number) => value >= 0 && value <= 1;
const plain = <T>(value: T): T => {
  assert.deepEqual(JSON.parse(JSON.stringify(value)), value);
  return value;
};

export function domainContract(name: string, open: (t: TestContext) => Promise<DomainScene>): void {
  describe(`domain contract: ${name}`, () => {
    test('says what it is, what it sees and what came of it, in plain data that is cut', async (t) => {
      const { domain } = await open(t);
      assert.ok(domain.archetypes.some(({ seeAll }) => seeAll) && domain.categories.length > 0);
      const seen = plain(await domain.observe(never));
      assert.ok(seen.text.length > 0 && seen.text.length <= 4_000);
      assert.match(seen.tag, /^[a-z0-9][a-z0-9-]*$/);
      assert.ok(seen.signals.length > 0 && seen.signals.every(({ name, value }) => name !== '' && isShare(value)));
      const outcome = plain(await domain.verify(seen, never));
      assert.ok(outcome.verified && !outcome.success && outcome.source !== '' && outcome.summary !== '');
      assert.deepEqual(await domain.verify(seen, never), outcome);
      assert.ok(isShare(domain.changed(0)) && isShare(domain.changed(Number.MAX_SAFE_INTEGER)));
    });

    test('each candidate has a label of its own, is allowed, and is run when it is wanted', async (t) => {
      const { domain, ran } = await open(t);
      const seen = await domain.observe(never);
      const all = domain.candidates(seen);
      assert.ok(all.length > 0 && new Set(all.map(({ label }) => label)).size === all.length);
      assert.ok(all.every((action) => domain.guard(action) === 'allow'));
      const acted = plain(await domain.act(all[0]!, never));
      assert.ok(acted.status !== 'blocked' && acted.text.length <= 4_000 && acted.ms >= 0);
      assert.equal(ran(), 1);
    });

    test('what is not allowed, and what is unknown, is told and not run', async (t) => {
      const { domain, refused, ran } = await open(t);
      const [known] = domain.candidates(await domain.observe(never));
      for (const action of [...refused, { ...known!, label: 'no such action' }, { tool: '', label: '' }]) {
        assert.notEqual(domain.guard(action), 'allow');
        const { status, blockReason, hasChanged, isOver } = plain(await domain.act(action, never));
        assert.deepEqual([status, hasChanged, isOver], ['blocked', false, false]);
        assert.match(blockReason ?? '', /^(?:denied|needs-owner|unknown-action)$/);
      }
      assert.equal(ran(), 0);
    });

    test('an abort ends it, and so does a close, after which nothing runs', async (t) => {
      const { domain, hang, ran } = await open(t);
      await assert.rejects(domain.observe(AbortSignal.abort()), isAborted);
      const [known] = domain.candidates(await domain.observe(never));
      for (const end of [(stop: AbortController) => stop.abort(), () => domain.close()]) {
        const stop = new AbortController();
        const waiting = hang?.();
        const looking = waiting && assert.rejects(domain.observe(stop.signal), isAborted);
        await waiting;
        await end(stop);
        await looking;
      }
      await domain.close();
      if (hang) await assert.rejects(domain.act(known!, never), isAborted);
      assert.equal(ran(), 0);
    });
  });
}
