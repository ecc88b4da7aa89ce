/** What a hostile endpoint does, as data: each case one way to make an agent hang, swell, leak its key or believe nonsense. */
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib';
import type { Peer } from './hostile-server.ts';

export interface HostileCase {
  readonly name: string;
  /** Who is asked: a turn over one of the two dialects, the listing of models, the embedder, or web_fetch. */
  readonly to: 'openai' | 'anthropic' | 'models' | 'embeddings' | 'page';
  readonly answer: (peer: Peer) => Promise<void>;
  /** What the error says beside the endpoint. */
  readonly says: RegExp;
  /** The time-out that the attack is to meet; it alone is made small. */
  readonly meets?: 'connectMs' | 'idleMs' | 'totalMs';
  /** Nothing large is sent: part of `npm test`. */
  readonly small?: boolean;
  /** The agent may come out of it with an answer. */
  readonly mayAnswer?: boolean;
}

const MB = 1024 ** 2;
const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const EVENTS = 'content-type: text/event-stream\r\n';
const JSON_TYPE = 'content-type: application/json\r\n';

function head(status = 200, headers = EVENTS): string {
  return `HTTP/1.1 ${status} X\r\n${headers}connection: close\r\n\r\n`;
}

function delta(content: string): string {
  return `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { content } }] })}\n\n`;
}

function callDelta(index: number, part: string, first: boolean): string {
  const call = {
    index,
    ...(first ? { id: `c${index}`, type: 'function' } : {}),
    function: { ...(first ? { name: 'echo' } : {}), arguments: part },
  };
  return `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { tool_calls: [call] } }] })}\n\n`;
}

const DONE = `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`;

