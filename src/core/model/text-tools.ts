// Owns the text strategy as a decorator: tools go into the prompt, calls come out of the answer's text; how a conversation then reads (calls as
// tagged text, results as user messages), and the words that teach how to call. Seed 001 chapter 3. Knows no provider and no format; the parser does,
// and reads back what is rendered here. Invariants: the inner client gets no tools and no tool parts, and the outer stream looks exactly like that
// of a model with structured calls; roles alternate; equal messages and tools give equal bytes.
import { newId } from '#base/ids.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { ellipsize, oneLine } from '#base/text.ts';
import type { AssistantMessage, Message, ToolMessage, UserMessage } from './message.ts';
import type { ModelClient, ModelEvent, ModelRequest, ToolSchema } from './model-client.ts';
import type { TextCallEvent } from './tool-calls/call-of-value.ts';
import { createTextCallParser } from './tool-calls/text-call-parser.ts';

export interface TextToolsOptions {
  /** Leaves the meaning of arguments out of the prompt; default for windows under 16 K. */
  readonly brief?: boolean;
}

const BRIEF_WINDOW = 16_384;

export function withTextTools(client: ModelClient, options: TextToolsOptions = {}): ModelClient {
  const brief = options.brief ?? client.traits.contextWindow < BRIEF_WINDOW;
  return {
    id: client.id,
    tier: client.tier,
    traits: { ...client.traits, toolCalling: 'text' },
    stream: (request, signal) => streamText(client, { request, brief }, signal),
  };
}

/** The request as the inner client gets it. */
function toTextRequest(request: ModelRequest, brief: boolean): ModelRequest {
  return {
    ...request,
    system: withToolPrompt(request.system, request.tools, { brief }),
    messages: toTextHistory(request.messages),
    tools: [],
  };
}

interface Work {
  readonly request: ModelRequest;
  readonly brief: boolean;
}

async function* streamText(
  client: ModelClient,
  { request, brief }: Work,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  let parser = createTextCallParser(request.tools);
  let called = false;
  const translate = (events: readonly TextCallEvent[]): ModelEvent[] => {
    const out = events.flatMap((event) => toModelEvents(event, client.id));
    for (const event of out) called = event.type === 'retry' ? false : called || event.type === 'tool-call';
    return out;
  };
  for await (const event of client.stream(toTextRequest(request, brief), signal)) {
    switch (event.type) {
      case 'text-delta':
        yield* translate(parser.push(event.text));
        break;
      case 'retry':
      case 'fallback':
        parser = createTextCallParser(request.tools);
        called = false;
        yield event;
        break;
      case 'finish':
        yield* translate(parser.end());
        // A cut answer stays one: its last call may have been cut with it.
        yield { ...event, reason: called && event.reason !== 'length' ? 'tool-calls' : event.reason };
        break;
      case 'reasoning-delta':
      case 'tool-call':
        yield event;
        break;
    }
  }
}

function toModelEvents(event: TextCallEvent, model: string): readonly ModelEvent[] {
  switch (event.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return [event];
    case 'tool-call': {
      const { name, arguments: args } = event.call;
      return [{ type: 'tool-call', callId: newId('call'), name, arguments: args as JsonObject }];
    }
    case 'malformed-call': {
      const { name, raw } = event.malformed;
      return [{ type: 'tool-call', callId: newId('call'), name: name ?? nameIn(raw), arguments: {}, malformed: raw }];
    }
    case 'reclassify':
      // The consumer drops what it showed: it was reasoning whose opening tag stood in the model's own template.
      return [
        { type: 'retry', model, reason: 'what came so far was reasoning', attempt: 1, delayMs: 0 },
        { type: 'reasoning-delta', text: event.reasoning },
      ];
  }
}

