import { createServer } from 'node:http';
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { fromCents } from './money.js';
import { byCategory } from './receipt.js';
import { append, load } from './store.js';

function answer(res, status, body) {
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(`${JSON.stringify(body)}\n`);
}

async function bodyOf(req) {
  let text = '';
  for await (const chunk of req) text += chunk;
  return JSON.parse(text);
}

export function makeServer(path) {
  const server = createServer(async (req, res) => {
    try {
      if (req.method === 'GET' && req.url === '/health') {
        answer(res, 200, { ok: true });
      } else if (req.method === 'GET' && req.url === '/totals') {
        const totals = byCategory(await load(path));
        answer(res, 200, Object.fromEntries([...totals].map(([k, v]) => [k, fromCents(v)])));
      } else if (req.method === 'POST' && req.url === '/receipts') {
        const count = await append(path, await bodyOf(req));
        answer(res, 201, { count });
      } else if (req.method === 'POST' && req.url === '/quit') {
        answer(res, 200, { bye: true });
        server.close();
        server.closeIdleConnections();
      } else {
        answer(res, 404, { error: 'no such page' });
      }
    } catch (error) {
      answer(res, 400, { error: error.message });
    }
  });
  return server;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const port = Number(process.env.PORT ?? 4310);
  makeServer(process.env.RECEIPTS ?? 'data/receipts.json').listen(port, '127.0.0.1', () => {
    writeFileSync('.server.pid', `${process.pid}\n`);
    console.log(`listening on http://127.0.0.1:${port}`);
  });
}