const claude = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const CLAUDE_START = claude('message_start', {
  message: {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  },
});
const claudeText = (text: string) => claude('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
const CLAUDE_TEXT =
  CLAUDE_START + claude('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
const CLAUDE_CALL =
  CLAUDE_START +
  claude('content_block_start', { index: 0, content_block: { type: 'tool_use', id: 't', name: 'echo', input: {} } });
const claudePiece = (partial_json: string) =>
  claude('content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json } });

const says = (text: string) => async (peer: Peer) => {
  await peer.write(text);
  peer.end();
};
const floods = (start: string, again: string | Uint8Array, most?: number) => async (peer: Peer) => {
  await peer.write(start);
  await peer.flood(again, most);
  peer.end();
};
/** Something small for ever, slowly. */
const drips = (start: string, again: string) => async (peer: Peer) => {
  await peer.write(start);
  while (await peer.write(again)) await new Promise((resolve) => setTimeout(resolve, 20));
};
const hangs = (start: string) => async (peer: Peer) => {
  await peer.write(start);
};
const packed = (encoding: string, type: string, make: () => Uint8Array) => async (peer: Peer) => {
  await peer.write(head(200, `${type}content-encoding: ${encoding}\r\n`));
  await peer.write(make());
  peer.end();
};
const redirects = (status: number, to: (peer: Peer) => string) => async (peer: Peer) => {
  await peer.write(head(status, `location: ${to(peer)}\r\ncontent-length: 0\r\n`));
  peer.end();
};
const failing = (status: number, headers: string) => says(`${head(status, headers)}no`);
const bomb = () => Buffer.concat(Array.from({ length: 300 }, () => Buffer.from(`: ${' '.repeat(MB - 4)}\n\n`)));

const BYTES = /over 128 MB/;
const EVENT = /an event of over 4 MB/;
const DEPTH = /over 64 lists or objects/;
const LATE = /did not answer within|sent nothing for|was not whole after/;
const AWAY = /another address, http:\/\/localhost:\d+/;

type More = Pick<HostileCase, 'meets' | 'small' | 'mayAnswer'>;
function asked(to: HostileCase['to']) {
  return (name: string, answer: HostileCase['answer'], says: RegExp, more: More = {}): HostileCase => ({
    ...{ name, to, answer, says },
    ...more,
  });
}
const [openai, anthropic, models] = [asked('openai'), asked('anthropic'), asked('models')];
const [embeddings, page] = [asked('embeddings'), asked('page')];
const SMALL = { small: true } as const;
const TOTAL = { meets: 'totalMs' } as const;

export const HOSTILE_CASES: readonly HostileCase[] = [
  // Without an end
  openai('nothing at all', hangs(''), LATE, { meets: 'connectMs', small: true }),
  openai('headers without an end, byte by byte', drips('HTTP/1.1 200 OK\r\nx: ', 'a'), LATE, {
    meets: 'connectMs',
    small: true,
  }),
  openai('headers and then nothing', hangs(head()), LATE, { meets: 'idleMs', small: true }),
  openai('text that drips', drips(head(), delta('a')), /was not whole after/, { meets: 'totalMs', small: true }),
  anthropic('text that drips, the other dialect', drips(head() + CLAUDE_TEXT, claudeText('a')), /was not whole after/, {
    meets: 'totalMs',
    small: true,
  }),
  openai('comments that drip', drips(head(), ': wait\n\n'), /was not whole after/, { meets: 'totalMs', small: true }),
  anthropic('pings that drip', drips(head() + CLAUDE_START, claude('ping', {})), /was not whole after/, TOTAL),
  openai('one byte of a line now and then', drips(`${head()}data: `, 'x'), /was not whole after/, TOTAL),
  openai('an error text that drips', drips(head(400, JSON_TYPE), 'x'), /was not whole after/, TOTAL),
  models('a listing that drips', drips(head(200, JSON_TYPE), ' '), /was not whole after/, {
    meets: 'totalMs',
    small: true,
  }),
  embeddings('vectors that drip', drips(head(200, JSON_TYPE), ' '), /was not whole after/, TOTAL),
  page('a page that drips', drips(head(200, 'content-type: text/plain\r\n'), 'x'), /no whole answer within/, TOTAL),
  page('a page of nothing', hangs(''), /no whole answer within/, { meets: 'connectMs' }),
  // Floods
  openai('text for ever', floods(head(), delta('x'.repeat(30_000))), /a text of over|over 128 MB/),
  anthropic(
    'text for ever, the other dialect',
    floods(head() + CLAUDE_TEXT, claudeText('x'.repeat(30_000))),
    /a text of over|over 128 MB/,
  ),
  openai(
    'thinking for ever',
    floods(
      head(),
      `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { reasoning_content: 'x'.repeat(30_000) } }] })}\n\n`,
    ),
    /a text of over|over 128 MB/,
  ),
  openai('ten million empty events', floods(head(), '\n'.repeat(64_000), 20_000_000), /over 500000 events/),
  openai(
    'ten million empty events of data',
    floods(head(), 'data: {"choices":[]}\n\n'.repeat(3_000)),
    /over 500000 events|over 128 MB/,
  ),
  openai('comments for ever', floods(head(), `: ${'x'.repeat(60_000)}\n\n`), BYTES),
  anthropic(
    'pings for ever',
    floods(head() + CLAUDE_START, claude('ping', {}).repeat(1_000)),
    /over 500000 events|over 128 MB/,
  ),
  anthropic(
    'events of an unknown kind for ever',
    floods(head() + CLAUDE_START, `event: other\ndata: {"type":"other","x":"${'x'.repeat(50_000)}"}\n\n`),
    /not in its protocol|over 128 MB/,
  ),
  openai('a line of ten gigabytes', floods(`${head()}data: "`, 'x'.repeat(64_000)), EVENT),
  anthropic('a line of ten gigabytes, the other dialect', floods(`${head()}event: `, 'x'.repeat(64_000)), EVENT),
  openai('an event of endless lines', floods(head(), 'data: 1\n'.repeat(8_000)), EVENT),
  openai('an event of endless lines that end in a return', floods(head(), 'data: 1\r'.repeat(8_000)), EVENT),
  openai('no lines but bytes', floods(head(), Buffer.alloc(64_000)), EVENT),
  openai('an error text for ever', floods(head(500, JSON_TYPE), 'x'.repeat(64_000)), /failed inside/),
  openai(
    'a web page for ever',
    floods(`${head(200, 'content-type: text/html\r\n')}<html><title>hi</title>`, 'x'.repeat(64_000)),
    /HTML page "hi"/,
  ),
  models('a listing for ever', floods(`${head(200, JSON_TYPE)}{"data":[`, '{"id":"m"},'.repeat(5_000)), /over 16 MB/),
  models(
    'a listing of a hundred thousand',
    says(`${head(200, JSON_TYPE)}{"data":[${'{"id":"m"},'.repeat(100_000)}{"id":"m"}]}`),
    /a list of over 20000 models/,
    SMALL,
  ),
  embeddings(
    'vectors for ever',
    floods(`${head(200, JSON_TYPE)}{"data":[{"embedding":[`, '0,'.repeat(30_000)),
    /over 16 MB/,
  ),
  page('a page for ever', floods(head(200, 'content-type: text/plain\r\n'), 'x'.repeat(64_000)), /cut/, {
    mayAnswer: true,
  }),
  // Calls of tools
  openai(
    'an argument of 200 MB in pieces',
    floods(head() + callDelta(0, '{"a":"', true), callDelta(0, 'x'.repeat(30_000), false)),
    /arguments of over/,
  ),
  openai(
    'an argument of 200 MB at once',
    floods(
      `${head()}data: {"id":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"echo","arguments":"`,
      'x'.repeat(64_000),
    ),
    EVENT,
  ),
  anthropic(
    'an argument of 200 MB, the other dialect',
    floods(head() + CLAUDE_CALL, claudePiece('x'.repeat(30_000))),
    /arguments of over|over 128 MB/,
  ),
  openai(
    'a name of a tool of 3 MB',
    says(
      `${head()}data: {"id":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"${'x'.repeat(3 * MB)}","arguments":"{}"}}]}}]}\n\n${DONE}`,
    ),
    /arguments of over/,
  ),
  openai(
    'a hundred thousand calls',
    async (peer) => {
      await peer.write(head());
      for (let i = 0; i < 100_000; i += 1) if (!(await peer.write(callDelta(i, '{}', true)))) break;
      await peer.write(DONE);
      peer.end();
    },
    /over 128 calls/,
  ),
  openai(
    'a hundred thousand calls in one event',
    says(
      `${head()}data: {"id":"x","choices":[{"index":0,"delta":{"tool_calls":[${Array.from({ length: 30_000 }, (_, index) => `{"index":${index},"id":"c${index}","function":{"name":"e","arguments":"{}"}}`).join()}]}}]}\n\n${DONE}`,
    ),
    /over 128 calls/,
  ),
  // Depth
  openai('an event of a million lists', floods(`${head()}data: `, '['.repeat(64_000)), DEPTH, SMALL),
  anthropic(
    'an event of a million lists, the other dialect',
    says(`${head()}event: x\ndata: ${'{"a":'.repeat(100_000)}\n\n`),
    DEPTH,
    SMALL,
  ),
  openai(
    'depth over many lines of one event',
    floods(head(), `data: ${'['.repeat(50)}\nevent: ${']'.repeat(50)}\n`),
    DEPTH,
  ),
  models('a listing of a million lists', says(head(200, JSON_TYPE) + '['.repeat(MB)), DEPTH, SMALL),
  embeddings('vectors of a million lists', says(head(200, JSON_TYPE) + '['.repeat(MB)), DEPTH),
  openai(
    'arguments of a million lists',
    says(`${head()}${callDelta(0, '{"a":', true)}${callDelta(0, '['.repeat(MB), false)}${DONE}`),
    /arguments of over 64 lists/,
    SMALL,
  ),
  // Packed
  openai(
    'a gzip bomb',
    packed('gzip', EVENTS, () => gzipSync(bomb())),
    BYTES,
  ),
  anthropic(
    'a brotli bomb',
    packed('br', EVENTS, () => brotliCompressSync(bomb(), FAST)),
    BYTES,
  ),
  openai(
    'a zstd bomb',
    packed('zstd', EVENTS, () => zstdCompressSync(bomb())),
    BYTES,
  ),
  models(
    'a gzip bomb as a listing',
    packed('gzip', JSON_TYPE, () => gzipSync(Buffer.alloc(300 * MB, ' '))),
    /over 16 MB/,
  ),
  openai(
    'a gzip bomb as an error',
    async (peer) => {
      await peer.write(head(500, `${JSON_TYPE}content-encoding: gzip\r\n`));
      await peer.write(gzipSync(Buffer.alloc(300 * MB, ' ')));
      peer.end();
    },
    /failed inside/,
  ),
  page(
    'a page that is a brotli bomb',
    packed('br', 'content-type: text/plain\r\n', () => brotliCompressSync(Buffer.alloc(300 * MB, 'x'), FAST)),
    /cut/,
    { mayAnswer: true },
  ),
  openai(
    'what calls itself gzip and is not',
    packed('gzip', EVENTS, () => Buffer.from('not gzip at all')),
    /lost in the middle/,
    SMALL,
  ),
  // Headers and lengths
  openai(
    'headers for ever',
    floods('HTTP/1.1 200 OK\r\n', 'x-a: bbbbbbbbbbbbbbbbbbbbbbbb\r\n'.repeat(100)),
    /headers of over/,
    SMALL,
  ),
  models('one header for ever', floods('HTTP/1.1 200 OK\r\nx-a: ', 'b'.repeat(10_000)), /headers of over/, SMALL),
  openai('preliminary answers for ever', floods('', 'HTTP/1.1 103 Early\r\nlink: a\r\n\r\n'), /preliminary/, SMALL),
  openai(
    'a length that is a lie, too long',
    says(`${head(200, `${EVENTS}content-length: 99999999\r\n`)}${delta('a')}`),
    /lost in the middle/,
    SMALL,
  ),
  openai(
    'two lengths',
    says(head(200, `${EVENTS}content-length: 5\r\ncontent-length: 900\r\n`) + delta('a')),
    /lost before|HPE_/,
    SMALL,
  ),
  openai(
    'chunks that are none',
    says(`${head(200, `${EVENTS}transfer-encoding: chunked\r\n`)}zzzz\r\n`),
    /lost in the middle/,
    SMALL,
  ),
  openai(
    'trailers for ever',
    floods(`${head(200, `${EVENTS}transfer-encoding: chunked\r\n`)}0\r\n`, `x-t: ${'y'.repeat(1_000)}\r\n`),
    /lost in the middle|ended its answer/,
  ),
  openai('no HTTP', says('220 smtp ready\r\n'), /lost before/, SMALL),
  // Waits
  openai(
    'Retry-After without end',
    failing(429, `retry-after: ${'9'.repeat(400)}\r\n`),
    /too long to sit through/,
    SMALL,
  ),
  openai(
    'Retry-After that is no number',
    failing(429, 'retry-after: NaN\r\nretry-after-ms: NaN\r\n'),
    /limits how often/,
    SMALL,
  ),
  anthropic(
    'Retry-After in a year',
    failing(503, 'retry-after: Fri, 31 Dec 9999 23:59:59 GMT\r\n'),
    /too long to sit through/,
    SMALL,
  ),
  // Away
  ...[301, 302, 303, 307, 308].map(
    (status): HostileCase => ({
      name: `a redirect (${status}) to another host`,
      to: status % 2 ? 'openai' : 'anthropic',
      answer: redirects(status, ({ elsewhere }) => `${elsewhere}/v1/x`),
      says: AWAY,
      small: true,
    }),
  ),
  models(
    'a redirect of the listing to another host',
    redirects(307, ({ elsewhere }) => elsewhere),
    AWAY,
    SMALL,
  ),
  embeddings(
    'a redirect of vectors to another host',
    redirects(308, ({ elsewhere }) => elsewhere),
    AWAY,
    SMALL,
  ),
  openai(
    'a redirect at home and then to another host',
    (peer) => redirects(307, ({ elsewhere, here, before }) => (before === 0 ? `${here}/v1/again` : elsewhere))(peer),
    AWAY,
    SMALL,
  ),
  openai(
    'redirects in a circle',
    redirects(307, ({ here }) => `${here}/v1/again`),
    /round on the same server/,
    SMALL,
  ),
  openai(
    'a redirect to the same host, unencrypted to encrypted',
    redirects(307, ({ here }) => here.replace('http:', 'https:')),
    /another address/,
    SMALL,
  ),
];
