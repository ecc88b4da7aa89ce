import test from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { makeServer } from '../src/server.js';

test('answers health, totals and unknown pages', async () => {
  const server = makeServer(new URL('../data/receipts.json', import.meta.url).pathname);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${server.address().port}`;
  assert.deepEqual(await (await fetch(`${base}/health`)).json(), { ok: true });
  assert.ok((await (await fetch(`${base}/totals`)).json()).food);
  assert.equal((await fetch(`${base}/nowhere`)).status, 404);
  server.close();
  server.closeAllConnections();
});
