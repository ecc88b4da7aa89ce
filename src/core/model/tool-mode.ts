// Owns putting the right tool strategy around a client. Knows both strategies, no provider.
// Invariant: a client that was asked with tools and refused them as such is asked again, at once and from then on, in text.
import { newId } from '#base/ids.ts';
import type { JsonObject } from '#base/json.ts';
import { type ModelClient, ModelError, type ModelEvent, type ModelRequest } from './model-client.ts';
import type { ParsedText } from './tool-calls/call-of-value.ts';

/** `client` with text tools or call recovery, as its traits say. */
export function withToolStrategy(client: ModelClient, options: CallRecoveryOptions = {}): ModelClient {
  if (client.traits.toolCalling === 'text') return textClient(client);
  const structured = withCallRecovery(client, options);
  const text = textClient(client);
  let active = structured;
  return {
    id: client.id,
    tier: client.tier,
    get traits() {
      return active.traits;
    },
    async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
      if (active === text) return yield* text.stream(request, signal);
      try {
        yield* structured.stream(request, signal);
      } catch (error) {
        if (!refusesTools(error, request)) throw error;
        active = text;
        yield {
          type: 'retry',
          model: client.id,
          reason: `${client.id} takes no tools parameter; they go into the prompt`,
          attempt: 1,
          delayMs: 0,
        };
        yield* text.stream(request, signal);
      }
    },
  };
}

/** The text strategy, loaded with its parser at the first call. */
function textClient(client: ModelClient): ModelClient {
  return {
    id: client.id,
    tier: client.tier,
    traits: { ...client.traits, toolCalling: 'text' },
    async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
      const { withTextTools } = await import('./text-tools.ts');
      yield* withTextTools(client).stream(request, signal);
    },
  };
}

function refusesTools(error: unknown, request: ModelRequest): boolean {
  return (
    error instanceof ModelError &&
    (error.code === 'model-bad-request' || error.code === 'model-not-found') &&
    request.tools.length > 0 &&
    saysToolsRefused(error.message)
  );
}

// What structured models sometimes do wrong: calls written into the content, and `<think>` blocks. Knows no provider.
// Invariant: text streams untouched until a container mark of a known format appears; only a container, never bare JSON or prose,
// can become a call, and only when tools were offered and no structured call was made.

interface CallRecoveryOptions {
  /** Reads calls out of the content; default true. Think blocks are split off in any case. */
  readonly calls?: boolean;
}

/** What only a model's own call format begins with. */
const CONTAINERS = [
  '<tool_call>',
  '<tool_calls>',
  '<function_call>',
  '<function=',
  '<functioncall>',
  '<|tool_call',
  '<|python_tag|>',
  '<｜tool',
  '[TOOL_CALLS]',
  '<|tool_calls',
  '<minimax:tool_call>',
] as const;

export function withCallRecovery(client: ModelClient, options: CallRecoveryOptions = {}): ModelClient {
  return {
    id: client.id,
    tier: client.tier,
    traits: client.traits,
    stream: (request, signal) => streamRecovering(client, { request, calls: options.calls ?? true }, signal),
  };
}

interface Work {
  readonly request: ModelRequest;
  readonly calls: boolean;
}

async function* streamRecovering(
  client: ModelClient,
  { request, calls }: Work,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const watching = calls && request.tools.length > 0;
  const fresh = () => ({ think: new ThinkSplitter(), held: createHolder(watching), structured: false });
  let state = fresh();
  for await (const event of client.stream(request, signal)) {
    switch (event.type) {
      case 'text-delta':
        yield* shown(state.think.push(event.text), state.held);
        break;
      case 'tool-call':
        state.structured = true;
        yield* closeText(state.think, state.held);
        yield event;
        break;
      case 'retry':
      case 'fallback':
        state = fresh();
        yield event;
        break;
      case 'reasoning-delta':
        yield event;
        break;
      case 'finish':
        yield* finishEvents(state, request, event);
        break;
    }
  }
}

function* closeText(think: ThinkSplitter, held: Holder): Generator<ModelEvent> {
  yield* shown(think.end(), held);
  const rest = held.take();
  if (rest !== '') yield { type: 'text-delta', text: rest };
}

interface State {
  readonly think: ThinkSplitter;
  readonly held: Holder;
  readonly structured: boolean;
}

async function* finishEvents(
  state: State,
  request: ModelRequest,
  finish: Extract<ModelEvent, { type: 'finish' }>,
): AsyncGenerator<ModelEvent> {
  yield* shown(state.think.end(), state.held);
  const rest = state.held.take();
  const found = state.structured || rest === '' ? undefined : await parse(rest, request);
  if (!found || found.calls.length === 0) {
    if (rest !== '') yield { type: 'text-delta', text: rest };
    yield finish;
    return;
  }
  if (found.reasoning !== '') yield { type: 'reasoning-delta', text: found.reasoning };
  if (found.content !== '') yield { type: 'text-delta', text: found.content };
  const calls = [
    ...found.calls.map(({ name, arguments: args }) => ({ name, arguments: args as JsonObject })),
    ...found.malformed.map(({ name, raw }) => ({ name: name ?? 'unknown', arguments: {}, malformed: raw })),
  ];
  for (const call of calls) yield { type: 'tool-call', callId: newId('call'), ...call };
  yield finish.reason === 'length' ? finish : { ...finish, reason: 'tool-calls' };
}

