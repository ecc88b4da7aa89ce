/** One request over plain HTTP: how it is sent, what is made of every kind of answer, what is tried again. */

import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { createFetchHttp, type MatrixCall } from '#extensions/hive/matrix/matrix-http.ts';
import { PeerError } from '#public/peers.ts';
import { realClock, type TestClock } from '../../ground.ts';
import { slow } from '../../slow.ts';
import { verifies } from '../../verifies.ts';

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface OddServer {
  readonly url: string;
  readonly asked: readonly Asked[];
}

/** `answer` gets the number of the request, from 0. */
export async function withOddServer(
  answer: (response: ServerResponse, asked: Asked, number: number) => void,
  body: (server: OddServer) => Promise<void>,
): Promise<void> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      const one = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(pieces).toString('utf8'),
      };
      asked.push(one);
      answer(response, one, asked.length - 1);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await body({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** One request over plain HTTP: how it is sent, what is made of every kind of answer, what is tried again. */

const TOKEN = 'syt_secret_0123456789';

const NEVER = new AbortController().signal;

const GET: MatrixCall = { method: 'GET', path: ['v3', 'sync'] };

/** Waits pass at once and are written down. */
function hasty(slept: number[] = []): TestClock {
  return {
    ...realClock,
    sleep: (ms, signal) => {
      slept.push(ms);
      return realClock.sleep(0, signal);
    },
  };
}

/** Limits are twenty times shorter. */
const impatient: TestClock = { ...realClock, after: (ms, run) => realClock.after(ms / 20, run) };

const httpFor = (url: string, clock: TestClock = hasty()) =>
  createFetchHttp({ homeserver: url, accessToken: TOKEN }, clock);

async function failure(work: Promise<unknown>): Promise<PeerError> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof PeerError, String(error));
    const texts = [error.message, error.fix, error.forModel, String(error.stack), JSON.stringify(error.cause ?? '')];
    for (const text of texts) assert.ok(!text?.includes(TOKEN), text);
    assert.doesNotMatch(error.forModel, /\b(?:matrix|rooms?|sync|homeserver|megolm)\b/i);
    assert.ok((error.fix ?? '').length > 0, `${error.code} says what to do`);
    return error;
  }
  assert.fail('nothing was thrown');
}

describe('how a request is sent', () => {
  verifies(['R4.66', 'R4.67'], 'a POST has a JSON body always, a GET never; the token is in the header alone', () =>
    withOddServer(
      (response) => json(response, 200, {}),
      async ({ url, asked }) => {
        const http = httpFor(`${url}/base/`);
        await http({ method: 'POST', path: ['v3', 'join', '!a/b:c d'] }, NEVER);
        await http({ ...GET, query: { filter: '{"a":"&="}' } }, NEVER);
        assert.equal(asked[0]?.body, '{}');
        assert.equal(asked[0]?.headers['content-type'], 'application/json');
        assert.equal(asked[0]?.url, '/base/_matrix/client/v3/join/!a%2Fb%3Ac%20d');
        assert.equal(asked[1]?.body, '');
        assert.equal(new URL(asked[1]?.url ?? '', url).searchParams.get('filter'), '{"a":"&="}');
        for (const { headers, url: path } of asked) {
          assert.equal(headers.authorization, `Bearer ${TOKEN}`);
          assert.ok(!path.includes(TOKEN));
        }
      },
    ),
  );

  test('a segment cannot lead out of its path', () =>
    withOddServer(
      (response) => json(response, 200, {}),
      async ({ url, asked }) => {
        const http = httpFor(url);
        for (const segment of ['..', '.', ''])
          assert.equal(
            (await failure(http({ ...GET, path: ['v3', 'rooms', segment] }, NEVER))).code,
            'peers-bad-response',
          );
        await http({ ...GET, path: ['v3', '../../x', '?y#z'] }, NEVER);
        assert.deepEqual(
          asked.map((one) => one.url),
          ['/_matrix/client/v3/..%2F..%2Fx/%3Fy%23z'],
        );
      },
    ));

  verifies('R4.70', 'an address that is none is a matter of settings', () => {
    for (const address of [
      '',
      'localhost:8008',
      'ftp://x.example',
      'https://user:word@x.example',
      'https://x.example/?a=b',
    ])
      assert.throws(
        () => createFetchHttp({ homeserver: address, accessToken: TOKEN }, realClock),
        (error) =>
          error instanceof PeerError && error.code === 'peers-not-configured' && !error.message.includes('word'),
      );
  });

  test('attack: a redirect is followed nowhere, and the token goes to nobody else', () =>
    withOddServer(
      (response) => json(response, 200, { stolen: true }),
      async (other) => {
        for (const [status, location] of [
          [302, '/here'],
          [307, `${other.url}/steal`],
        ] as const)
          await withOddServer(
            (response) => json(response, status, '', { location }),
            async ({ url }) => assert.equal((await failure(httpFor(url)(GET, NEVER))).code, 'peers-bad-response'),
          );
        assert.equal(other.asked.length, 0);
      },
    ));
});