/** A truncated attempt has no parsed name, but the model should hear of the tool that it meant. */
function nameIn(raw: string): string {
  return /["']?name["']?\s*[:=]\s*["']([^"']{1,80})["']/.exec(raw)?.[1] ?? 'unknown';
}

/** One call as text; the text parser reads it as the same call. */
export function renderToolCall(name: string, args: JsonObject): string {
  // Tags inside arguments would end the block early; JSON has another spelling for `<`.
  const json = JSON.stringify({ name, arguments: args }).replaceAll('<', '\\u003c');
  return `<tool_call>${json}</tool_call>`;
}

/** The messages with no tool part left in them, neighbours of one role joined. */
export function toTextHistory(messages: readonly Message[]): readonly Message[] {
  const joined: (UserMessage | AssistantMessage)[] = [];
  for (const message of messages) {
    const plain = toPlain(message);
    if (!plain) continue;
    const last = joined.at(-1);
    if (last?.role === 'user' && plain.role === 'user') joined[joined.length - 1] = joinUser(last, plain);
    else if (last?.role === 'assistant' && plain.role === 'assistant')
      joined[joined.length - 1] = joinAssistant(last, plain);
    else joined.push(plain);
  }
  return joined;
}

function toPlain(message: Message): UserMessage | AssistantMessage | undefined {
  switch (message.role) {
    case 'user':
      return message;
    case 'tool':
      return resultMessage(message);
    case 'assistant':
      return assistantText(message);
  }
}

function resultMessage({ parts: [result] }: ToolMessage): UserMessage {
  const text = `[Tool Result: ${result.name}]\n${result.text === '' ? '(no output)' : result.text}`;
  return { role: 'user', parts: [{ type: 'text', text, origin: result.origin }, ...(result.images ?? [])] };
}

/** Text and calls as one text part; reasoning stays a part of its own, for the provider to send or to leave out. */
function assistantText(message: AssistantMessage): AssistantMessage | undefined {
  const texts: string[] = [];
  for (const part of message.parts) {
    if (part.type === 'text') texts.push(part.text.trim());
    if (part.type === 'tool-call') texts.push(part.malformed ?? renderToolCall(part.name, part.arguments));
  }
  const text = texts.filter((piece) => piece !== '').join('\n');
  if (text === '') return undefined;
  const reasoning = message.parts.filter((part) => part.type === 'reasoning');
  return { ...message, parts: [...reasoning, { type: 'text', text, origin: 'model' }] };
}

function joinUser(first: UserMessage, second: UserMessage): UserMessage {
  return { role: 'user', parts: [...first.parts, ...second.parts] };
}

function joinAssistant(first: AssistantMessage, second: AssistantMessage): AssistantMessage {
  const text = [first, second].map(textOf).join('\n\n');
  const reasoning = [...first.parts, ...second.parts].filter((part) => part.type === 'reasoning');
  return { ...second, parts: [...reasoning, { type: 'text', text, origin: 'model' }] };
}

function textOf(message: AssistantMessage): string {
  return message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

// The words that teach a model without tool calling how to call tools. Knows no parser and no provider.
// Invariant: the same tools give the same bytes; the last thing said is exactly how to call. Seed 001 chapter 3.

export interface TextPromptOptions {
  /** Leaves out what the arguments mean: for small windows. */
  readonly brief?: boolean;
}

/** `system` with the tools appended; `system` alone when there are none. */
export function withToolPrompt(system: string, tools: readonly ToolSchema[], options: TextPromptOptions = {}): string {
  const [first] = tools;
  if (!first) return system;
  const list = tools.map((tool) => describeTool(tool, options.brief ?? false)).join('\n');
  const example = renderToolCall(first.name, exampleArguments(first.parameters));
  const section = [
    '# Tools',
    'You can use these tools. Arguments with ? may be left out.',
    list,
    '',
    'To use a tool, write one block exactly like this, with its arguments as JSON, then stop and wait:',
    example,
    `The next message will start with [Tool Result: ${first.name}] and hold what the tool printed.`,
    'Never write a tool result yourself. When no tool is needed, answer in plain text.',
  ].join('\n');
  return system === '' ? section : `${system}\n\n${section}`;
}

function describeTool(tool: ToolSchema, brief: boolean): string {
  const { properties, required } = readParameters(tool.parameters);
  const shown = properties.map(([name, schema]) => `${name}${required.has(name) ? '' : '?'}: ${typeName(schema, 0)}`);
  const line = `- ${tool.name}(${shown.join(', ')}): ${oneLine(tool.description)}`;
  if (brief) return ellipsize(line, 240);
  const notes = properties.flatMap(([name, schema]) => {
    const note = isJsonObject(schema) && typeof schema.description === 'string' ? oneLine(schema.description) : '';
    return note === '' ? [] : [`    ${name}: ${note}`];
  });
  return [line, ...notes].join('\n');
}

interface Parameters {
  readonly properties: readonly (readonly [name: string, schema: JsonValue | undefined])[];
  readonly required: ReadonlySet<string>;
}

function readParameters(parameters: JsonObject): Parameters {
  const properties = isJsonObject(parameters.properties) ? Object.entries(parameters.properties) : [];
  const required = Array.isArray(parameters.required) ? parameters.required.map(String) : [];
  return { properties, required: new Set(required) };
}

function typeName(schema: JsonValue | undefined, depth: number): string {
  if (!isJsonObject(schema)) return 'any';
  if (Array.isArray(schema.enum)) return schema.enum.map((value: JsonValue) => JSON.stringify(value)).join('|');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return choices.map((choice: JsonValue) => typeName(choice, depth)).join('|');
  if (schema.type === 'array') return `${typeName(schema.items, depth)}[]`;
  if (schema.type === 'object' && depth < 2) return objectName(schema, depth);
  return Array.isArray(schema.type) ? schema.type.join('|') : String(schema.type ?? 'any');
}

function objectName(schema: JsonObject, depth: number): string {
  const { properties, required } = readParameters(schema);
  if (properties.length === 0) return 'object';
  const inner = properties.map(
    ([name, value]) => `${name}${required.has(name) ? '' : '?'}: ${typeName(value, depth + 1)}`,
  );
  return `{${inner.join(', ')}}`;
}

/** The required arguments, or the first one, with stand-in values of their types. */
function exampleArguments(parameters: JsonObject): JsonObject {
  const { properties, required } = readParameters(parameters);
  const chosen = properties.filter(([name]) => required.has(name));
  return Object.fromEntries(
    (chosen.length > 0 ? chosen : properties.slice(0, 1)).map(([name, schema]) => [name, exampleValue(name, schema)]),
  );
}

function exampleValue(name: string, schema: JsonValue | undefined): JsonValue {
  if (!isJsonObject(schema)) return '...';
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0] as JsonValue;
  switch (schema.type) {
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return name === 'command' ? 'ls' : '...';
  }
}
