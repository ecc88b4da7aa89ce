// Owns the Embedder and Reranker seams (a query and texts in, vectors or scores out; nothing may depend on either being there) and the Embedder of
// every endpoint that speaks OpenAI's `/embeddings` (OpenAI, Ollama, llama.cpp, vLLM, …); local ones are in `onnx.ts`. Knows no ranking.
// Invariants: vectors come back in the order of the texts, with length 1; a text that says nothing is not sent. Contract suites:
// test/contract/embedder.contract.ts, reranker.contract.ts.
import { throwIfAborted } from '#base/abort.ts';
import { type Clock, systemClock } from '#base/clock.ts';
import { isJsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import { ModelError } from './model-client.ts';
import { askJson } from './providers/http-request.ts';
import { type Endpoint, type ModelTimeouts, shownUrl } from './providers/provider-options.ts';

/**
 * Contract. `embed` gives one vector a text, in order, each with `dimensions` finite numbers and length 1 (or all zero for a text that
 * says nothing to it); equal texts give equal vectors, whatever else is in the call. It may be called many times, also at once; an empty
 * list gives an empty list. It throws ModelError for what an endpoint did, and the signal's reason soon after an abort.
 */
export interface Embedder {
  /** Model and version: vectors of two ids are never compared, and stored vectors of another id are made again. */
  readonly id: string;
  readonly dimensions: number;
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
}

/**
 * Contract. `score` gives one finite number from 0 to 1 a text, in order, higher for what answers the query better; a text's score does not
 * depend on what else is in the call. It may be called many times, also at once; an empty list gives an empty list. It throws ModelError for
 * what the model did, and the signal's reason soon after an abort.
 */
export interface Reranker {
  /** Model and version: scores of two ids are never compared. */
  readonly id: string;
  score(query: string, texts: readonly string[], signal: AbortSignal): Promise<readonly number[]>;
}

export interface OpenAiEmbedderOptions {
  readonly endpoint: Endpoint;
  readonly model: string;
  /** Length of its vectors. */
  readonly dimensions: number;
  /** Texts in one request; default 64. */
  readonly batch?: number;
  /** Characters of a text that are sent; default 8,000. */
  readonly longest?: number;
  readonly clock?: Clock;
  /** As of a model; for the whole answer ten minutes. */
  readonly timeouts?: ModelTimeouts;
}

const WHOLE_MS = 600_000;

const BATCH = 64;
const LONGEST = 8_000;

export function createOpenAiEmbedder(options: OpenAiEmbedderOptions): Embedder {
  const { endpoint, model, dimensions, batch = BATCH, longest = LONGEST } = options;
  return {
    id: `${endpoint.provider}/${model}`,
    dimensions,
    async embed(texts, signal) {
      throwIfAborted(signal);
      const vectors: Float32Array[] = texts.map(() => new Float32Array(dimensions));
      const said = texts.flatMap((text, at) =>
        text.trim() === '' ? [] : [{ at, text: text.slice(0, longest).toWellFormed() }],
      );
      for (let from = 0; from < said.length; from += batch) {
        const part = said.slice(from, from + batch);
        const answer = await ask(
          options,
          part.map(({ text }) => text),
          signal,
        );
        for (const [index, { at }] of part.entries()) vectors[at] = answer[index] ?? new Float32Array(dimensions);
      }
      return vectors;
    },
  };
}

async function ask(
  { endpoint, model, dimensions, clock = systemClock, timeouts }: OpenAiEmbedderOptions,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly Float32Array[]> {
  const asked = { endpoint, model, clock, timeouts: { totalMs: WHOLE_MS, ...timeouts } };
  const answer = await askJson(asked, '/embeddings', { model, input: texts, encoding_format: 'float' }, signal);
  const vectors = readVectors(answer, texts.length);
  if (vectors?.every((vector) => vector.length === dimensions)) return vectors.map(ofLengthOne);
  throw wrongAnswer(endpoint, vectors?.[0]?.length, dimensions);
}

/** Undefined when the answer is not one vector of numbers a text. */
function readVectors(text: string, count: number): readonly (readonly number[])[] | undefined {
  const parsed = parseJsonObject(text);
  if (!parsed.ok || !Array.isArray(parsed.value.data)) return undefined;
  const vectors: (readonly number[] | undefined)[] = new Array(count).fill(undefined);
  for (const [place, row] of parsed.value.data.entries()) {
    if (!isJsonObject(row)) return undefined;
    const at = typeof row.index === 'number' ? row.index : place;
    vectors[at] = numbersOf(row.embedding);
  }
  return vectors.length === count && vectors.every((vector) => vector !== undefined) ? vectors : undefined;
}

function numbersOf(value: JsonValue | undefined): readonly number[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const numbers = value.filter((one): one is number => typeof one === 'number' && Number.isFinite(one));
  return numbers.length === value.length ? numbers : undefined;
}

function ofLengthOne(vector: readonly number[]): Float32Array {
  const length = Math.hypot(...vector);
  return Float32Array.from(vector, (one) => (length === 0 ? 0 : one / length));
}

function wrongAnswer({ baseUrl }: Endpoint, found: number | undefined, wanted: number): ModelError {
  const what =
    found === undefined ? 'something that is no list of vectors' : `vectors of ${found} numbers, not ${wanted}`;
  return new ModelError(`${shownUrl(baseUrl)} answered with ${what}`, {
    code: 'model-bad-response',
    fix: found === undefined ? 'Check the base URL and the model.' : `Set embedding.dimensions to ${found}.`,
  });
}
