// Owns one connection to one server: connecting at the first use, what the server may ask of us in a call, trying again after a failure, ending.
// Knows no tool. Invariants: one connection at a time; what fails is tried again at the next use, not before 1, 2, 4 … 60 s have passed; a process
// gets no variable but those named here and its own; where nobody is there a form is declined; no model is asked for a server that may not.
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Mcp from '@modelcontextprotocol/client';
import { raceAbort } from '#base/abort.ts';
import { errorCode, errorText, rootCause, TalariaError } from '#base/errors.ts';
import { createEventLog } from '#base/fabric.ts';
import { parseJson } from '#base/json.ts';
import { lazy } from '#base/lazy.ts';
import { type RunningProcess, startProcess } from '#base/process.ts';
import { ellipsize, isYes, oneLine } from '#base/text.ts';
import { type Asker, absentAsker } from '#core/agent/approver.ts';
import type { RoomGround } from '#core/agent/room.ts';
import type { ToolContext } from '#core/agent/tool.ts';
import { type Authorize, openTokens, type ServerTokens } from './oauth.ts';
import { fillServer, type McpServer, type ServerConfig } from './servers.ts';

type Sdk = typeof Mcp;

/** What of a call its server may reach. */
type CallPlace = Pick<ToolContext, 'asker' | 'cwd'> & Partial<Pick<ToolContext, 'progress'>>;

export interface ConnectionParts {
  readonly ground: RoomGround;
  readonly server: McpServer;
  /** Folder that it starts in where it names none. */
  readonly cwd: string;
  /** It says that what it offers has changed. */
  readonly onChange: () => void;
  /** Takes a person through a login; absent: what needs one fails. */
  readonly authorize?: Authorize | undefined;
}

interface OwnTransport extends Mcp.Transport {
  finishAuth?(answer: URLSearchParams): Promise<void>;
  /** What is known of its end, or of what it says instead of an answer. */
  why?(): string;
}

const IDLE_MS = 600_000;
const LONGEST_PAUSE_S = 60;
/** Characters. */
const MOST_LINE = 32_000_000;
/** How long a process may take to end with its input, and then at SIGTERM, ms. */
const PATIENCE_MS = 1_500;
const GIVEN = ['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR'];
/** What servers answer is not checked by their own schemas: an old dialect breaks nothing. */
const anySchema = { getValidator: () => (input: unknown) => ({ valid: true, data: input, errorMessage: undefined }) };

