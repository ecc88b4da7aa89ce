import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { isPublicAddress } from '#core/tools/public-address.ts';
import { createWebFetchTool, htmlText } from '#core/tools/web-fetch-tool.ts';
import { toolContract } from '../../contract/tool.contract.ts';
import { ends } from '../../ends.ts';
import { runs } from '../../property-runs.ts';
import { slow } from '../../slow.ts';
import { verifies } from '../../verifies.ts';
import { makeToolPlace, type ToolPlaceForTest } from './place.ts';

const PAGE = `<!doctype html><html><head><title>A &amp; B</title><style>p{}</style></head><body><nav>menu</nav>
<h1>Head</h1><p>First   <b>bold</b> &eacute; &#8364; <a href="/x?a=1&amp;b=2">link</a></p><script>if (a < b) alert('no')</script>
<ul><li>one<li>two</ul><pre>  code
   here</pre><table><tr><td>a<td>b</table></body></html>`;

const ROUTES: Readonly<Record<string, RequestListener>> = {
  '/page': (_, response) => response.setHeader('content-type', 'text/html; charset=utf-8').end(PAGE),
  '/gzip': (_, response) =>
    response.setHeader('content-encoding', 'gzip').setHeader('content-type', 'text/plain').end(gzipSync('packed')),
  '/bomb': (_, response) =>
    response
      .setHeader('content-encoding', 'gzip')
      .setHeader('content-type', 'text/plain')
      .end(gzipSync(Buffer.alloc(50_000_000, 120))),
  '/latin1': (_, response) =>
    response.setHeader('content-type', 'text/plain; charset=iso-8859-1').end(Buffer.from('caf\xe9', 'latin1')),
  '/png': (_, response) =>
    response.setHeader('content-type', 'image/png').end(Buffer.from('89504e470d0a1a0a00', 'hex')),
  '/gone': (_, response) => response.writeHead(404, { 'content-type': 'text/plain' }).end('nothing here'),
  '/loop': (_, response) => response.writeHead(302, { location: '/loop' }).end(),
  '/hop': (_, response) => response.writeHead(302, { location: '/page' }).end(),
  '/away': (_, response) => response.writeHead(302, { location: 'http://localhost:1/x' }).end(),
  '/inward': (_, response) => response.writeHead(302, { location: 'http://10.0.0.1/secret' }).end(),
  '/file': (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  '/half': (request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' }).write('half');
    setTimeout(() => request.socket.destroy(), 20);
  },
  '/silent': () => undefined,
};

describe('core/tools/web', () => {
  let place: ToolPlaceForTest;
  let server: Server;
  let base = '';
  before(async () => {
    place = makeToolPlace();
    server = createServer((request, response) => ROUTES[request.url ?? '']?.(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
    place.remove();
  });
  const open = (path: string, signal?: AbortSignal, seconds = 60) =>
    place.run(
      createWebFetchTool({ privateHosts: ['127.0.0.1'], seconds }),
      { url: path.startsWith('/') ? base + path : path },
      {},
      signal,
    );

  toolContract('web_fetch', () => ({
    tool: createWebFetchTool({ privateHosts: ['127.0.0.1'], seconds: 600 }),
    context: () => place.context(),
    good: () => ({ url: `${base}/gzip` }),
    hopeless: () => ({ url: 'ftp://x' }),
    slow: () => ({ url: `${base}/silent` }),
  }));

  verifies('R5.95', 'gives a page as text that reads well', async () => {
    const { text } = await open('/page');
    assert.ok(text.startsWith(`${base}/page (HTTP 200, text/html, `));
    assert.ok(text.includes('A & B') && text.includes('# Head'));
    assert.ok(text.includes(`First bold é € link (${base}/x?a=1&b=2)`));
    assert.ok(text.includes('- one\n- two') && text.includes('```\n  code\n   here\n```') && text.includes('| a | b'));
    assert.ok(!/menu|alert|p\{\}/.test(text));
  });

  it('asks for each host among foreign words, and follows no redirect to another', async () => {
    const asked: unknown[] = [];
    const fetched = (url: string, decision: 'once' | 'deny', named: Parameters<typeof createWebFetchTool>[0] = {}) =>
      place.run(
        createWebFetchTool({ ...named, seconds: 1 }),
        { url },
        {
          history: () => [{ role: 'user', parts: [{ type: 'text', text: 'a page', origin: 'foreign' }] }],
          approve: async ({ key, preview, reach }) => {
            asked.push([key, preview, reach]);
            return decision;
          },
        },
      );
    const denied = await fetched('https://evil.invalid/?v=\nkey', 'deny');
    assert.ok(denied.isError && /a wall kept it from this: reach evil\.invalid:443/.test(denied.text), denied.text);
    assert.match((await fetched('http://evil.invalid/', 'once')).text, /could not be reached|no whole answer/);
    await fetched('https://a.docs.invalid/', 'deny', { hosts: ['*.docs.invalid'] });
    const away = await fetched(`${base}/away`, 'deny', { privateHosts: ['127.0.0.1'] });
    assert.match(away.text, /leads to another host; fetch it by its own address: http:\/\/localhost:1\/x$/);
    assert.match((await fetched(`${base}/hop`, 'deny', { privateHosts: ['127.0.0.1'] })).text, /Head/);
    assert.deepEqual(asked, [
      ['reach host evil.invalid:443', 'https://evil.invalid/?v=key', 'network'],
      ['reach host evil.invalid:80', 'http://evil.invalid/', 'network'],
    ]);
  });

  it('unpacks, decodes, names what it cannot show, follows redirects', async () => {
    assert.match((await open('/gzip')).text, /\n\npacked$/);
    assert.match((await open('/latin1')).text, /café$/);
    assert.match((await open('/png')).text, /a PNG image: not shown/);
    assert.match((await open('/hop')).text, /\/page \(HTTP 200/);
    const gone = await open('/gone');
    assert.ok(gone.isError && /HTTP 404.*nothing here/s.test(gone.text));
  });

  slow('bounds size, redirects and time', async () => {
    const bomb = await open('/bomb');
    assert.match(bomb.text, /5000000 bytes, cut\)/);
    assert.ok(bomb.text.length < 40_000);
    assert.match((await open('/loop')).text, /more than 5 redirects/);
    assert.match((await open('/silent', undefined, 1)).text, /no whole answer within 1 s/);
    assert.match((await open('/half')).text, /broken off/);
    const control = new AbortController();
    setTimeout(() => control.abort(), 30);
    await assert.rejects(open('/silent', control.signal));
  });

  verifies(
    'core:web-fetch:off-by-default',
    'reaches no address of this machine or its network, by any way of writing it',
    async () => {
      const strict = createWebFetchTool({ seconds: 60 });
      for (const url of [
        base,
        'http://localhost:1',
        'http://[::1]:1',
        'http://2130706433',
        'http://0x7f.1',
        'http://0',
        'http://169.254.169.254/latest',
        'http://[::ffff:127.0.0.1]',
        'http://[64:ff9b::7f00:1]',
      ]) {
        const output = await place.run(strict, { url });
        assert.ok(output.isError && /does not reach/.test(output.text), `${url}: ${output.text}`);
      }
      assert.match((await open('/inward')).text, /10\.0\.0\.1 is an address of this machine or its network/);
      assert.match((await open('/file')).text, /no http or https address/);
      assert.match((await open('ftp://x/y')).text, /no http or https address/);
      assert.match((await open('http://me:pw@example.org')).text, /password/);
    },
  );

  it('knows public addresses', () => {
    for (const address of ['8.8.8.8', '1.1.1.1', '2606:4700::1111', '172.32.0.1', '100.128.0.1'])
      assert.ok(isPublicAddress(address), address);
    for (const address of [
      '10.1.2.3',
      '172.31.255.255',
      '192.168.0.1',
      '100.64.0.1',
      '127.1.1.1',
      '0.0.0.0',
      '255.255.255.255',
      '224.0.0.1',
      '::1',
      '::',
      'fe80::1',
      'fd00::1',
      '::ffff:8.8.8.8',
      '::ffff:0a00:0001',
      '2002:7f00:1::',
      'fe80::1%eth0',
      'nonsense',
      '',
    ]) {
      assert.ok(!isPublicAddress(address), address);
    }
  });

  it('reads any HTML in time', () => {
    const piece = fc.constantFrom(
      '<',
      '>',
      '</',
      'p',
      '<p>',
      '<script>',
      '</script>',
      '<!--',
      '-->',
      '&amp;',
      '&#x',
      ';',
      '<a href="',
      '"',
      '<pre>',
      ' ',
      '\n',
      '<nav>',
      '</nav>',
      'text',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (parts) => void htmlText(parts.join(''), 'http://x/')),
      { numRuns: runs(2_000) },
    );
    for (const shape of [
      '<',
      '<p',
      '<!--',
      '<script>',
      '<a href="',
      '&',
      '<nav>',
      '</',
      '<p>',
      '<a href=x>y</a>',
      '\n ',
      '<title',
    ]) {
      ends(shape, () => htmlText(shape.repeat(500_000 / shape.length), 'http://x/'));
    }
  });
});
