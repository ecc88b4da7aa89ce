// Owns the ModelClient over a GGUF file on this machine, in text mode. Knows the engine only through its loader.
// Invariant: one generation at a time; every answer ends (the model's own end, a token limit, a noticed loop or an abort); the engine
// keeps its memory between calls, so a session's prefix is read once.
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { raceAbort, throwIfAborted } from '#base/abort.ts';
import { errorText } from '#base/errors.ts';
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
import { userText } from '../pictures.ts';

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
  if (message.role === 'user') return userText(message.parts, 'this model');
  return message.parts
    .map((part) => (part.type === 'text' || part.type === 'tool-result' ? part.text : ''))
    .filter((text) => text !== '')
    .join('\n\n');
}

// One generation of the local engine: reading the prompt in slices, then token by token until the model, the limit, a loop
// or an abort ends it. Knows no messages. Invariant: always ends; between two slices or tokens an abort is noticed.

export interface Generation {
  readonly tokens: readonly LlamaToken[];
  /** Most tokens to generate. */
  readonly limit: number;
  readonly sampling: LlamaSampling;
}

interface LlamaSampling {
  /** 0 is greedy. */
  readonly temperature?: number;
  readonly seed?: number;
}

interface GenerationEnd {
  readonly generated: number;
  /** Prompt tokens that were still in the engine's memory. */
  readonly reused: number;
  readonly ended: 'model' | 'limit' | 'repetition';
}

/** Small enough that even a slow core reads a slice well within a second. */
const SLICE = 64;

/** Yields pieces of text. */
async function* generateText(
  engine: LoadedLlama,
  { tokens, limit, sampling }: Generation,
  signal: AbortSignal,
): AsyncGenerator<string, GenerationEnd> {
  const { sequence } = engine;
  await sequence.adaptStateToTokens(tokens.slice(0, -1), false);
  const reused = sequence.nextTokenIndex;
  await readPrompt(engine, tokens, signal);
  const text = createDetokenizer(engine, tokens);
  const out: LlamaToken[] = [];
  // The engine's own iteration is over when the model says so.
  let ended: GenerationEnd['ended'] = 'model';
  for await (const token of sequence.evaluate(tokens.slice(sequence.nextTokenIndex), evaluateOptions(sampling, out))) {
    throwIfAborted(signal);
    out.push(token);
    const piece = text.push(token);
    if (piece !== '') yield piece;
    if (repeatsItself(out)) ended = 'repetition';
    else if (out.length >= limit) ended = 'limit';
    if (ended !== 'model') break;
  }
  const rest = text.end();
  if (rest !== '') yield rest;
  return { generated: out.length, reused, ended };
}

/** All but the last token, which the generation starts from. */
async function readPrompt(
  { sequence }: LoadedLlama,
  tokens: readonly LlamaToken[],
  signal: AbortSignal,
): Promise<void> {
  while (sequence.nextTokenIndex < tokens.length - 1) {
    throwIfAborted(signal);
    const start = sequence.nextTokenIndex;
    await sequence.evaluateWithoutGeneratingNewTokens(tokens.slice(start, Math.min(start + SLICE, tokens.length - 1)));
  }
  throwIfAborted(signal);
}

function evaluateOptions(sampling: LlamaSampling, out: readonly LlamaToken[]): object {
  return {
    temperature: sampling.temperature ?? 0.3,
    topP: 0.9,
    ...(sampling.seed === undefined ? {} : { seed: sampling.seed }),
    repeatPenalty: { punishTokens: () => out.slice(-64), penalty: 1.1 },
  };
}

interface Detokenizer {
  push(token: LlamaToken): string;
  end(): string;
}

/** Holds tokens back while they end inside a character. */
function createDetokenizer({ model }: LoadedLlama, prompt: readonly LlamaToken[]): Detokenizer {
  let last: LlamaToken[] = prompt.slice(-4);
  let pending: LlamaToken[] = [];
  const flush = (): string => {
    const text = model.detokenize(pending, false, last);
    last = [...last, ...pending].slice(-4);
    pending = [];
    return text;
  };
  return {
    push: (token) => {
      pending.push(token);
      const incomplete = pending.length < 4 && model.detokenize(pending, false, last).endsWith('\uFFFD');
      return incomplete ? '' : flush();
    },
    end: () => (pending.length === 0 ? '' : flush()),
  };
}

// Loading the optional local engine (node-llama-cpp) from a folder, and the few of its shapes that we use.
// Knows no conversation. Invariant: never a static import; a machine without the engine pays nothing and gets a clear error.

type LlamaToken = number;

