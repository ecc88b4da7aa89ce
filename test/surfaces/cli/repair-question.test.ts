/** What a person at a terminal is asked when state.db is damaged. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { askRepair } from '#surfaces/cli/ask-at-shell.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { verifies } from '../../verifies.ts';
import { createStage, openConversation, play } from '../app/app-fixture.ts';
import { createTarget } from './cli-fixture.ts';

async function damaged(t: TestContext) {
  const stage = createStage(t);
  const app = await stage.open({ extra: { client: createScriptedModel(['one'], { context: t }) } });
  await play(await openConversation(app), 'the harbour');
  await app.shutdown();
  const path = join(stage.root, 'state.db');
  writeFileSync(path, readFileSync(path).fill(0xab, 0, 100));
  const error = await stage.open().catch((thrown: unknown) => thrown);
  const { target, written } = createTarget();
  const place = { environment: stage.environment, target, signal: target.signal };
  return { stage, error, written, place, path };
}

describe('the question of a damaged state.db', () => {
  verifies('core:session:salvage', 'names what can be chosen, and does what was chosen', async (context) => {
    const { stage, error, written, place } = await damaged(context as TestContext);
    assert.equal(await askRepair(error, { ...place, ask: async () => '1' }), true);
    assert.match(
      written.err,
      /is damaged.*1 {2}save what can be read\n {2}2 {2}bring a copy back: .*1 session.*\n {2}3 {2}start/s,
    );
    assert.match(written.err, /2 messages were saved/);
    assert.equal(written.out, '');
    const app = await stage.open();
    assert.equal((await app.doors.sessions.list()).length, 1);
  });

  test('one that is gone has nothing to be saved from', async (t) => {
    const { stage, written, place, path } = await damaged(t);
    for (const part of ['', '-wal', '-shm', '.suspect']) rmSync(path + part, { force: true });
    const error = await stage.open().catch((thrown: unknown) => thrown);
    assert.equal(await askRepair(error, { ...place, ask: async () => '1' }), true);
    assert.match(written.err, /it is gone.*\n {2}1 {2}bring a copy back: .*\n {2}2 {2}start/s);
    assert.equal((await (await stage.open()).doors.sessions.list()).length, 1);
  });

  test('nothing is done without an answer, for another answer, or for another error', async (t) => {
    const { error, place, path } = await damaged(t);
    const before = readFileSync(path);
    assert.equal(await askRepair(error, place), false);
    for (const answer of ['', 'yes', '9', '0'])
      assert.equal(await askRepair(error, { ...place, ask: async () => answer }), false);
    assert.equal(await askRepair(new Error('other'), { ...place, ask: async () => '3' }), false);
    assert.deepEqual(readFileSync(path), before);
    assert.ok(existsSync(path));
  });
});
