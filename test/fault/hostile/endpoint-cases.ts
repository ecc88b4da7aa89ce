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

export const HOSTILE_CASES: readonly HostileCase[] = [
  // Without an end
  { name: 'nothing at all', to: 'openai', answer: hangs(''), says: LATE, meets: 'connectMs', small: true },
  {
    name: 'headers without an end, byte by byte',
    to: 'openai',
    answer: drips('HTTP/1.1 200 OK\r\nx: ', 'a'),
    says: LATE,
    meets: 'connectMs',
    small: true,
  },
  { name: 'headers and then nothing', to: 'openai', answer: hangs(head()), says: LATE, meets: 'idleMs', small: true },
  {
    name: 'text that drips',
    to: 'openai',
    answer: drips(head(), delta('a')),
    says: /was not whole after/,
    meets: 'totalMs',
    small: true,
  },
  {
    name: 'text that drips, the other dialect',
    to: 'anthropic',
    answer: drips(head() + CLAUDE_TEXT, claudeText('a')),
    says: /was not whole after/,
    meets: 'totalMs',
    small: true,
  },
  {
    name: 'comments that drip',
    to: 'openai',
    answer: drips(head(), ': wait\n\n'),
    says: /was not whole after/,
    meets: 'totalMs',
    small: true,
  },
  {
    name: 'pings that drip',
    to: 'anthropic',
    answer: drips(head() + CLAUDE_START, claude('ping', {})),
    says: /was not whole after/,
    meets: 'totalMs',
  },
  {
    name: 'one byte of a line now and then',
    to: 'openai',
    answer: drips(`${head()}data: `, 'x'),
    says: /was not whole after/,
    meets: 'totalMs',
  },
  {
    name: 'an error text that drips',
    to: 'openai',
    answer: drips(head(400, JSON_TYPE), 'x'),
    says: /was not whole after/,
    meets: 'totalMs',
  },
  {
    name: 'a listing that drips',
    to: 'models',
    answer: drips(head(200, JSON_TYPE), ' '),
    says: /was not whole after/,
    meets: 'totalMs',
    small: true,
  },
  {
    name: 'vectors that drip',
    to: 'embeddings',
    answer: drips(head(200, JSON_TYPE), ' '),
    says: /was not whole after/,
    meets: 'totalMs',
  },
  {
    name: 'a page that drips',
    to: 'page',
    answer: drips(head(200, 'content-type: text/plain\r\n'), 'x'),
    says: /no whole answer within/,
    meets: 'totalMs',
  },
  { name: 'a page of nothing', to: 'page', answer: hangs(''), says: /no whole answer within/, meets: 'connectMs' },
  // Floods
  {
    name: 'text for ever',
    to: 'openai',
    answer: floods(head(), delta('x'.repeat(30_000))),
    says: /a text of over|over 128 MB/,
  },
  {
    name: 'text for ever, the other dialect',
    to: 'anthropic',
    answer: floods(head() + CLAUDE_TEXT, claudeText('x'.repeat(30_000))),
    says: /a text of over|over 128 MB/,
  },
  {
    name: 'thinking for ever',
    to: 'openai',
    answer: floods(
      head(),
      `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { reasoning_content: 'x'.repeat(30_000) } }] })}\n\n`,
    ),
    says: /a text of over|over 128 MB/,
  },
  {
    name: 'ten million empty events',
    to: 'openai',
    answer: floods(head(), '\n'.repeat(64_000), 20_000_000),
    says: /over 500000 events/,
  },
  {
    name: 'ten million empty events of data',
    to: 'openai',
    answer: floods(head(), 'data: {"choices":[]}\n\n'.repeat(3_000)),
    says: /over 500000 events|over 128 MB/,
  },
  { name: 'comments for ever', to: 'openai', answer: floods(head(), `: ${'x'.repeat(60_000)}\n\n`), says: BYTES },
  {
    name: 'pings for ever',
    to: 'anthropic',
    answer: floods(head() + CLAUDE_START, claude('ping', {}).repeat(1_000)),
    says: /over 500000 events|over 128 MB/,
  },
  {
    name: 'events of an unknown kind for ever',
    to: 'anthropic',
    answer: floods(head() + CLAUDE_START, `event: other\ndata: {"type":"other","x":"${'x'.repeat(50_000)}"}\n\n`),
    says: /not in its protocol|over 128 MB/,
  },
  {
    name: 'a line of ten gigabytes',
    to: 'openai',
    answer: floods(`${head()}data: "`, 'x'.repeat(64_000)),
    says: EVENT,
  },
  {
    name: 'a line of ten gigabytes, the other dialect',
    to: 'anthropic',
    answer: floods(`${head()}event: `, 'x'.repeat(64_000)),
    says: EVENT,
  },
  { name: 'an event of endless lines', to: 'openai', answer: floods(head(), 'data: 1\n'.repeat(8_000)), says: EVENT },
  {
    name: 'an event of endless lines that end in a return',
    to: 'openai',
    answer: floods(head(), 'data: 1\r'.repeat(8_000)),
    says: EVENT,
  },
  { name: 'no lines but bytes', to: 'openai', answer: floods(head(), Buffer.alloc(64_000)), says: EVENT },
  {
    name: 'an error text for ever',
    to: 'openai',
    answer: floods(head(500, JSON_TYPE), 'x'.repeat(64_000)),
    says: /failed inside/,
  },
  {
    name: 'a web page for ever',
    to: 'openai',
    answer: floods(`${head(200, 'content-type: text/html\r\n')}<html><title>hi</title>`, 'x'.repeat(64_000)),
    says: /HTML page "hi"/,
  },
  {
    name: 'a listing for ever',
    to: 'models',
    answer: floods(`${head(200, JSON_TYPE)}{"data":[`, '{"id":"m"},'.repeat(5_000)),
    says: /over 16 MB/,
  },
  {
    name: 'a listing of a hundred thousand',
    to: 'models',
    answer: says(`${head(200, JSON_TYPE)}{"data":[${'{"id":"m"},'.repeat(100_000)}{"id":"m"}]}`),
    says: /a list of over 20000 models/,
    small: true,
  },
  {
    name: 'vectors for ever',
    to: 'embeddings',
    answer: floods(`${head(200, JSON_TYPE)}{"data":[{"embedding":[`, '0,'.repeat(30_000)),
    says: /over 16 MB/,
  },
  {
    name: 'a page for ever',
    to: 'page',
    answer: floods(head(200, 'content-type: text/plain\r\n'), 'x'.repeat(64_000)),
    says: /cut/,
    mayAnswer: true,
  },
  // Calls of tools
  {
    name: 'an argument of 200 MB in pieces',
    to: 'openai',
    answer: floods(head() + callDelta(0, '{"a":"', true), callDelta(0, 'x'.repeat(30_000), false)),
    says: /arguments of over/,
  },
  {
    name: 'an argument of 200 MB at once',
    to: 'openai',
    answer: floods(
      `${head()}data: {"id":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"echo","arguments":"`,
      'x'.repeat(64_000),
    ),
    says: EVENT,
  },
  {
    name: 'an argument of 200 MB, the other dialect',
    to: 'anthropic',
    answer: floods(head() + CLAUDE_CALL, claudePiece('x'.repeat(30_000))),
    says: /arguments of over|over 128 MB/,
  },
  {
    name: 'a name of a tool of 3 MB',
    to: 'openai',
    answer: says(
      `${head()}data: {"id":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"${'x'.repeat(3 * MB)}","arguments":"{}"}}]}}]}\n\n${DONE}`,
    ),
    says: /arguments of over/,
  },
  {
    name: 'a hundred thousand calls',
    to: 'openai',
    answer: async (peer) => {
      await peer.write(head());
      for (let i = 0; i < 100_000; i += 1) if (!(await peer.write(callDelta(i, '{}', true)))) break;
      await peer.write(DONE);
      peer.end();
    },
    says: /over 128 calls/,
  },
  {
    name: 'a hundred thousand calls in one event',
    to: 'openai',
    answer: says(
      `${head()}data: {"id":"x","choices":[{"index":0,"delta":{"tool_calls":[${Array.from({ length: 30_000 }, (_, index) => `{"index":${index},"id":"c${index}","function":{"name":"e","arguments":"{}"}}`).join()}]}}]}\n\n${DONE}`,
    ),
    says: /over 128 calls/,
  },
  // Depth
  {
    name: 'an event of a million lists',
    to: 'openai',
    answer: floods(`${head()}data: `, '['.repeat(64_000)),
    says: DEPTH,
    small: true,
  },
  {
    name: 'an event of a million lists, the other dialect',
    to: 'anthropic',
    answer: says(`${head()}event: x\ndata: ${'{"a":'.repeat(100_000)}\n\n`),
    says: DEPTH,
    small: true,
  },
  {
    name: 'depth over many lines of one event',
    to: 'openai',
    answer: floods(head(), `data: ${'['.repeat(50)}\nevent: ${']'.repeat(50)}\n`),
    says: DEPTH,
  },
  {
    name: 'a listing of a million lists',
    to: 'models',
    answer: says(head(200, JSON_TYPE) + '['.repeat(MB)),
    says: DEPTH,
    small: true,
  },
  {
    name: 'vectors of a million lists',
    to: 'embeddings',
    answer: says(head(200, JSON_TYPE) + '['.repeat(MB)),
    says: DEPTH,
  },
  {
    name: 'arguments of a million lists',
    to: 'openai',
    answer: says(`${head()}${callDelta(0, '{"a":', true)}${callDelta(0, '['.repeat(MB), false)}${DONE}`),
    says: /arguments of over 64 lists/,
    small: true,
  },
  // Packed
  { name: 'a gzip bomb', to: 'openai', answer: packed('gzip', EVENTS, () => gzipSync(bomb())), says: BYTES },
  {
    name: 'a brotli bomb',
    to: 'anthropic',
    answer: packed('br', EVENTS, () => brotliCompressSync(bomb(), FAST)),
    says: BYTES,
  },
  { name: 'a zstd bomb', to: 'openai', answer: packed('zstd', EVENTS, () => zstdCompressSync(bomb())), says: BYTES },
  {
    name: 'a gzip bomb as a listing',
    to: 'models',
    answer: packed('gzip', JSON_TYPE, () => gzipSync(Buffer.alloc(300 * MB, ' '))),
    says: /over 16 MB/,
  },
  {
    name: 'a gzip bomb as an error',
    to: 'openai',
    answer: async (peer) => {
      await peer.write(head(500, `${JSON_TYPE}content-encoding: gzip\r\n`));
      await peer.write(gzipSync(Buffer.alloc(300 * MB, ' ')));
      peer.end();
    },
    says: /failed inside/,
  },
  {
    name: 'a page that is a brotli bomb',
    to: 'page',
    answer: packed('br', 'content-type: text/plain\r\n', () => brotliCompressSync(Buffer.alloc(300 * MB, 'x'), FAST)),
    says: /cut/,
    mayAnswer: true,
  },
  {
    name: 'what calls itself gzip and is not',
    to: 'openai',
    answer: packed('gzip', EVENTS, () => Buffer.from('not gzip at all')),
    says: /lost in the middle/,
    small: true,
  },
  // Headers and lengths
  {
    name: 'headers for ever',
    to: 'openai',
    answer: floods('HTTP/1.1 200 OK\r\n', 'x-a: bbbbbbbbbbbbbbbbbbbbbbbb\r\n'.repeat(100)),
    says: /headers of over/,
    small: true,
  },
  {
    name: 'one header for ever',
    to: 'models',
    answer: floods('HTTP/1.1 200 OK\r\nx-a: ', 'b'.repeat(10_000)),
    says: /headers of over/,
    small: true,
  },
  {
    name: 'preliminary answers for ever',
    to: 'openai',
    answer: floods('', 'HTTP/1.1 103 Early\r\nlink: a\r\n\r\n'),
    says: /preliminary/,
    small: true,
  },
  {
    name: 'a length that is a lie, too long',
    to: 'openai',
    answer: says(`${head(200, `${EVENTS}content-length: 99999999\r\n`)}${delta('a')}`),
    says: /lost in the middle/,
    small: true,
  },
  {
    name: 'two lengths',
    to: 'openai',
    answer: says(head(200, `${EVENTS}content-length: 5\r\ncontent-length: 900\r\n`) + delta('a')),
    says: /lost before|HPE_/,
    small: true,
  },
  {
    name: 'chunks that are none',
    to: 'openai',
    answer: says(`${head(200, `${EVENTS}transfer-encoding: chunked\r\n`)}zzzz\r\n`),
    says: /lost in the middle/,
    small: true,
  },
  {
    name: 'trailers for ever',
    to: 'openai',
    answer: floods(`${head(200, `${EVENTS}transfer-encoding: chunked\r\n`)}0\r\n`, `x-t: ${'y'.repeat(1_000)}\r\n`),
    says: /lost in the middle|ended its answer/,
  },
  { name: 'no HTTP', to: 'openai', answer: says('220 smtp ready\r\n'), says: /lost before/, small: true },
  // Waits
  {
    name: 'Retry-After without end',
    to: 'openai',
    answer: failing(429, `retry-after: ${'9'.repeat(400)}\r\n`),
    says: /too long to sit through/,
    small: true,
  },
  {
    name: 'Retry-After that is no number',
    to: 'openai',
    answer: failing(429, 'retry-after: NaN\r\nretry-after-ms: NaN\r\n'),
    says: /limits how often/,
    small: true,
  },
  {
    name: 'Retry-After in a year',
    to: 'anthropic',
    answer: failing(503, 'retry-after: Fri, 31 Dec 9999 23:59:59 GMT\r\n'),
    says: /too long to sit through/,
    small: true,
  },
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
  {
    name: 'a redirect of the listing to another host',
    to: 'models',
    answer: redirects(307, ({ elsewhere }) => elsewhere),
    says: AWAY,
    small: true,
  },
  {
    name: 'a redirect of vectors to another host',
    to: 'embeddings',
    answer: redirects(308, ({ elsewhere }) => elsewhere),
    says: AWAY,
    small: true,
  },
  {
    name: 'a redirect at home and then to another host',
    to: 'openai',
    answer: (peer) =>
      redirects(307, ({ elsewhere, here, before }) => (before === 0 ? `${here}/v1/again` : elsewhere))(peer),
    says: AWAY,
    small: true,
  },
  {
    name: 'redirects in a circle',
    to: 'openai',
    answer: redirects(307, ({ here }) => `${here}/v1/again`),
    says: /round on the same server/,
    small: true,
  },
  {
    name: 'a redirect to the same host, unencrypted to encrypted',
    to: 'openai',
    answer: redirects(307, ({ here }) => here.replace('http:', 'https:')),
    says: /another address/,
    small: true,
  },
];
