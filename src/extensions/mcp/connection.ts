// Owns one connection to one server: connecting at the first use, what the server may ask of us in a call, trying again after a failure, ending.
// Knows no tool. Invariants: one connection at a time; what fails is tried again at the next use, not before 1, 2, 4 … 60 s have passed; a process
// gets no variable but those named here and its own; where nobody is there a form is declined; no model is asked for a server that may not.
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Mcp from '@modelcontextprotocol/client';
import { raceAbort } from '#base/abort.ts';
import { errorCode, errorText, rootCause, TalariaError } from '#base/errors.ts';
import { createEventLog } from '#base/fabric.ts';
import { type LineProcess, startLines } from '#base/process/line-process.ts';
import { ellipsize, isYes, oneLine } from '#base/text.ts';
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
const GIVEN = ['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR'];
/** What servers answer is not checked by their own schemas: an old dialect breaks nothing. */
const anySchema = { getValidator: () => (input: unknown) => ({ valid: true, data: input, errorMessage: undefined }) };

export class Connection {
  readonly #parts: ConnectionParts;
  readonly #running = new Set<{ readonly place: CallPlace | undefined }>();
  #client: Promise<Mcp.Client> | undefined;
  #transport: OwnTransport | undefined;
  #tokens: ServerTokens | undefined;
  #failures = 0;
  #failed = { why: '', until: 0 };
  #stopIdle: (() => void) | undefined;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  get isOpen(): boolean {
    return this.#client !== undefined;
  }

  /** Throws TalariaError `mcp-failed`, and whatever `work` throws; the signal's reason when it aborts. */
  async use<T>(work: (client: Mcp.Client) => Promise<T>, signal: AbortSignal, place?: CallPlace): Promise<T> {
    const connecting = this.#client ?? this.#connectOnce();
    this.#client = connecting;
    const forget = () => {
      if (this.#client === connecting) this.#client = undefined;
    };
    connecting.catch(forget);
    const client = await raceAbort(connecting, signal);
    this.#stopIdle?.();
    const run = { place };
    this.#running.add(run);
    try {
      const done = await this.#withLogin(() => work(client));
      this.#failures = 0;
      return done;
    } finally {
      this.#running.delete(run);
      const end = () => void this.close();
      if (this.#running.size === 0) this.#stopIdle = this.#parts.ground.clock.after(IDLE_MS, end);
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
    this.#client = this.#transport = undefined;
    this.#tokens?.close();
    await transport?.close();
    this.#failed.until = 0;
  }

  /** In words, for a person and a model. */
  reason(error: unknown): string {
    const { status, data, name } = Object(error);
    const needsLogin = (status ?? data?.status) === 401 || name === 'UnauthorizedError';
    if (needsLogin) return `it wants a login: talaria mcp login ${this.#parts.server.name}`;
    if (errorCode(error) === 'REQUEST_TIMEOUT') return 'it did not answer in time';
    return ellipsize(this.#parts.ground.redact(oneLine(errorText(rootCause(error)))), 300);
  }

  async #connectOnce(): Promise<Mcp.Client> {
    const { server, ground } = this.#parts;
    const wait = this.#failed.until - ground.clock.monotonic();
    try {
      if (wait > 0) throw new Error(`${this.#failed.why}; it is tried again in ${Math.ceil(wait / 1000)} s`);
      return await this.#connect();
    } catch (error) {
      const why = this.reason(error);
      if (wait <= 0) this.#noteFailure(why);
      throw new TalariaError(`MCP server ${server.name}: ${why}`, { code: 'mcp-failed' });
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
      if (this.#transport !== transport || !this.#client) return;
      this.#client = undefined;
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
  let child: LineProcess | undefined;
  let [ended, said] = ['', ''];
  const transport: OwnTransport & Record<'stderr' | 'pid', null> = {
    ...{ stderr: null, pid: null }, // by which the library knows a pipe
    start: async () => {
      child = await startLines({
        ...{ argv: [command, ...args], cwd, env },
        onLine: (line) => {
          try {
            transport.onmessage?.(sdk.deserializeMessage(line));
          } catch (error) {
            transport.onerror?.(error as Error);
          }
        },
        onError: (text) => {
          const clean = ellipsize(ground.redact(text.trimEnd()), 4_000);
          log.write('stderr', { text: clean });
          said = oneLine(clean.split('\n').at(-1) ?? '', 200);
        },
        onEnd: (why) => {
          ended = why;
          transport.onclose?.();
        },
      });
    },
    send: async (message) => child?.send(JSON.stringify(message)),
    close: async () => child?.end(),
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
  client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) =>
    'requestedSchema' in params
      ? fillForm(params, server.name, (asked) => place()?.asker.ask(asked, mcpReq.signal))
      : { action: 'decline' },
  );
  if (!server.config.sampling) return;
  client.setRequestHandler('sampling/createMessage', async ({ params }, { mcpReq }) => {
    const said = params.messages
      .map(({ role, content }) => `${role}: ${ellipsize(JSON.stringify(content), 50_000)}`)
      .join('\n\n');
    const mind = await ground.open();
    const asked = {
      ...({ text: said, purpose: 'consult', tier: 'T1', tools: [], maxSteps: 1, origin: 'foreign' } as const),
      ...{ system: params.systemPrompt ?? 'Answer the last message.', maxOutputTokens: params.maxTokens },
    };
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

type Answer = string | number | boolean | string[];

async function fillForm(
  { message, requestedSchema: { properties, required = [] } }: Mcp.ElicitRequestFormParams,
  server: string,
  ask: (asked: Parameters<ToolContext['asker']['ask']>[0]) => ReturnType<ToolContext['asker']['ask']> | undefined,
): Promise<Mcp.ElicitResult> {
  const content: Record<string, Answer> = {};
  for (const [name, one] of Object.entries(properties)) {
    const field: Field = one as never;
    const about = oneLine([field.title ?? name, field.description].filter(Boolean).join(': '), 300);
    const isFree = !required.includes(name);
    const question = `${server} asks: ${oneLine(message, 300)} (${about}${isFree ? '; may be left empty' : ''})`;
    const said = await ask({ question, choices: [...valuesOf(field).keys()] });
    if (!said?.ok) return { action: 'decline' };
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

function answerOf(field: Field, said: string): Answer | undefined {
  if (said === '') return undefined;
  if (field.type === 'boolean') return isYes(said);
  if (field.type === 'array') return said.split(',').map((one) => one.trim());
  if (field.type === 'number' || field.type === 'integer') return Number.isNaN(Number(said)) ? undefined : Number(said);
  const values = valuesOf(field);
  return values.size === 0 ? said : values.get(said);
}
