import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { createCliStage } from '../scenario/cli-process.ts';

describe('the demo of learning', () => {
  test('four processes: a task becomes a skill, a correction patches it, a new session uses it, why names the messages', async (t) => {
    const stage = createCliStage(t);
    const run = await stage.run(['demo', 'learning']);
    assert.equal(run.code, 0, run.err);
    const path = /The skill: (\/\S+SKILL\.md)/.exec(run.out)?.[1] ?? '';
    assert.ok(path.startsWith(stage.folder), 'below the folder of this test');
    assert.match(readFileSync(path, 'utf8'), /Run `sh build\.sh`[\s\S]*Run `cksum out\/page\.txt`/);
    assert.doesNotMatch(readFileSync(path, 'utf8'), /out\/page\.txt is missing/, 'the dead end is no step');
    const [, third = ''] = run.out.split('3. A third process');
    assert.match(third, /4\. \$ cksum out\/page\.txt · exit 0/, 'the new session ran the patched step');
    const [, fourth = ''] = run.out.split('4. A fourth one');
    assert.match(fourth, /version 2: patch by agent[\s\S]*also run `cksum[\s\S]*version 1: create by review/);
    assert.match(fourth, /I prefer pages that end with a checksum/);
    assert.equal(existsSync(stage.root), false, 'never the home of the person');
  });
});
