import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import { lastRunFile, RETRY_MS } from '#extensions/curator/schedule/schedule-job.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { until } from '../../../ends.ts';
import { createStage } from '../../../surfaces/app/app-fixture.ts';

const MINUTE = 60_000;

async function openWith(t: TestContext, settings: string) {
  const stage = createStage(t);
  stage.temp.write('home/config.yaml', settings);
  const clock = createManualClock();
  const app = await stage.open({ clock });
  const path = lastRunFile(stage.root);
  return { stage, clock, path, app };
}

/** What the last run wrote down, once it has ended. */
async function ended(path: string) {
  let found: JsonObject = {};
  await until(() => {
    const parsed = existsSync(path) ? parseJsonObject(readFileSync(path, 'utf8')) : undefined;
    if (parsed?.ok) found = parsed.value;
    return Object.keys(found).length > 2;
  });
  return found;
}

describe('a composed agent with a schedule', () => {
  test('plans by itself soon after the start, and writes nothing', async (t) => {
    const { clock, path } = await openWith(t, 'curator:\n  schedule: daily\n');
    assert.equal(existsSync(path), false, 'starting runs nothing');
    await clock.advance(MINUTE);
    const done = await ended(path);
    assert.deepEqual([done.state, done.mode], ['done', 'dry-run']);
  });

  test('without one nothing ever runs', async (t) => {
    const { clock, path } = await openWith(t, 'curator:\n  write: true\n');
    await clock.advance(3 * MINUTE);
    assert.equal(existsSync(dirname(path)), false);
  });

  test('goes away while another process of the home writes, and comes back for it', async (t) => {
    const { clock, path, stage } = await openWith(t, 'curator:\n  schedule: weekly\n  write: true\n');
    const lease = join(stage.root, 'cache', 'unattended.lock');
    mkdirSync(dirname(lease), { recursive: true });
    writeFileSync(lease, `${process.ppid} ${hostname()}\n`);
    await clock.advance(MINUTE);
    const held = await ended(path);
    assert.deepEqual([held.state, held.reason], ['open', 'lease-held']);
    rmSync(lease);
    rmSync(path);
    writeFileSync(path, `{"at": "${String(held.at)}", "state": "open"}`);
    await clock.advance(RETRY_MS + MINUTE);
    const done = await ended(path);
    assert.deepEqual([done.state, done.mode], ['done', 'apply-low-risk']);
  });
});