export class Connection {
  readonly #parts: ConnectionParts;
  readonly #running = new Set<{ readonly place: CallPlace | undefined }>();
  #client = this.#fresh();
  #transport: OwnTransport | undefined;
  #tokens: ServerTokens | undefined;
  #failures = 0;
  #failed = { why: '', until: 0 };
  #stopIdle: (() => void) | undefined;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  get isOpen(): boolean {
    return this.#client.now() !== undefined;
  }

  /** Throws TalariaError `mcp-failed`, which names the server; the signal's reason when it aborts. */
  async use<T>(work: (client: Mcp.Client) => Promise<T>, signal: AbortSignal, place?: CallPlace): Promise<T> {
    signal.throwIfAborted();
    const run = { place };
    try {
      const client = await raceAbort(this.#client(), signal);
      this.#stopIdle?.();
      this.#running.add(run);
      const done = await this.#withLogin(() => work(client));
      this.#failures = 0;
      return done;
    } catch (error) {
      signal.throwIfAborted();
      throw new TalariaError(`MCP server ${this.#parts.server.name}: ${this.reason(error)}`, { code: 'mcp-failed' });
    } finally {
      const end = () => void this.close();
      if (this.#running.delete(run) && this.#running.size === 0)
        this.#stopIdle = this.#parts.ground.clock.after(IDLE_MS, end);
    }
  }

  call(call: Mcp.CallToolRequest['params'], place: CallPlace, signal: AbortSignal): Promise<Mcp.CallToolResult> {
    const timeout = this.#parts.server.config.timeout * 1000;
    const onprogress: Mcp.ProgressCallback = ({ progress: at, total, message = '' }) =>
      place.progress?.(`${message} ${at}${total === undefined ? '' : `/${total}`}\n`.trimStart());
    const how = { signal, timeout, resetTimeoutOnProgress: true, onprogress };
    return this.use((client) => client.callTool(call, how), signal, place);
  }

  /** It can be used again, at once. */
  async close(): Promise<void> {
    this.#stopIdle?.();
    const transport = this.#transport;
    this.#transport = undefined;
    this.#client = this.#fresh();
    this.#tokens?.close();
    await transport?.close();
    this.#failed.until = 0;
  }

  /** In words, for a person and a model. */
  reason(error: unknown): string {
    const { status, data, name } = Object(error);
    const needsLogin = (status ?? data?.status) === 401 || name === 'UnauthorizedError';
    if (needsLogin) return `it wants a login: talaria mcp login ${this.#parts.server.name}`;
    if (errorCode(error) === 'REQUEST_TIMEOUT')
      return ['it did not answer in time', this.#transport?.why?.()].filter(Boolean).join('; ');
    return ellipsize(this.#parts.ground.redact(oneLine(errorText(rootCause(error)))), 300);
  }

  #fresh() {
    return lazy(() => this.#connectOnce());
  }

  async #connectOnce(): Promise<Mcp.Client> {
    const wait = this.#failed.until - this.#parts.ground.clock.monotonic();
    if (wait > 0) throw new Error(`${this.#failed.why}; it is tried again in ${Math.ceil(wait / 1000)} s`);
    try {
      return await this.#connect();
    } catch (error) {
      this.#noteFailure(this.reason(error));
      throw error;
    }
  }

  #noteFailure(why: string): void {
    const pause = Math.min(LONGEST_PAUSE_S, 2 ** this.#failures) * 1000;
    this.#failures += 1;
    this.#failed = { why, until: this.#parts.ground.clock.monotonic() + pause };
  }

  async #connect(): Promise<Mcp.Client> {
    const { ground, server, authorize } = this.#parts;
    const config = fillServer(server, ground.variables);
    // biome-ignore lint/correctness/noUndeclaredDependencies: the bundle has it, and nobody installs it
    const sdk = await import('@modelcontextprotocol/client');
    this.#tokens?.close();
    if (config.url) this.#tokens = await openTokens(ground, server, config, authorize);
    if (config.url && config.auth === 'oauth' && !this.#tokens) throw Object.assign(new Error(), { status: 401 });
    try {
      return await this.#withLogin(() => this.#attempt(sdk, config, 'auto'));
    } catch (error) {
      // One of before 2026 may end at a question that it does not know. Without a transport it was we who closed it.
      if (!this.#transport || errorCode(error) !== sdk.SdkErrorCode.EraNegotiationFailed) throw error;
      return this.#attempt(sdk, config, 'legacy');
    }
  }

  /** Once more when a person has signed in meanwhile. */
  async #withLogin<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const answer = await this.#tokens?.answer();
      if (!answer) throw error;
      await this.#transport?.finishAuth?.(answer);
      return work();
    }
  }

  async #attempt(sdk: Sdk, config: ServerConfig, mode: 'auto' | 'legacy'): Promise<Mcp.Client> {
    const half = config.connect_timeout * 500;
    const changed = { autoRefresh: false, onChanged: this.#parts.onChange };
    const client = new sdk.Client(
      { name: 'talaria', version: '1' },
      {
        capabilities: { elicitation: { form: {} }, roots: {}, ...(config.sampling ? { sampling: {} } : {}) },
        versionNegotiation: { mode, probe: { timeoutMs: half } },
        jsonSchemaValidator: anySchema as never,
        listChanged: { tools: changed, prompts: changed },
      },
    );
    answerServer(client, this.#parts, () => [...this.#running].findLast(({ place }) => place)?.place);
    const transport = config.url
      ? addressTransport(sdk, config, this.#tokens)
      : childTransport(sdk, this.#parts, config);
    this.#transport = transport;
    client.onclose = () => {
      if (this.#transport !== transport || !this.isOpen) return;
      this.#client = this.#fresh();
      if (this.#running.size > 0) this.#noteFailure(transport.why?.() || 'the connection was lost');
    };
    try {
      await client.connect(transport, { timeout: half });
      return client;
    } catch (error) {
      await transport.close();
      const why = transport.why?.() || (errorCode(error) === 'EPIPE' ? 'it ended before it answered' : '');
      throw why ? Object.assign(new Error(why), { code: errorCode(error) }) : error;
    }
  }
}

function addressTransport(sdk: Sdk, { url = '', headers, type }: ServerConfig, tokens?: ServerTokens): OwnTransport {
  const here = new URL(url);
  // What is meant for this server goes to nobody else, nor to where people sign in.
  const fetchHere = (where: string | URL, init: RequestInit = {}) => {
    const own = new URL(where).origin === here.origin ? headers : {};
    return fetch(where, { ...init, headers: { ...own, ...Object.fromEntries(new Headers(init.headers)) } });
  };
  const Kind = type === 'sse' ? sdk.SSEClientTransport : sdk.StreamableHTTPClientTransport;
  return new Kind(here, { fetch: fetchHere, ...(tokens ? { authProvider: tokens.provider } : {}) }) as OwnTransport;
}

function childTransport(sdk: Sdk, { ground, server, cwd: here }: ConnectionParts, config: ServerConfig): OwnTransport {
  const { command = '', args, env: own, cwd = here } = config;
  const log = createEventLog(join(ground.places.home, 'logs', `mcp-${server.name}.log`), ground.clock);
  const env = { ...Object.fromEntries(GIVEN.map((name) => [name, ground.variables[name]])), ...own };
  const stop = new AbortController();
  let child: RunningProcess | undefined;
  let [ended, said, unread] = ['', '', ''];
  const read = (chunk: string) => {
    if (stop.signal.aborted) return;
    unread += chunk;
    if (unread.length > MOST_LINE) {
      ended = `it sent a line of over ${MOST_LINE / 1e6} MB`;
      stop.abort();
    }
    if (!chunk.includes('\n')) return;
    const lines = unread.split('\n');
    unread = lines.pop() ?? '';
    for (const line of lines) take(line);
  };
  const take = (line: string) => {
    const message = parseJson(line);
    if (message.ok) transport.onmessage?.(message.value as never);
    else said = oneLine(ground.redact(line), 200) || said;
  };
  const hear = (chunk: string) => {
    const text = ellipsize(ground.redact(chunk.trimEnd()), 4_000);
    log.write('stderr', { text });
    said = oneLine(text.split('\n').at(-1) ?? '', 200);
  };
  const transport: OwnTransport & Record<'stderr' | 'pid', null> = {
    stderr: null, // by this and the next the library knows a pipe
    pid: null,
    start: async () => {
      const onOutput = (chunk: string, stream: 'out' | 'err') => (stream === 'out' ? read : hear)(chunk);
      const limits = { graceMs: PATIENCE_MS, maxBytes: Number.POSITIVE_INFINITY };
      const request = { argv: [command, ...args], cwd, env, converses: true, limits, onOutput } as const;
      child = startProcess(request, stop.signal);
      if (child.pid === undefined) throw new Error((await child.result).error);
      void child.result.then(({ ended: how, exitCode, signal }) => {
        if (how === 'exit') ended = `it ended ${signal ? `by ${signal}` : `with code ${exitCode}`}`;
        transport.onclose?.();
      });
    },
    send: (message) =>
      new Promise((resolve, reject) => {
        child?.input?.write(sdk.serializeMessage(message), (error) => (error ? reject(error) : resolve()));
      }),
    close: async () => {
      stop.abort();
      await child?.result;
    },
    why: () => [ended, said && `it said: ${said}`].filter(Boolean).join('; '),
  };
  return transport;
}

function answerServer(
  client: Mcp.Client,
  { ground, server, cwd }: ConnectionParts,
  place: () => CallPlace | undefined,
): void {
  client.setRequestHandler('roots/list', () => {
    const root = place()?.cwd ?? cwd;
    return { roots: [{ uri: pathToFileURL(root).href, name: basename(root) }] };
  });
  client.setRequestHandler('elicitation/create', ({ params }, { mcpReq: { signal } }) => {
    const { asker = absentAsker } = place() ?? {};
    return fillForm(params as Mcp.ElicitRequestFormParams, server.name, (question) => asker.ask(question, signal));
  });
  if (!server.config.sampling) return;
  client.setRequestHandler('sampling/createMessage', async ({ params }, { mcpReq }) => {
    const said = params.messages.map(({ role, content }) => `${role}: ${ellipsize(JSON.stringify(content), 50_000)}`);
    const mind = await ground.open();
    const asked = {
      text: said.join('\n\n'),
      system: params.systemPrompt ?? 'Answer the last message.',
      maxOutputTokens: params.maxTokens,
      purpose: 'consult',
      tier: 'T1',
      tools: [],
      maxSteps: 1,
      origin: 'foreign',
    } as const;
    let text = '';
    for await (const event of mind.runTurn(asked, mcpReq.signal)) if (event.type === 'text-delta') text += event.text;
    return { role: 'assistant', model: 'talaria', content: { type: 'text', text }, stopReason: 'endTurn' };
  });
}

/** Of every kind of field what matters here. */
interface Field {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly oneOf?: readonly { readonly const: string; readonly title?: string }[];
}

type Ask = (question: Parameters<Asker['ask']>[0]) => ReturnType<Asker['ask']>;

async function fillForm(
  { message, requestedSchema: { properties, required = [] } }: Mcp.ElicitRequestFormParams,
  server: string,
  ask: Ask,
): Promise<Mcp.ElicitResult> {
  const content: NonNullable<Mcp.ElicitResult['content']> = {};
  for (const [name, one] of Object.entries(properties)) {
    const field: Field = one as never;
    const about = oneLine([field.title ?? name, field.description].filter(Boolean).join(': '), 300);
    const isFree = !required.includes(name);
    const question = `${server} asks: ${oneLine(message, 300)} (${about}${isFree ? '; may be left empty' : ''})`;
    const said = await ask({ question, choices: [...valuesOf(field).keys()] });
    if (!said.ok) return { action: 'decline' };
    const value = answerOf(field, said.value.trim());
    if (value !== undefined) content[name] = value;
    else if (said.value.trim() !== '' || !isFree) return { action: 'cancel' };
  }
  return { action: 'accept', content };
}

/** By what is shown. */
function valuesOf({ type, enum: plain = type === 'boolean' ? ['yes', 'no'] : [], oneOf = [] }: Field) {
  const titled = oneOf.map(({ const: value, title = value }) => [title, value] as const);
  return new Map([...plain.map((value) => [value, value] as const), ...titled]);
}

function answerOf(field: Field, said: string): string | number | boolean | string[] | undefined {
  if (said === '') return undefined;
  if (field.type === 'boolean') return isYes(said);
  if (field.type === 'array') return said.split(',').map((one) => one.trim());
  if (field.type === 'number' || field.type === 'integer') return Number.isNaN(Number(said)) ? undefined : Number(said);
  const values = valuesOf(field);
  return values.size === 0 ? said : values.get(said);
}
