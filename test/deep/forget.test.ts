import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { createCliStage, withoutWalls } from '../scenario/cli-process.ts';

const SENTINEL = 'quorndelta-7719';

function filesWith(root: string, text: string): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => {
    const full = join(root, path);
    return statSync(full).isFile() && readFileSync(full).toString('latin1').toLowerCase().includes(text);
  });
}

describe('what was said in a terminal', () => {
  test('is gone from every file of the home after forget, a spilled output too', async (t) => {
    const stage = withoutWalls(createCliStage(t));
    const command = `for i in $(seq 1 6000); do echo "line $i of ${SENTINEL}"; done`;
    const server = await startScriptedServer(
      [
        'ok',
        { calls: [{ name: 'terminal', arguments: { command } }], reasoning: `Look for ${SENTINEL}.` },
        { calls: [{ name: 'read_file', arguments: { path: `/nowhere/${SENTINEL}` } }] },
        `There are 6000 lines of ${SENTINEL}.`,
        'You are welcome.',
      ],
      { models: ['m'], context: t },
    );
    await stage.run(['setup', '--base-url', server.baseUrl, '--key', 'a-key-for-tests', '--provider', 'mine']);
    const first = await stage.run(['-p', `count the lines of ${SENTINEL}`, '--yes']);
    assert.equal(first.code, 0, first.err);
    const second = await stage.run(['-p', 'thanks, that was about moria', '--continue']);
    assert.equal(second.code, 0, second.err);
    assert.ok(filesWith(stage.root, SENTINEL).some((name) => name.startsWith(join('cache', 'spill'))));
    const asked = await stage.run(['forget', '--match', SENTINEL]);
    assert.equal(asked.code, 3, asked.err);
    const forgotten = await stage.run(['forget', '--match', SENTINEL.toUpperCase(), '--yes']);
    assert.equal(forgotten.code, 0, forgotten.err);
    assert.deepEqual(filesWith(stage.root, SENTINEL), [], forgotten.out);
    assert.deepEqual(filesWith(stage.root, 'quorndelta'), []);
    assert.match((await stage.run(['sessions', 'search', 'moria'])).out, /moria/);
    assert.equal((await stage.run(['forget', '--session', 'last', '--yes'])).code, 0);
    assert.deepEqual(filesWith(stage.root, 'moria'), []);
  });
});
