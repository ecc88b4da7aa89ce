// Owns a provider on loopback that answers from a script: OpenAI chat completions and Anthropic messages as event streams, faults included, and
// `/models`. Knows no client. Invariant: a request beyond the script gets status 500 and makes `done()` throw; so do leftovers.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { TalariaError } from '#base/errors.ts';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import type { FinishReason, Usage } from '#core/model/model-client.ts';
import { frozenSnapshot } from './scripted-model.ts';
import type { Teardown } from './temp-home.ts';

/** One recorded request, body parsed when it is a JSON object. */
export interface ServerRequest {
  readonly method: string;
  /** Path without query, e.g. `/v1/chat/completions`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  /** The bytes as text. */
  readonly raw: string;
}

export interface ServerCall {
  readonly name: string;
  /** A string is sent as it is: malformed arguments. */
  readonly arguments?: JsonObject | string;
  readonly callId?: string;
}

export interface ServerAnswer {
  readonly reply?: string | readonly string[];
  readonly reasoning?: string;
  /** Anthropic only: signature of the thinking block. */
  readonly signature?: string;
  readonly calls?: readonly ServerCall[];
  readonly finish?: FinishReason;
  /** `null` sends no usage at all. */
  readonly usage?: Partial<Usage> | null;
}

/**
 * `hang`: no answer at all. `hang-after`: the first part of the answer, then nothing. `reset`: the socket is destroyed before an
 * answer, `reset-after`: in the middle of it. `half-event`: the stream ends inside an event. `no-finish`: it ends without a finish
 * reason. `html`: a web page with status 200. `garbage`: an event that is no JSON.
 */
export type ServerFault =
  | 'hang'
  | 'hang-after'
  | 'reset'
  | 'reset-after'
  | 'half-event'
  | 'no-finish'
  | 'html'
  | 'garbage';

export type ServerStep =
  | string
  | ServerAnswer
  | { readonly fault: ServerFault }
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: JsonObject | string;
    }
  /** An error object inside an accepted stream. */
  | { readonly streamError: JsonObject }
  | ((request: ServerRequest) => ServerStep | Promise<ServerStep>);

type PlainServerStep = Exclude<ServerStep, string | ((request: ServerRequest) => ServerStep | Promise<ServerStep>)>;

async function resolveServerStep(step: ServerStep, request: ServerRequest): Promise<PlainServerStep> {
  if (typeof step === 'string') return { reply: step };
  return typeof step === 'function' ? resolveServerStep(await step(request), request) : step;
}

function isAnswer(step: PlainServerStep): step is ServerAnswer {
  return !('fault' in step || 'status' in step || 'streamError' in step);
}

function replyChunks(reply: ServerAnswer['reply']): readonly string[] {
  if (reply === undefined) return [];
  return (typeof reply === 'string' ? (reply.match(/\S*\s*/g) ?? []) : reply).filter((chunk) => chunk !== '');
}

function argumentsText(call: ServerCall): string {
  return typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {});
}

const SERVER_USAGE: Usage = {
  inputTokens: 100,
  outputTokens: 10,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

const FINISH: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  refusal: 'content_filter',
  other: 'unknown',
};

/** The events of a whole answer, each one complete with its blank line. The last two carry usage and `[DONE]`. */
function openAiEvents(answer: ServerAnswer, model: string, nextId: () => string): readonly string[] {
  const base = { id: 'chatcmpl-scripted', object: 'chat.completion.chunk', created: 1_700_000_000, model };
  const chunk = (delta: object, finish: string | null = null) =>
    event({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] });
  const events = [chunk({ role: 'assistant', content: '' })];
  if (answer.reasoning) events.push(...pieces(answer.reasoning).map((text) => chunk({ reasoning_content: text })));
  for (const text of replyChunks(answer.reply)) events.push(chunk({ content: text }));
  for (const [index, call] of (answer.calls ?? []).entries()) {
    const text = argumentsText(call);
    const cut = Math.ceil(text.length / 2);
    const opening = { name: call.name, arguments: text.slice(0, cut) };
    events.push(chunk({ tool_calls: [{ index, id: call.callId ?? nextId(), type: 'function', function: opening }] }));
    events.push(chunk({ tool_calls: [{ index, function: { arguments: text.slice(cut) } }] }));
  }
  events.push(chunk({}, FINISH[answer.finish ?? (answer.calls?.length ? 'tool-calls' : 'stop')]));
  if (answer.usage !== null) events.push(event({ ...base, choices: [], usage: openAiUsage(answer) }));
  return [...events, 'data: [DONE]\n\n'];
}

