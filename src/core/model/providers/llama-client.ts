// Owns the ModelClient over a GGUF file on this machine, in text mode. Knows the engine only through its loader.
// Invariant: one generation at a time; every answer ends (the model's own end, a token limit, a noticed loop or an abort); the engine
// keeps its memory between calls, so a session's prefix is read once.
import { basename } from 'node:path';
import { raceAbort, throwIfAborted } from '#base/abort.ts';
import { type GenerationEnd, generateText, type LlamaSampling } from '../llama/generate-tokens.ts';
import { type LlamaChatItem, type LoadedLlama, loadLlama } from '../llama/llama-engine.ts';
import type { Message } from '../message.ts';
import {
  type ModelClient,
  ModelError,
  type ModelEvent,
  type ModelRequest,
  NO_USAGE,
  type Tier,
} from '../model-client.ts';
import { type ModelOverrides, modelTraits } from '../model-table.ts';

export interface LlamaClientOptions {
  /** Folder with `node_modules/node-llama-cpp`, e.g. `engines/` of the home. */
  readonly engineFolder: string;
  /** A GGUF file. The client's id is `llama/<its name>`. */
  readonly modelPath: string;
  readonly tier: Tier;
  /** `contextWindow` defaults to 8 192, whatever the model could take: memory grows with it. */
  readonly overrides?: ModelOverrides;
  /** Most tokens of one answer; default 768. */
  readonly maxOutputTokens?: number;
  readonly sampling?: LlamaSampling;
}

export interface LlamaClient extends ModelClient {
  /** Frees the model's memory and its threads; a later call loads it again. */
  close(): Promise<void>;
}

const WINDOW = 8192;
const ANSWER = 768;
/** An answer needs at least this much room, or the conversation is too long. */
const LEAST_ROOM = 64;

export function createLlamaClient(options: LlamaClientOptions): LlamaClient {
  const id = `llama/${basename(options.modelPath).replace(/\.gguf$/i, '')}`;
  const traits = modelTraits(id, {
    contextWindow: WINDOW,
    ...options.overrides,
    toolCalling: 'text',
    cacheMarks: false,
    local: true,
  });
  const files = {
    engineFolder: options.engineFolder,
    modelPath: options.modelPath,
    contextWindow: traits.contextWindow,
  };
  let loading: Promise<LoadedLlama> | undefined;
  let turn: Promise<void> = Promise.resolve();

  const load = (): Promise<LoadedLlama> => {
    loading ??= loadLlama(files).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };

  /** Waits until the generations before this one are over; returns what lets the next one start. */
  const takeTurn = async (signal: AbortSignal): Promise<() => void> => {
    const before = turn;
    let release: () => void = () => undefined;
    turn = new Promise((resolve) => {
      release = resolve;
    });
    try {
      await raceAbort(before, signal);
    } catch (error) {
      before.then(release, release);
      throw error;
    }
    return release;
  };

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    throwIfAborted(signal);
    const engine = await raceAbort(load(), signal);
    const generation = planGeneration(engine, request, options);
    const release = await takeTurn(signal);
    const end = yield* streamText(generateText(engine, generation, signal), { signal, release });
    yield finishEvent(end, { id, tier: options.tier, promptTokens: generation.tokens.length });
  }

  const close = async (): Promise<void> => {
    const engine = await loading?.catch(() => undefined);
    loading = undefined;
    await turn;
    await engine?.dispose();
  };
  return { id, tier: options.tier, traits, stream, close };
}

function planGeneration(engine: LoadedLlama, request: ModelRequest, options: LlamaClientOptions) {
  const { contextText } = engine.wrapper.generateContextState({ chatHistory: toChatHistory(request) });
  const tokens = contextText.tokenize(engine.model.tokenizer);
  const room = engine.window - tokens.length - 1;
  if (room < LEAST_ROOM) {
    throw new ModelError(`the conversation (${tokens.length} tokens) is longer than the window of ${engine.window}`, {
      code: 'model-context-full',
      fix: 'Compress the conversation, start a new session, or choose a model with a larger window.',
    });
  }
  const wanted = request.maxOutputTokens ?? options.maxOutputTokens ?? ANSWER;
  return { tokens, limit: Math.max(1, Math.min(wanted, room)), sampling: options.sampling ?? {} };
}

interface Turn {
  readonly signal: AbortSignal;
  readonly release: () => void;
}

/** Passes the text on. An abort is thrown at once; the turn is given up when the engine has really stopped. */
async function* streamText(
  source: AsyncGenerator<string, GenerationEnd>,
  { signal, release }: Turn,
): AsyncGenerator<ModelEvent, GenerationEnd> {
  try {
    for (;;) {
      const step = await raceAbort(source.next(), signal);
      if (step.done) return step.value;
      yield { type: 'text-delta', text: step.value };
    }
  } finally {
    source.return({ generated: 0, reused: 0, ended: 'limit' }).then(release, release);
  }
}

interface Answered {
  readonly id: string;
  readonly tier: Tier;
  readonly promptTokens: number;
}

function finishEvent(end: GenerationEnd, { id, tier, promptTokens }: Answered): ModelEvent {
  const usage = { ...NO_USAGE, inputTokens: promptTokens, outputTokens: end.generated, cachedTokens: end.reused };
  return { type: 'finish', reason: end.ended === 'model' ? 'stop' : 'length', usage, model: id, tier, cost: 0 };
}

function toChatHistory({ system, messages }: ModelRequest): readonly LlamaChatItem[] {
  const items: LlamaChatItem[] = system === '' ? [] : [{ type: 'system', text: system }];
  for (const message of messages) {
    const text = textOf(message);
    if (text !== '')
      items.push(message.role === 'assistant' ? { type: 'model', response: [text] } : { type: 'user', text });
  }
  return [...items, { type: 'model', response: [] }];
}

function textOf(message: Message): string {
  return message.parts
    .map((part) => (part.type === 'text' || part.type === 'tool-result' ? part.text : ''))
    .filter((text) => text !== '')
    .join('\n\n');
}
