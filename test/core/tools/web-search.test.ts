/** One question to each of four search engines, as their documentation says it is asked, and every way in which it may fail. */
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createWebSearchTool, type WebSearchOptions } from '#core/tools/web-search-tool.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { createStage } from '../../surfaces/app/app-fixture.ts';
import { verifies } from '../../verifies.ts';
import { makeToolPlace } from './place.ts';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function startEngine(t: TestContext, answer: (response: ServerResponse) => unknown) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const body = (await Array.fromAsync(request)).join('');
    seen.push({ method: request.method, url: request.url, headers: request.headers, body });
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { seen, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const long = 'word '.repeat(400);
const hits = (text: string) => [
  { title: 'Tide &amp; <b>harbour</b>', url: 'https://a.example/tide', [text]: `At six.\n${long}` },
  { title: 'The same', url: 'https://a.example/tide/#top', [text]: 'again' },
  { title: 'No page', url: 'javascript:alert(1)', [text]: 'x' },
  { title: null, url: 'https://b.example/?q=1' },
];

interface Row extends Pick<Seen, 'method' | 'url'> {
  readonly answer: object;
  readonly header: readonly [string, string];
  readonly body: object | undefined;
}

const ENGINES: Readonly<Record<WebSearchOptions['backend'], Row>> = {
  searxng: {
    ...{ method: 'GET', url: '/search?q=high+tide&format=json', body: undefined },
    ...{ answer: { results: hits('content') }, header: ['authorization', 'Bearer key-1'] },
  },
  brave: {
    ...{ method: 'GET', url: '/res/v1/web/search?q=high+tide&count=3&text_decorations=false', body: undefined },
    ...{ answer: { web: { results: hits('description') } }, header: ['x-subscription-token', 'key-1'] },
  },
  tavily: {
    ...{ method: 'POST', url: '/search', body: { query: 'high tide', max_results: 3 } },
    ...{ answer: { results: hits('content') }, header: ['authorization', 'Bearer key-1'] },
  },
  exa: {
    ...{ method: 'POST', url: '/search', header: ['x-api-key', 'key-1'], answer: { results: hits('text') } },
    body: { query: 'high tide', numResults: 3, contents: { text: { maxCharacters: 500 } } },
  },
};

for (const [backend, row] of Object.entries(ENGINES) as [WebSearchOptions['backend'], Row][])
  verifies(
    ['R5.93', 'R5.94'],
    `${backend} is asked in its way, with the key in a header, and its hits are told once`,
    async (t) => {
      const { seen, baseUrl } = await startEngine(t, (response) => response.end(JSON.stringify(row.answer)));
      const place = makeToolPlace();
      t.after(place.remove);
      const tool = createWebSearchTool({ backend, baseUrl: `${baseUrl}/`, apiKey: 'key-1' });
      const { text, isError, origin } = await place.run(tool, { query: ' high tide ', limit: 3 });
      const [title, address, excerpt = '', gap, ...rest] = text.split('\n');
      assert.deepEqual([title, address, gap], ['1. Tide & harbour', 'https://a.example/tide', '']);
      assert.match(excerpt, /^At six\. word word/);
      assert.ok(excerpt.length <= 500);
      assert.deepEqual(rest, ['2. https://b.example/?q=1', 'https://b.example/?q=1']);
      assert.deepEqual(
        [isError, origin],
        [undefined, undefined],
        'what a tool gives is foreign unless it says otherwise',
      );
      const [{ method, url, headers, body }] = seen as [Seen];
      assert.deepEqual([method, url, headers[row.header[0]]], [row.method, row.url, row.header[1]]);
      assert.deepEqual(body === '' ? undefined : JSON.parse(body), row.body);
      assert.ok(!url?.includes('key-1'));
    },
  );

verifies(
  'R5.94',
  'what fails is said in one line: key, pace, plan, place, form, size, nothing there, no answer',
  async (t) => {
    const place = makeToolPlace();
    t.after(place.remove);
    const ask = async (
      answer: (response: ServerResponse) => unknown,
      backend: WebSearchOptions['backend'] = 'brave',
    ) => {
      const { baseUrl } = await startEngine(t, answer);
      const { text } = await place.run(createWebSearchTool({ backend, baseUrl, apiKey: 'key-1' }), { query: 'x' });
      assert.doesNotMatch(text, /key-1|\n/);
      return text;
    };
    const status =
      (code: number, headers = {}) =>
      (response: ServerResponse) =>
        response.writeHead(code, headers).end('{}');
    const plain = (text: string) => (response: ServerResponse) => response.end(text);
    assert.equal(await ask(status(401)), 'brave: refused (HTTP 401); see web.search.api_key in config.yaml');
    assert.match(await ask(status(403), 'searxng'), /add json to search\.formats in its settings\.yml/);
    assert.equal(
      await ask(status(429, { 'retry-after': '7' })),
      'brave: too many searches (HTTP 429); try again in 7 s',
    );
    assert.equal(await ask(status(432), 'tavily'), 'tavily: its plan is used up (HTTP 432)');
    assert.equal(await ask(status(500)), 'brave: it failed (HTTP 500)');
    assert.match(
      await ask(status(302, { location: 'https://elsewhere.example' })),
      /somewhere else \(HTTP 302\); see web\.search\.base_url/,
    );
    assert.match(
      await ask(plain('<!doctype html><p>hello')),
      /^brave: it answered with no JSON; see web\.search\.base_url/,
    );
    assert.match(
      await ask(plain(JSON.stringify({ a: 'x'.repeat(3_000_000) }))),
      /^brave: it could not be asked: its answer is too large/,
    );
    for (const none of ['{}', '{"web":{"results":[]}}', '{"web":{"results":"none"}}'])
      assert.equal(await ask(plain(none)), 'Nothing was found for "x".');
    const closed = createWebSearchTool({ backend: 'exa', baseUrl: 'http://127.0.0.1:1', apiKey: '' });
    assert.match((await place.run(closed, { query: 'x' })).text, /^exa: it could not be asked: /);
  },
);

test('an engine that says nothing is waited for no longer than 20 s, and a stop ends the wait at once', async (t) => {
  const place = makeToolPlace();
  t.after(place.remove);
  const asked = Promise.withResolvers<void>();
  const { baseUrl } = await startEngine(t, () => asked.resolve());
  const tool = createWebSearchTool({ backend: 'exa', baseUrl, apiKey: '' });
  const clock = createManualClock();
  const running = place.run(tool, { query: 'x' }, { clock });
  await asked.promise;
  await clock.advance(20_000);
  assert.equal((await running).text, 'exa: it could not be asked: no answer within 20 s');
  const stop = new AbortController();
  const stopped = place.run(tool, { query: 'x' }, {}, stop.signal);
  stop.abort(new Error('stopped'));
  await assert.rejects(stopped);
});

verifies('R5.93', 'without a backend, or with half of one, it is not there, and what to set is said', async (t) => {
  const reasons: Readonly<Record<string, RegExp | undefined>> = {
    '': /set web\.search\.backend in config\.yaml: searxng/,
    'backend: searxng': /searxng needs web\.search\.base_url/,
    'backend: exa': /exa needs web\.search\.api_key/,
    'backend: exa, api_key: "${EXA_KEY}"': /web\.search: EXA_KEY is not set/,
    'backend: searxng, base_url: "http://127.0.0.1:8888"': undefined,
  };
  for (const [search, reason] of Object.entries(reasons)) {
    const stage = createStage(t);
    stage.temp.write('home/config.yaml', `version: 1\nweb: { enabled: true, search: { ${search} } }\n`);
    const app = await stage.open({ extra: { client: createScriptedModel([]) } });
    const { unavailable, deferred } = await app.tools();
    const why = unavailable.find(({ name }) => name === 'web_search')?.reason;
    if (reason) assert.match(why ?? '', reason);
    else assert.equal(why, undefined);
    assert.equal(
      deferred.some(({ name }) => name === 'web_search'),
      reason === undefined,
    );
    await app.shutdown();
  }
});
