// Owns one generation of the local engine: reading the prompt in slices, then token by token until the model, the limit, a loop
// or an abort ends it. Knows no messages. Invariant: always ends; between two slices or tokens an abort is noticed.
import { throwIfAborted } from '#base/abort.ts';
import type { LlamaToken, LoadedLlama } from './llama-engine.ts';
import { repeatsItself } from './repetition.ts';

export interface Generation {
  readonly tokens: readonly LlamaToken[];
  /** Most tokens to generate. */
  readonly limit: number;
  readonly sampling: LlamaSampling;
}

export interface LlamaSampling {
  /** 0 is greedy. */
  readonly temperature?: number;
  readonly seed?: number;
}

export interface GenerationEnd {
  readonly generated: number;
  /** Prompt tokens that were still in the engine's memory. */
  readonly reused: number;
  readonly ended: 'model' | 'limit' | 'repetition';
}

/** Small enough that even a slow core reads a slice well within a second. */
const SLICE = 64;

/** Yields pieces of text. */
export async function* generateText(
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