function openAiUsage(answer: ServerAnswer): object {
  const usage = { ...SERVER_USAGE, ...answer.usage };
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}

function pieces(text: string): readonly string[] {
  return text.match(/\S*\s*/g)?.filter((piece) => piece !== '') ?? [];
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

const STOP: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  refusal: 'refusal',
  other: 'pause_turn',
};

/** The events of a whole answer, each one complete with its blank line. The last two are `message_delta` and `message_stop`. */
function anthropicEvents(answer: ServerAnswer, model: string, nextId: () => string): readonly string[] {
  const usage = { ...SERVER_USAGE, ...answer.usage };
  const counted = {
    input_tokens: usage.inputTokens - usage.cachedTokens - usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cachedTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    output_tokens: usage.outputTokens,
  };
  const message = { id: 'msg_scripted', type: 'message', role: 'assistant', model, content: [] };
  const start = { ...message, stop_reason: null, stop_sequence: null, usage: { ...counted, output_tokens: 1 } };
  const events = [anthropicWireEvent('message_start', { message: start })];
  for (const [index, block] of blocksOf(answer, nextId).entries()) {
    events.push(anthropicWireEvent('content_block_start', { index, content_block: block.start }));
    for (const delta of block.deltas) events.push(anthropicWireEvent('content_block_delta', { index, delta }));
    events.push(anthropicWireEvent('content_block_stop', { index }));
  }
  const reason = STOP[answer.finish ?? (answer.calls?.length ? 'tool-calls' : 'stop')];
  events.push(
    anthropicWireEvent('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage: counted }),
  );
  return [...events, anthropicWireEvent('message_stop', {})];
}

interface Block {
  readonly start: object;
  readonly deltas: readonly object[];
}

function blocksOf(answer: ServerAnswer, nextId: () => string): readonly Block[] {
  const blocks: Block[] = [];
  if (answer.reasoning) {
    const signature = { type: 'signature_delta', signature: answer.signature ?? 'c2lnbmVk' };
    blocks.push({
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [{ type: 'thinking_delta', thinking: answer.reasoning }, signature],
    });
  }
  const chunks = replyChunks(answer.reply);
  if (chunks.length > 0) {
    blocks.push({ start: { type: 'text', text: '' }, deltas: chunks.map((text) => ({ type: 'text_delta', text })) });
  }
  for (const call of answer.calls ?? []) {
    const text = argumentsText(call);
    const cut = Math.ceil(text.length / 2);
    blocks.push({
      start: { type: 'tool_use', id: call.callId ?? nextId(), name: call.name, input: {} },
      deltas: [text.slice(0, cut), text.slice(cut)].map((json) => ({ type: 'input_json_delta', partial_json: json })),
    });
  }
  return blocks;
}

function anthropicWireEvent(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

export interface Stage {
  readonly request: ServerRequest;
  readonly response: ServerResponse;
  readonly nextId: () => string;
}

function playServerStep(step: PlainServerStep, stage: Stage): void {
  if ('status' in step) playStatus(step, stage.response);
  else if ('fault' in step) playFault(step.fault, stage);
  else {
    openStream(stage.response);
    stage.response.end(isAnswer(step) ? eventsOf(step, stage).join('') : errorEvent(step.streamError, stage.request));
  }
}

function playStatus(step: Extract<PlainServerStep, { status: number }>, response: ServerResponse): void {
  const text =
    typeof step.body === 'string' ? step.body : JSON.stringify(step.body ?? { error: { message: 'scripted' } });
  const type = text.trimStart().startsWith('<') ? 'text/html' : 'application/json';
  response.writeHead(step.status, { 'content-type': type, ...step.headers });
  response.end(text);
}

function playFault(fault: ServerFault, stage: Stage): void {
  const { response } = stage;
  const events = eventsOf({ reply: 'The first half of an answer that never ends' }, stage);
  const first = events.slice(0, 4).join('');
  switch (fault) {
    case 'hang':
      return;
    case 'reset':
      response.destroy();
      return;
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<!doctype html><html><head><title>Welcome</title></head><body>hello</body></html>');
      return;
    case 'hang-after':
      openStream(response);
      response.write(first);
      return;
    case 'reset-after':
      openStream(response);
      response.write(first, () => response.destroy());
      return;
    case 'half-event':
      openStream(response);
      response.end(first + (events[4] ?? '').slice(0, 30));
      return;
    case 'no-finish':
      openStream(response);
      response.end(first);
      return;
    case 'garbage':
      openStream(response);
      response.end(`${first}data: {"choices": [nonsense\n\n`);
      return;
  }
}

function openStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
}

function eventsOf(answer: Parameters<typeof openAiEvents>[0], { request, nextId }: Stage): readonly string[] {
  const model = String(request.body.model ?? 'scripted-model');
  return isMessages(request) ? anthropicEvents(answer, model, nextId) : openAiEvents(answer, model, nextId);
}

function errorEvent(error: object, request: ServerRequest): string {
  if (isMessages(request)) return `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`;
  return `data: ${JSON.stringify({ error })}\n\n`;
}

function isMessages(request: ServerRequest): boolean {
  return request.path.endsWith('/messages');
}

export interface ScriptedServerOptions {
  /** Entries of `/models`; a string is an id. Default one model, `scripted-model`. */
  readonly models?: readonly (string | { readonly id: string; readonly [field: string]: unknown })[];
  /** Answers `/models` instead of the list. */
  readonly modelsStep?: ServerStep;
  /** A test context: the server is closed, and `done()` runs, when the test ends. */
  readonly context?: Teardown;
}

export interface ScriptedServer {
  /** `http://127.0.0.1:<port>/v1` */
  readonly baseUrl: string;
  /** Frozen, oldest first; model calls only. */
  readonly requests: readonly ServerRequest[];
  /** Connections that are open now. */
  readonly openSockets: number;
  push(...steps: readonly ServerStep[]): void;
  /** Throws when steps are left over or a call came that the script did not expect. */
  done(): void;
  close(): Promise<void>;
}

export async function startScriptedServer(
  steps: readonly ServerStep[],
  options: ScriptedServerOptions = {},
): Promise<ScriptedServer> {
  const queue = [...steps];
  const requests: ServerRequest[] = [];
  const sockets = new Set<Socket>();
  const unexpected: string[] = [];
  let ids = 0;
  const nextId = () => `call_${++ids}`;

  const answer = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await readRequest(message);
    const listing = request.method === 'GET' && request.path.endsWith('/models');
    if (!listing) requests.push(request);
    const step = listing ? (options.modelsStep ?? modelsStep(options)) : queue.shift();
    if (step === undefined) unexpected.push(`${request.method} ${request.path}`);
    const played = step ?? { status: 500, body: { error: { message: 'the script did not expect this call' } } };
    playServerStep(await resolveServerStep(played, request), { request, response, nextId });
  };
  const server = createServer((message, response) => {
    answer(message, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const port = await listen(server);

  const done = () => {
    const wrong = [
      ...unexpected.map((what) => `unexpected ${what}`),
      ...(queue.length > 0 ? [`${queue.length} steps left over`] : []),
    ];
    if (wrong.length > 0) throw new TalariaError(`scripted server: ${wrong.join(', ')}`, { code: 'script-unexpected' });
  };
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  options.context?.after(async () => {
    await close();
    done();
  });
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    get openSockets() {
      return sockets.size;
    },
    push: (...more) => {
      queue.push(...more);
    },
    done,
    close,
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

async function readRequest(message: IncomingMessage): Promise<ServerRequest> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of message) chunks.push(chunk as Uint8Array);
  const raw = Buffer.concat(chunks).toString('utf8');
  const body = parseJsonObject(raw);
  const headers = Object.entries(message.headers).map(([name, value]) => [name, String(value)]);
  return frozenSnapshot({
    method: message.method ?? '',
    path: (message.url ?? '').split('?')[0] ?? '',
    headers: Object.fromEntries(headers),
    body: body.ok ? body.value : {},
    raw,
  });
}

function modelsStep({ models = ['scripted-model'] }: ScriptedServerOptions): ServerStep {
  const data = models.map((entry) => (typeof entry === 'string' ? { id: entry, object: 'model' } : entry));
  return { status: 200, body: JSON.stringify({ object: 'list', data }) };
}
