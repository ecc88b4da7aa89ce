import test from 'node:test';
import assert from 'node:assert/strict';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { append, load } from '../src/store.js';

test('appends without losing what was there', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'till-'));
  const path = join(dir, 'r.json');
  await writeFile(path, '[]');
  assert.equal(await append(path, { shop: 'A', lines: [{ what: 'tea', price: '4' }] }), 1);
  assert.equal(await append(path, { shop: 'B', lines: [{ what: 'jam', price: '3.10' }] }), 2);
  assert.equal((await load(path)).length, 2);
  assert.match(await readFile(path, 'utf8'), /jam/);
});
