// Owns the translation of the provider library's stream parts into our model events. Knows no transport.
// Invariant: exactly one `finish` comes out, as the last event; call ids are unique; unreadable arguments become `malformed`; of text, calls
// and arguments no more comes out than the bounds of an endpoint allow.
import { newId } from '#base/ids.ts';
import { isJsonObject, type JsonObject, parseJson, parseJsonObject } from '#base/json.ts';
import { type FinishReason, type ModelError, type ModelEvent, NO_USAGE, type Usage } from '../model-client.ts';
import { ENDPOINT_BOUNDS, isTooDeep } from './endpoint-bounds.ts';
import type { SdkFinish, SdkStreamPart } from './sdk-types.ts';

export interface ReadFinish {
  readonly reason: FinishReason;
  readonly usage: Usage;
  /** The endpoint said how many tokens it used. */
  readonly counted: boolean;
  /** What the endpoint itself says the call cost, US dollars. */
  readonly billed?: number;
}

export interface EventReader {
  /** The events of one part; throws what an error part carries. */
  read(part: SdkStreamPart): readonly ModelEvent[];
  /** Set when the library said that the stream is complete. */
  readonly finish: ReadFinish | undefined;
}

export type ReasoningPiece = Extract<SdkStreamPart, { type: 'reasoning-start' | 'reasoning-delta' | 'reasoning-end' }>;

export interface EventReaderOptions {
  /** Replay data that comes with this piece of reasoning, or undefined; data closes the reasoning part. */
  readonly replay: (part: ReasoningPiece) => JsonObject | undefined;
  readonly failure: (error: unknown) => ModelError;
  /** The error for a bound that was passed, in words. */
  readonly over: (what: string) => ModelError;
}

export function createEventReader(options: EventReaderOptions): EventReader {
  const seen = new Set<string>();
  const watch = watchParts(options);
  let finish: ReadFinish | undefined;
  const read = (part: SdkStreamPart): readonly ModelEvent[] => {
    watch(part);
    switch (part.type) {
      case 'text-delta':
        return part.delta === '' ? [] : [{ type: 'text-delta', text: part.delta }];
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return reasoningEvents(part.type === 'reasoning-delta' ? part.delta : '', options.replay(part));
      case 'tool-call': {
        const callId = uniqueId(part.toolCallId, seen);
        return [...signatureEvents(part.providerMetadata, callId), callEvent(callId, part.toolName, part.input)];
      }
      case 'error':
        throw options.failure(part.error);
      case 'finish':
        finish = readFinish(part, seen.size > 0);
        return [];
      default:
        return [];
    }
  };
  return {
    read,
    get finish() {
      return finish;
    },
  };
}

/** Throws when what has come of text, or of the arguments of a call, or of calls is too much to go on. */
function watchParts({ over }: EventReaderOptions): (part: SdkStreamPart) => void {
  const { textChars, argumentChars, calls, depth } = ENDPOINT_BOUNDS;
  const sizes = new Map<string, number>();
  let text = 0;
  const addArguments = (id: string, length: number) => {
    sizes.set(id, (sizes.get(id) ?? 0) + length);
    if (sizes.size > calls) throw over(`over ${calls} calls of tools in one answer`);
    if ((sizes.get(id) ?? 0) > argumentChars)
      throw over(`arguments of over ${argumentChars} characters for one call of a tool`);
  };
  const addText = (length: number) => {
    text += length;
    if (text > textChars) throw over(`a text of over ${textChars} characters`);
  };
  return (part) => {
    switch (part.type) {
      case 'text-delta':
      case 'reasoning-delta':
        return addText(part.delta.length);
      case 'tool-input-start':
        return addArguments(part.id, part.toolName.length);
      case 'tool-input-delta':
        return addArguments(part.id, part.delta.length);
      case 'tool-call':
        // Its pieces were counted as they came.
        addArguments(part.toolCallId, Math.max(0, part.input.length - (sizes.get(part.toolCallId) ?? 0)));
        if (isTooDeep(part.input)) throw over(`arguments of over ${depth} lists or objects inside each other`);
    }
  };
}

function reasoningEvents(text: string, replay: JsonObject | undefined): readonly ModelEvent[] {
  if (text === '' && replay === undefined) return [];
  return [{ type: 'reasoning-delta', text, ...(replay === undefined ? {} : { replay }) }];
}

/** Gemini's signature of the thought behind a call is kept as an empty reasoning part that names the call. */
function signatureEvents(metadata: unknown, callId: string): readonly ModelEvent[] {
  if (!isJsonObject(metadata)) return [];
  for (const value of Object.values(metadata)) {
    const signature = isJsonObject(value) ? value.thoughtSignature : undefined;
    if (typeof signature === 'string')
      return [{ type: 'reasoning-delta', text: '', replay: { callId, thoughtSignature: signature } }];
  }
  return [];
}

function uniqueId(wanted: string, seen: Set<string>): string {
  const id = wanted === '' || seen.has(wanted) ? newId('call') : wanted;
  seen.add(id);
  return id;
}

function callEvent(callId: string, name: string, input: string): ModelEvent {
  const parsed = readArguments(input);
  if (parsed) return { type: 'tool-call', callId, name, arguments: parsed };
  return { type: 'tool-call', callId, name, arguments: {}, malformed: input };
}

/** The arguments as an object: no text means none, and JSON inside a JSON string is taken out (some servers encode twice). */
function readArguments(input: string): JsonObject | undefined {
  if (input.trim() === '') return {};
  const parsed = parseJson(input);
  if (!parsed.ok) return undefined;
  if (isJsonObject(parsed.value)) return parsed.value;
  if (parsed.value === null) return {};
  const inner = typeof parsed.value === 'string' ? parseJsonObject(parsed.value) : undefined;
  return inner?.ok ? inner.value : undefined;
}

function readFinish(part: SdkFinish, called: boolean): ReadFinish {
  const raw = part.usage.raw;
  const billed = raw?.cost;
  return {
    reason: finishReason(part.finishReason.unified, called),
    usage: readUsage(part.usage),
    counted: part.usage.inputTokens.total !== undefined && raw !== undefined,
    ...(typeof billed === 'number' ? { billed } : {}),
  };
}

function finishReason(unified: string, called: boolean): FinishReason {
  switch (unified) {
    case 'stop':
    case 'tool-calls':
      return called ? 'tool-calls' : 'stop';
    case 'length':
      return 'length';
    case 'content-filter':
      return 'refusal';
    default:
      return called ? 'tool-calls' : 'other';
  }
}

function readUsage(usage: SdkFinish['usage']): Usage {
  const { inputTokens, outputTokens, raw } = usage;
  // DeepSeek and Moonshot say it beside the place where OpenAI does.
  const elsewhere = [raw?.prompt_cache_hit_tokens, raw?.cached_tokens].find((value) => typeof value === 'number');
  return {
    ...NO_USAGE,
    inputTokens: inputTokens.total ?? 0,
    outputTokens: outputTokens.total ?? 0,
    cachedTokens: inputTokens.cacheRead || (typeof elsewhere === 'number' ? elsewhere : 0),
    cacheWriteTokens: inputTokens.cacheWrite ?? 0,
    reasoningTokens: outputTokens.reasoning ?? 0,
  };
}