export interface LlamaSequence {
  readonly nextTokenIndex: number;
  adaptStateToTokens(tokens: LlamaToken[], allowShift?: boolean): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: LlamaToken[]): Promise<void>;
  evaluate(tokens: LlamaToken[], options: object): AsyncGenerator<LlamaToken, void, void>;
}

export interface LlamaModel {
  readonly tokenizer: unknown;
  readonly trainContextSize: number;
  detokenize(tokens: readonly LlamaToken[], specialTokens?: boolean, lastTokens?: readonly LlamaToken[]): string;
  createContext(options: object): Promise<{ readonly contextSize: number; getSequence(): LlamaSequence }>;
}

type LlamaChatItem =
  | { readonly type: 'system' | 'user'; readonly text: string }
  | { readonly type: 'model'; readonly response: readonly string[] };

export interface LlamaChatWrapper {
  generateContextState(input: { readonly chatHistory: readonly LlamaChatItem[] }): {
    readonly contextText: { tokenize(tokenizer: unknown): LlamaToken[] };
  };
}

interface LlamaModule {
  getLlama(options: object): Promise<{ loadModel(options: object): Promise<LlamaModel>; dispose(): Promise<void> }>;
  resolveChatWrapper(model: LlamaModel, options?: object): LlamaChatWrapper;
  readonly LlamaLogLevel: { readonly disabled: string };
}

interface LoadedLlama {
  readonly model: LlamaModel;
  readonly sequence: LlamaSequence;
  readonly wrapper: LlamaChatWrapper;
  /** Tokens that prompt and answer share, as the engine really made it. */
  readonly window: number;
  dispose(): Promise<void>;
}

export interface LlamaFiles {
  /** Folder with `node_modules/node-llama-cpp`. */
  readonly engineFolder: string;
  /** A GGUF file. */
  readonly modelPath: string;
  /** Wanted tokens of window; never more than the model was trained for. */
  readonly contextWindow: number;
}

async function loadLlama({ engineFolder, modelPath, contextWindow }: LlamaFiles): Promise<LoadedLlama> {
  const entry = join(engineFolder, 'node_modules', 'node-llama-cpp', 'dist', 'index.js');
  if (!existsSync(entry)) {
    throw new ModelError('the local engine is not installed', {
      code: 'model-unreachable',
      fix: 'Install it with: talaria setup --local',
    });
  }
  if (!existsSync(modelPath)) {
    throw new ModelError(`there is no model file ${modelPath}`, {
      code: 'model-not-found',
      fix: 'Fetch one with: talaria setup --local, or correct its path in the configuration.',
    });
  }
  try {
    return await open((await import(pathToFileURL(entry).href)) as LlamaModule, modelPath, contextWindow);
  } catch (error) {
    throw new ModelError(`the local engine could not load ${basename(modelPath)}: ${errorText(error)}`, {
      code: 'model-unreachable',
      cause: error,
      fix: 'Check that the file is a whole GGUF model and that there is memory for it.',
    });
  }
}

async function open(engine: LlamaModule, modelPath: string, wanted: number): Promise<LoadedLlama> {
  const llama = await engine.getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    maxThreads: 1,
    progressLogs: false,
    logLevel: engine.LlamaLogLevel.disabled,
  });
  try {
    const model = await llama.loadModel({ modelPath });
    const contextSize = model.trainContextSize > 0 ? Math.min(wanted, model.trainContextSize) : wanted;
    const context = await model.createContext({ contextSize });
    const wrapper = engine.resolveChatWrapper(model, { warningLogs: false });
    return {
      model,
      sequence: context.getSequence(),
      wrapper,
      window: context.contextSize,
      dispose: () => llama.dispose(),
    };
  } catch (error) {
    await llama.dispose();
    throw error;
  }
}

// Noticing that a small model has fallen into a loop. Pure.

const LONGEST_CYCLE = 48;
const TIMES = 5;
/** Short cycles must go on for longer: rulers, tables and zeros are legal. */
const LEAST = 60;

/** Do the last tokens repeat one cycle over and over? Looks at the end only, so that it costs the same at any length. */
export function repeatsItself(tokens: readonly number[]): boolean {
  for (let cycle = 1; cycle <= LONGEST_CYCLE; cycle += 1) {
    const needed = Math.max(LEAST, cycle * TIMES);
    if (tokens.length >= needed && hasPeriod(tokens, cycle, needed)) return true;
  }
  return false;
}

function hasPeriod(tokens: readonly number[], cycle: number, length: number): boolean {
  const end = tokens.length;
  for (let at = end - 1; at >= end - length + cycle; at -= 1) if (tokens[at] !== tokens[at - cycle]) return false;
  return true;
}
