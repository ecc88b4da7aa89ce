/** kill −9 while a verifier runs: nobody knows what it would have said, so the change does not count at the next start. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '#base/clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { until } from '../../ends.ts';
import { listTree, type OpenDoor, openDoor, skillText } from '../../mind/skills/skill-bench.ts';
import { verifies } from '../../verifies.ts';
import { assertAgreement } from './agreement.ts';

const WRITER = fileURLToPath(new URL('./verified-writer.ts', import.meta.url));

/** The home that a killed writer left. Its verifier is ended too. */
async function killed(context: TestContext): Promise<string> {
  const { path: home } = createTempHome(context);
  const child = spawn(process.execPath, [WRITER, home], { stdio: ['ignore', 'ignore', 'inherit'] });
  const closed = new Promise<void>((done) => child.once('close', () => done()));
  const note = join(home, 'verifier.pid');
  await until(() => existsSync(note));
  child.kill('SIGKILL');
  await closed;
  process.kill(Number(readFileSync(note, 'utf8')), 'SIGKILL');
  assert.match(readFileSync(join(home, 'skills/data/csv/SKILL.md'), 'utf8'), /Not verified/, 'it was in place');
  return home;
}

async function nextStart(context: TestContext, home: string): Promise<OpenDoor> {
  const opened = openDoor(home, { bare: true, clock: systemClock });
  context.after(() => opened.close());
  const decided = await opened.door.reconcile();
  assert.equal(decided.length, 1);
  assert.deepEqual(await opened.door.reconcile(), []);
  return opened;
}

const newest = ({ ledger }: OpenDoor) => ledger.list({ kind: 'skill' })[0];

describe('kill −9 while a verifier runs', () => {
  verifies(
    ['curator:verify:rollback', 'curator:apply:atomic'],
    'the next start puts the whole change back',
    async (context) => {
      const opened = await nextStart(context, await killed(context));
      assert.deepEqual(listTree(opened.root), ['data/csv/SKILL.md']);
      assert.equal(readFileSync(join(opened.root, 'data/csv/SKILL.md'), 'utf8'), skillText('csv'));
      assert.deepEqual([newest(opened)?.status, newest(opened)?.reason], ['dropped', 'not-verified']);
      const failed = listTree(opened.backups)
        .filter((path) => path.endsWith('manifest.json'))
        .map((path) => JSON.parse(readFileSync(join(opened.backups, path), 'utf8')))
        .filter(({ rolled_back: isBack }) => isBack);
      assert.deepEqual(
        failed.map(({ rollback_reason, verify }) => [rollback_reason, verify.passed]),
        [['verify-failed', false]],
      );
      assertAgreement(opened, 'csv', 'after the kill');
      const again = await opened.door.write({
        name: 'csv',
        change: { action: 'edit', content: skillText('csv', 'Verified.\n') },
        actor: 'agent',
        approved: true,
        verifiers: [{ name: 'passing', verify: async () => ({ passed: true, detail: '' }) }],
      });
      assert.ok(again.ok && again.value.version === 2);
    },
  );

  test('what the owner wrote in the meantime is kept: beside the change, or over it', async (context) => {
    const beside = await killed(context);
    writeFileSync(join(beside, 'skills/data/csv/mine.md'), 'mine');
    const first = await nextStart(context, beside);
    assert.deepEqual(listTree(first.root), ['data/csv/SKILL.md', 'data/csv/mine.md']);
    assert.equal(readFileSync(join(first.root, 'data/csv/SKILL.md'), 'utf8'), skillText('csv'));
    const over = await killed(context);
    writeFileSync(join(over, 'skills/data/csv/SKILL.md'), skillText('csv', 'By hand.\n'));
    const second = await nextStart(context, over);
    assert.equal(readFileSync(join(second.root, 'data/csv/SKILL.md'), 'utf8'), skillText('csv', 'By hand.\n'));
    assert.equal(newest(second)?.status, 'edited');
  });
});
