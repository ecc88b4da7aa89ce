import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '#base/json.ts';
import { openAccountDataCipher } from '#extensions/hive/matrix/crypto/account-data-key.ts';
import { createTempHome } from '#testing/temp-home.ts';

const place = '@a:x !r:x social.awareness.peer';

describe('account data: sealed values', () => {
  test('what was sealed opens again, in another process of the same home too', (t) => {
    const folder = createTempHome(t).path;
    const value = { context: 'Grüße an Bob', list: [1, null, { deep: true }] };
    const sealed = openAccountDataCipher(folder).seal(value, place);
    assert.equal(JSON.stringify(sealed).includes('Bob'), false);
    assert.deepEqual(Object.keys(sealed), ['encrypted', 'nonce', 'ciphertext']);
    assert.deepEqual(openAccountDataCipher(folder).open(sealed, place), value);
  });

  test('another place, another key, a changed value: nothing opens, nothing is thrown', (t) => {
    const cipher = openAccountDataCipher(createTempHome(t).path);
    const sealed = cipher.seal({ a: 1 }, place);
    assert.equal(cipher.open(sealed, '@a:x !other:x social.awareness.peer'), undefined);
    assert.equal(cipher.open(sealed, ''), undefined);
    assert.equal(openAccountDataCipher(createTempHome(t).path).open(sealed, place), undefined);
    for (const broken of brokenForms(sealed))
      assert.equal(cipher.open(broken, place), undefined, JSON.stringify(broken));
  });

  test('no nonce is used twice', (t) => {
    const cipher = openAccountDataCipher(createTempHome(t).path);
    const nonces = Array.from({ length: 500 }, () => cipher.seal({ a: 1 }, place).nonce);
    assert.equal(new Set(nonces).size, nonces.length);
  });

  test('any JSON goes through, any garbage is refused', (t) => {
    const cipher = openAccountDataCipher(createTempHome(t).path);
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as JsonObject;
        assert.deepEqual(cipher.open(cipher.seal(plain, place), place), plain);
      }),
    );
    fc.assert(
      fc.property(fc.string(), fc.string(), (nonce, ciphertext) => {
        assert.equal(cipher.open({ encrypted: 'v1', nonce, ciphertext }, place), undefined);
      }),
    );
  });

  test('the key is private, never written over, and a broken one is said, not replaced', (t) => {
    const folder = join(createTempHome(t).path, 'peers');
    openAccountDataCipher(folder);
    const path = join(folder, 'account-data.key');
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(folder), ['account-data.key']);
    const key = readFileSync(path, 'utf8');
    openAccountDataCipher(folder);
    assert.equal(readFileSync(path, 'utf8'), key);
    writeFileSync(path, 'short');
    assert.throws(() => openAccountDataCipher(folder), { code: 'key-unusable' });
    assert.equal(readFileSync(path, 'utf8'), 'short');
  });

  test('processes that begin at once get one key', async (t) => {
    const folder = join(createTempHome(t).path, 'peers');
    const script = join(import.meta.dirname, 'hive-seal-once.ts');
    const sealed = await Promise.all([1, 2, 3, 4].map(() => output([script, folder])));
    const cipher = openAccountDataCipher(folder);
    for (const text of sealed) assert.deepEqual(cipher.open(JSON.parse(text), place), { ok: true });
  });
});

function brokenForms(sealed: JsonObject): JsonObject[] {
  const flipped = Buffer.from(String(sealed.ciphertext), 'base64');
  flipped[0] = (flipped[0] ?? 0) ^ 1;
  return [
    { ...sealed, ciphertext: flipped.toString('base64') },
    { ...sealed, ciphertext: '' },
    { ...sealed, nonce: '' },
    { ...sealed, encrypted: 'v2' },
    { encrypted: 'v1' },
    {},
  ];
}

function output(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    child.on('error', reject).on('close', (code) => (code === 0 ? resolve(text) : reject(new Error(`exit ${code}`))));
  });
}
