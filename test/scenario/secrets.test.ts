import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { verifies } from '../verifies.ts';
import { createCliStage } from './cli-process.ts';

/** No known shape: only its value can give it away. */
const SENTINEL = 'Zq7-sentinel-value-Kx93';

function filesWith(root: string, text: string): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => {
    const full = join(root, path);
    return statSync(full).isFile() && readFileSync(full).includes(text);
  });
}

describe('a key', () => {
  verifies.slow(
    'core:home:secrets-in-env-only',
    'set up, used, echoed by an endpoint and printed by a command: it stays in .env',
    async (t) => {
      const stage = createCliStage(t);
      const say = (command: string) => ({ calls: [{ name: 'terminal', arguments: { command } }] });
      const server = await startScriptedServer(
        [
          'ok',
          say('env'),
          say('cat "$TALARIA_HOME/.env"'),
          { calls: [{ name: 'memory', arguments: { action: 'add', content: 'the port is 4711' } }] },
          'Done.',
          { status: 401, body: { error: { message: `Incorrect API key provided: ${SENTINEL}` } } },
        ],
        { models: ['m'], context: t },
      );
      const setup = await stage.run(['setup', '--base-url', server.baseUrl, '--key', SENTINEL, '--provider', 'mine']);
      assert.equal(setup.code, 0, setup.err);
      assert.deepEqual(filesWith(stage.root, SENTINEL), ['.env']);
      const turn = await stage.run(['-p', 'look around', '--yes']);
      assert.equal(turn.code, 0, turn.err);
      assert.match(turn.out, /Done\./);
      const failed = await stage.run(['-p', 'once more']);
      const rest = [
        turn,
        failed,
        ...(await Promise.all([stage.run(['trace']), stage.run(['doctor']), stage.run(['config', 'show'])])),
      ];
      for (const { out, err } of rest) assert.equal(`${out}${err}`.includes(SENTINEL), false, `${out}${err}`);
      assert.deepEqual(filesWith(stage.root, SENTINEL), ['.env']);
    },
  );
});