describe('what is made of an answer', () => {
  verifies('R4.72', 'what is no JSON object or list of the interface is a bad response', async () => {
    const odd = ['<!doctype html><p>hello', '', 'null', '17', '"text"', '{"a":', '{}{}', '\u0000'];
    for (const body of odd)
      await withOddServer(
        (response) => json(response, 200, body),
        async ({ url, asked }) => {
          assert.equal((await failure(httpFor(url)(GET, NEVER))).code, 'peers-bad-response', body);
          assert.equal(asked.length, 1);
        },
      );
    await withOddServer(
      (response) => json(response, 200, [1, 2]),
      async ({ url }) => assert.deepEqual(await httpFor(url)(GET, NEVER), { list: [1, 2] }),
    );
  });

  verifies('R4.72', 'every status has its code, and the text of the server comes without the token', async () => {
    const cases: readonly (readonly [number, string, string])[] = [
      [401, '{"errcode":"M_UNKNOWN_TOKEN"}', 'peers-auth'],
      [401, 'nope', 'peers-auth'],
      [403, '{"errcode":"M_UNKNOWN_TOKEN"}', 'peers-auth'],
      [403, `{"errcode":"M_FORBIDDEN","error":"not ${TOKEN}\\n\\u001b[2J${'x'.repeat(9_000)}"}`, 'peers-forbidden'],
      [403, '<html>', 'peers-bad-response'],
      [404, '{"errcode":"M_NOT_FOUND"}', 'peers-forbidden'],
      [404, '<html>', 'peers-bad-response'],
      [404, '{"errcode":"M_UNRECOGNIZED"}', 'peers-bad-response'],
      [400, '{"errcode":"M_UNKNOWN"}', 'peers-forbidden'],
      [413, '{"errcode":"M_TOO_LARGE"}', 'peers-too-large'],
      [413, '', 'peers-too-large'],
      [500, '{"errcode":"M_UNKNOWN"}', 'peers-server-error'],
      [502, '<html>', 'peers-server-error'],
      [503, 'x'.repeat(300_000), 'peers-server-error'],
      [599, '', 'peers-server-error'],
    ];
    for (const [status, body, code] of cases)
      await withOddServer(
        (response) => json(response, status, body),
        async ({ url }) => {
          const error = await failure(httpFor(url)(GET, NEVER));
          assert.equal(error.code, code, `${status} ${body.slice(0, 60)}`);
          assert.equal(error.status, code === 'peers-bad-response' ? error.status : status);
          assert.ok(error.message.length < 500 && !error.message.includes('\u001b'));
          if (code === 'peers-auth') assert.match(error.fix ?? '', /talaria peers login/);
        },
      );
  });

  slow('an answer of millions of empty values is refused before they are made; commas in texts are none', async () => {
    const wide = (item: string, bytes: number) => `{"x":[${item.repeat(bytes / item.length)}0]}`;
    const bodies = [wide('{},', 14e6), wide('1,', 12e6), wide('[],', 14e6)];
    for (const body of bodies)
      await withOddServer(
        (response) => json(response, 200, body),
        async ({ url }) => {
          const { code, message } = await failure(httpFor(url, realClock)(GET, NEVER));
          assert.equal(code, 'peers-bad-response');
          assert.match(message, /more than can be taken in/);
        },
      );
    const text = `${',{['.repeat(2_000_000)}\\"${',\\\\'.repeat(10)}`;
    await withOddServer(
      (response) => json(response, 200, JSON.stringify({ text })),
      async ({ url }) => assert.deepEqual(await httpFor(url, realClock)(GET, NEVER), { text }),
    );
  });

  test('an answer is read up to its limit and no further', async () => {
    let written = 0;
    await withOddServer(
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"a":"');
        const more = () => {
          while (written < 200_000_000) {
            written += 65_536;
            if (!response.write('x'.repeat(65_536))) return;
          }
          response.end('"}');
        };
        response.on('drain', more);
        response.on('error', () => undefined);
        more();
      },
      async ({ url }) => {
        const error = await failure(httpFor(url)({ ...GET, maxBytes: 1_000_000 }, NEVER));
        assert.equal(error.code, 'peers-bad-response');
        assert.match(error.message, /more than/);
      },
    );
    assert.ok(written < 100_000_000, String(written));
  });
});

type Fault = 'reset' | 'half' | '500' | '503';

function faulty(response: ServerResponse, fault: Fault): void {
  if (fault === '500' || fault === '503') json(response, Number(fault), '{}');
  else {
    if (fault === 'half') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"a":');
    }
    setImmediate(() => response.socket?.destroy());
  }
}

