/** scripts/start-synapse.ts leaves nothing behind, however it ends. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { findSynapse } from '../../../scripts/synapse/find-synapse.ts';
import { readyLine, SYNAPSE_SKIP, spawnSynapse } from '../../contract/hive/hive-synapse-server.ts';

const python = findSynapse(process.env);
const endings: Readonly<Record<string, (child: ChildProcess) => void>> = {
  'its input closes': (child) => child.stdin?.end(),
  'it is asked to end': (child) => child.kill('SIGTERM'),
  'it is killed': (child) => child.kill('SIGKILL'),
};

for (const [name, end] of Object.entries(endings)) {
  test(`neither server nor data are left when ${name}`, { skip: python === undefined && SYNAPSE_SKIP }, async () => {
    const child = spawnSynapse(String(python));
    const exit = once(child, 'exit');
    const [url, folder] = await readyLine(child);
    assert.ok(existsSync(folder));
    end(child);
    await exit;
    const isThere = async (): Promise<boolean> => existsSync(folder) || (await answers(url));
    for (let tries = 0; tries < 100 && (await isThere()); tries += 1) await sleep(50);
    assert.equal(await isThere(), false);
  });
}

test('what does not start says why', { skip: python === undefined && SYNAPSE_SKIP }, async () => {
  const script = new URL('../../../scripts/start-synapse.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, import.meta.filename], { stdio: ['pipe', 'pipe', 'pipe'] });
  const said: Buffer[] = [];
  child.stderr.on('data', (bytes: Buffer) => said.push(bytes));
  const [code] = await once(child, 'close');
  assert.equal(code, 1);
  assert.match(Buffer.concat(said).toString(), /did not start/);
});

async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/_matrix/client/versions`).then(
    () => true,
    () => false,
  );
}
