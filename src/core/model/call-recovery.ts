// Owns what structured models sometimes do wrong: calls written into the content, and `<think>` blocks. Knows no provider.
// Invariant: text streams untouched until a container mark of a known format appears; only a container, never bare JSON or prose,
// can become a call, and only when tools were offered and no structured call was made.
import { newId } from '#base/ids.ts';
import type { JsonObject } from '#base/json.ts';
import type { ModelClient, ModelEvent, ModelRequest } from './model-client.ts';
import { createThinkSplitter, type ThinkSplitter } from './text/think-splitter.ts';
import type { ParsedText } from './tool-calls/text-call.ts';

export interface CallRecoveryOptions {
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
const LONGEST = Math.max(...CONTAINERS.map((mark) => mark.length));

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
  const fresh = () => ({ think: createThinkSplitter(), held: createHolder(watching), structured: false });
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
  for (const { name, arguments: args } of found.calls) {
    yield { type: 'tool-call', callId: newId('call'), name, arguments: args as JsonObject };
  }
  for (const { name, raw } of found.malformed) {
    yield { type: 'tool-call', callId: newId('call'), name: name ?? 'unknown', arguments: {}, malformed: raw };
  }
  yield finish.reason === 'length' ? finish : { ...finish, reason: 'tool-calls' };
}

/** The parser is loaded when something looks like a call, since most answers of such models need none. */
async function parse(text: string, request: ModelRequest): Promise<ParsedText> {
  const { parseTextCalls } = await import('./tool-calls/parse-text-tool-calls.ts');
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
      const free = caught ? at : held.length - possibleStart(held);
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
function possibleStart(text: string): number {
  for (let size = Math.min(LONGEST - 1, text.length); size > 0; size -= 1) {
    const end = text.slice(-size);
    if (CONTAINERS.some((mark) => mark.startsWith(end))) return size;
  }
  return 0;
}