/** The parser is loaded when something looks like a call, since most answers of such models need none. */
async function parse(text: string, request: ModelRequest): Promise<ParsedText> {
  const { parseTextCalls } = await import('./tool-calls/text-call-parser.ts');
  return parseTextCalls(text, request.tools);
}

function* shown(events: readonly ModelEvent[], held: Holder): Generator<ModelEvent> {
  for (const event of events) {
    if (event.type !== 'text-delta') yield event;
    else {
      const text = held.push(event.text);
      if (text !== '') yield { type: 'text-delta', text };
    }
  }
}

interface Holder {
  /** The text that may be shown now. */
  push(text: string): string;
  /** All that is still held; nothing is held afterwards. */
  take(): string;
}

function createHolder(watching: boolean): Holder {
  let held = '';
  let caught = false;
  return {
    push: (text) => {
      if (!watching) return text;
      held += text;
      if (caught) return '';
      const at = firstMark(held);
      caught = at !== -1;
      const free = caught ? at : held.length - possibleStart(held, CONTAINERS);
      const out = held.slice(0, free);
      held = held.slice(free);
      return out;
    },
    take: () => {
      const rest = held;
      held = '';
      caught = false;
      return rest;
    },
  };
}

function firstMark(text: string): number {
  const places = CONTAINERS.map((mark) => text.indexOf(mark)).filter((at) => at !== -1);
  return places.length === 0 ? -1 : Math.min(...places);
}

/** How many characters at the end may be the beginning of a mark. */
function possibleStart(text: string, marks: readonly string[]): number {
  const longest = Math.max(...marks.map((mark) => mark.length));
  for (let size = Math.min(longest - 1, text.length); size > 0; size -= 1) {
    const end = text.slice(-size);
    if (marks.some((mark) => mark.startsWith(end))) return size;
  }
  return 0;
}

// Taking a leading `<think>` block out of an answer's text, for servers that leave it there. Any chunking gives the same split; only a block at the
// very start counts; an unclosed one is reasoning to the end; the blank lines between the block and the answer belong to neither.

const OPENERS = ['<think>', '<thinking>'] as const;

export class ThinkSplitter {
  #state: 'start' | 'thinking' | 'gap' | 'text' = 'start';
  #closer = '';
  #held = '';

  push(text: string): readonly ModelEvent[] {
    this.#held += text;
    return this.#read(false);
  }

  end(): readonly ModelEvent[] {
    return this.#read(true);
  }

  #read(final: boolean): readonly ModelEvent[] {
    if (this.#state === 'start') this.#open(final);
    const thought = this.#state === 'thinking' ? this.#think(final) : '';
    if (this.#state === 'gap') this.#held = this.#held.trimStart();
    if (this.#state === 'gap' && this.#held !== '') this.#state = 'text';
    const text = this.#state === 'text' ? this.#held : '';
    if (this.#state === 'text') this.#held = '';
    const events = [{ type: 'reasoning-delta', text: thought } as const, { type: 'text-delta', text } as const];
    return events.filter((event) => event.text !== '');
  }

  #open(final: boolean): void {
    const start = this.#held.trimStart();
    const opener = OPENERS.find((tag) => start.startsWith(tag));
    if (opener === undefined && !final && OPENERS.some((tag) => tag.startsWith(start))) return;
    this.#state = opener === undefined ? 'text' : 'thinking';
    if (opener !== undefined) this.#held = start.slice(opener.length);
    this.#closer = opener?.replace('<', '</') ?? '';
  }

  #think(final: boolean): string {
    const at = this.#held.indexOf(this.#closer);
    const end = at === -1 ? this.#held.length - (final ? 0 : possibleStart(this.#held, [this.#closer])) : at;
    const thought = this.#held.slice(0, end);
    this.#held = this.#held.slice(at === -1 ? end : at + this.#closer.length);
    if (at !== -1) this.#state = 'gap';
    return thought;
  }
}

const TOOLS_REFUSED =
  /(?:does not|doesn't|do not|not) support (?:tools?|function)|tools? (?:is|are|use is) not (?:supported|enabled)|tool.{0,20}(?:unsupported|not supported)|no endpoints found that support tool|enable-auto-tool-choice/i;

/** @param said the endpoint's own words */
export function saysToolsRefused(said: string): boolean {
  return TOOLS_REFUSED.test(said);
}
