// Encryption in the shipped bundle: its WebAssembly goes along, works away from the checkout, and costs a start nothing.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../verifies.ts';

const ROOT = join(import.meta.dirname, '../../..');

describe('encryption in the bundle', () => {
  verifies('R4.67', 'the bundle encrypts in a folder without packages; its start loads nothing of it', (t) => {
    const { path: folder } = createTempHome(t);
    const dist = join(folder, 'dist');
    run([join(ROOT, 'scripts/build.ts'), '--out', dist], ROOT);
    const chunks = readdirSync(join(dist, 'chunks'));
    const door = chunks.find((name) => /^machine-crypto-.*\.js$/.test(name));
    assert.ok(door, 'the door to encryption is a chunk of its own');
    assert.equal(chunks.filter((name) => name.endsWith('.wasm')).length, 1);
    const away = join(folder, 'away');
    mkdirSync(away);
    writeFileSync(join(away, 'use.mjs'), program(join(dist, 'chunks', door), join(folder, 'peers')));
    assert.equal(run(['use.mjs'], away), 'TEST undefined\n');
    assert.deepEqual(staticImporters(dist, chunks), []);
    const notices = readFileSync(join(dist, 'THIRD_PARTY_NOTICES'), 'utf8');
    assert.match(notices, /@matrix-org\/matrix-sdk-crypto-wasm .*\(Apache-2\.0\)/);
    assert.match(notices, /fake-indexeddb .*\(Apache-2\.0\)/);
  });
});

/** Files that would load the machine together with themselves. */
function staticImporters(dist: string, chunks: readonly string[]): readonly string[] {
  const code = (name: string) => readFileSync(join(dist, name), 'utf8');
  const heavy = chunks.find(
    (name) => name.endsWith('.js') && /matrix_sdk_crypto_wasm_bg-\w+\.wasm/.test(code(`chunks/${name}`)),
  );
  assert.ok(heavy, 'one chunk names the WebAssembly');
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
  return files.filter((name) => new RegExp(`(?:from|import) ?"\\./[^"]*${heavy}"`).test(code(name)));
}

function program(door: string, folder: string): string {
  return `
    const { openMachineCrypto } = await import(${JSON.stringify(`file://${door}`)});
    const clock = { now: Date.now, monotonic: () => performance.now(), sleep: (ms) => new Promise((done) => setTimeout(done, ms)), after: () => () => {} };
    const options = { http: async () => ({}), userId: '@a:x', deviceId: 'TEST', folder: ${JSON.stringify(folder)}, clock, warn: console.log };
    const crypto = await openMachineCrypto(options);
    console.log(crypto.deviceId, crypto.position());
    await crypto.close();
  `;
}

function run(args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout;
}