describe('what is tried again', () => {
  verifies('R4.72', 'faults of server and wire are tried again where that is harmless, only there', async () => {
    const faults: readonly Fault[] = ['reset', 'half', '500', '503'];
    for (const fault of faults)
      await withOddServer(
        (response, _asked, number) => (number === 1 ? json(response, 200, { ok: true }) : faulty(response, fault)),
        async ({ url, asked }) => {
          const http = httpFor(url);
          const put = { method: 'PUT', path: ['send', 'txn1'], body: { a: 1 } } as const;
          assert.deepEqual(await http(put, NEVER), { ok: true }, fault);
          assert.deepEqual(
            asked.map((one) => [one.method, one.url, one.body]),
            [0, 1].map(() => ['PUT', '/_matrix/client/send/txn1', '{"a":1}']),
          );
          const { code } = await failure(http({ method: 'POST', path: ['createRoom'] }, NEVER));
          assert.equal(code, fault === '500' || fault === '503' ? 'peers-server-error' : 'peers-unreachable');
          assert.equal(asked.length, 3, 'a POST is sent once');
        },
      );
  });

  test('it ends after three attempts', () =>
    withOddServer(
      (response) => json(response, 500, '{}'),
      async ({ url, asked }) => {
        const slept: number[] = [];
        await failure(httpFor(url, hasty(slept))(GET, NEVER));
        assert.equal(asked.length, 3);
        assert.equal(slept.length, 2);
        assert.ok(slept.every((ms) => ms < 1_000));
      },
    ));

  verifies('R4.72', 'a short wait that is asked for is kept, also for a POST; a long one is reported', async () => {
    const ways: readonly (readonly [Record<string, string>, string, number])[] = [
      [{ 'retry-after': '1' }, '{"errcode":"M_LIMIT_EXCEEDED"}', 1_000],
      [{}, '{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":700}', 700],
      [{ 'retry-after': '2' }, '{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":90000}', 2_000],
    ];
    for (const [headers, body, ms] of ways)
      await withOddServer(
        (response, _asked, number) =>
          number === 0 ? json(response, 429, body, headers) : json(response, 200, { ok: true }),
        async ({ url }) => {
          const slept: number[] = [];
          assert.deepEqual(await httpFor(url, hasty(slept))({ method: 'POST', path: ['x'] }, NEVER), { ok: true });
          assert.equal(slept.length, 1);
          assert.ok((slept[0] ?? 0) >= ms && (slept[0] ?? 0) <= ms + 60, String(slept[0]));
        },
      );
    await withOddServer(
      (response) => json(response, 429, '{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":60000}'),
      async ({ url, asked }) => {
        const error = await failure(httpFor(url)(GET, NEVER));
        assert.deepEqual([error.code, error.retryAfterMs, asked.length], ['peers-rate-limited', 60_000, 1]);
        assert.match(error.fix ?? '', /60 s/);
      },
    );
  });

  verifies.slow('R4.72', 'silence is a time-out, a trickle too, and both are bounded', async () => {
    for (const isTrickle of [false, true]) {
      const timers: NodeJS.Timeout[] = [];
      await withOddServer(
        (response) => {
          if (!isTrickle) return;
          response.writeHead(200, { 'content-type': 'application/json' });
          timers.push(setInterval(() => response.write(' '), 20));
        },
        async ({ url, asked }) => {
          const work = httpFor(url, impatient)({ ...GET, idleMs: 5_000 }, NEVER);
          assert.equal((await failure(work)).code, 'peers-timeout');
          assert.equal(asked.length, 1, 'who waited so long does not wait again');
        },
      );
      for (const timer of timers) clearInterval(timer);
    }
  });

  test('an abort ends the request and the wait, with its reason', async () => {
    const reason = new Error('the turn is over');
    for (const status of [0, 429]) {
      const controller = new AbortController();
      const sleep: TestClock['sleep'] = (_, signal) => {
        controller.abort(reason);
        return realClock.sleep(600_000, signal);
      };
      await withOddServer(
        (response) => {
          if (status === 429) json(response, 429, '{"retry_after_ms":1900}');
          else controller.abort(reason);
        },
        async ({ url, asked }) => {
          await assert.rejects(httpFor(url, { ...realClock, sleep })(GET, controller.signal), reason);
          assert.equal(asked.length, 1);
        },
      );
    }
    await assert.rejects(httpFor('http://127.0.0.1:9')(GET, AbortSignal.abort(reason)), reason);
  });

  verifies('R4.72', 'nobody there, no such name, no such certificate: unreachable at once', async () => {
    for (const url of ['http://127.0.0.1:9', 'http://nobody.invalid']) {
      const slept: number[] = [];
      const error = await failure(httpFor(url, hasty(slept))(GET, NEVER));
      assert.deepEqual([error.code, slept.length], ['peers-unreachable', 0], error.message);
    }
  });
});
