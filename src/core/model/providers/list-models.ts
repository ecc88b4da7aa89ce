// Owns asking an endpoint which models it has. Knows the places where the servers say how large a window is.
// Invariant: bounded by a time-out; every failure is a ModelError, also when something else than a listing answers.
import { throwIfAborted } from '#base/abort.ts';
import { type Clock, systemClock } from '#base/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { ModelError } from '../model-client.ts';
import { askJson } from './http-request.ts';
import { saidBy } from './model-failure.ts';
import { ENDPOINT_BOUNDS, type Endpoint, overBound, shownUrl } from './provider-options.ts';

export interface ListModelsOptions {
  /** For the whole listing, ms; default 10 000. */
  readonly timeoutMs?: number;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

export interface ListedModel {
  readonly id: string;
  /** Tokens, when the endpoint tells. */
  readonly contextWindow?: number;
}

/** In the endpoint's own order. Throws ModelError. */
export async function listModels(
  endpoint: Omit<Endpoint, 'provider'> & { readonly provider?: string },
  options: ListModelsOptions = {},
): Promise<readonly ListedModel[]> {
  const named: Endpoint = { ...endpoint, provider: endpoint.provider ?? 'the endpoint' };
  const signal = options.signal ?? new AbortController().signal;
  throwIfAborted(signal);
  const ms = options.timeoutMs ?? 10_000;
  const timeouts = { connectMs: ms, idleMs: ms, totalMs: ms };
  const asked = { endpoint: named, clock: options.clock ?? systemClock, timeouts };
  return readListing(named, await askJson(asked, '/models', undefined, signal));
}

function readListing(endpoint: Endpoint, text: string): readonly ListedModel[] {
  const parsed = parseJson(text);
  const rows = parsed.ok ? rowsOf(parsed.value) : undefined;
  if (!rows) {
    throw new ModelError(
      `${shownUrl(endpoint.baseUrl)} lists no models: ${saidBy(endpoint, text) || 'an empty answer'}`,
      {
        code: 'model-bad-response',
        fix: 'Check the base URL: it must be the API of the provider (often ending in /v1), not its web page.',
      },
    );
  }
  const { models } = ENDPOINT_BOUNDS;
  if (rows.length > models) throw overBound(endpoint, `a list of over ${models} models`);
  return rows.flatMap((row) => listed(row));
}

/** OpenAI, Anthropic and most others use `data`, Ollama's own API and Google `models`; some send the bare list. */
function rowsOf(value: JsonValue): readonly JsonValue[] | undefined {
  if (Array.isArray(value)) return value;
  if (!isJsonObject(value)) return undefined;
  for (const rows of [value.data, value.models]) if (Array.isArray(rows)) return rows;
  return undefined;
}

function listed(row: JsonValue): readonly ListedModel[] {
  if (typeof row === 'string') return [{ id: row }];
  if (!isJsonObject(row)) return [];
  const id = row.id ?? row.name ?? row.model;
  if (typeof id !== 'string' || id === '') return [];
  const contextWindow = windowOf(row);
  return [{ id, ...(contextWindow === undefined ? {} : { contextWindow }) }];
}

/** What is loaded counts before what the model could take. */
function windowOf(row: JsonObject): number | undefined {
  const meta = isJsonObject(row.meta) ? row.meta : {};
  const candidates = [
    row.loaded_context_length,
    meta.n_ctx,
    row.max_model_len,
    row.context_length,
    row.context_window,
    row.max_context_length,
    row.max_input_tokens,
    meta.n_ctx_train,
  ];
  return candidates.find((value): value is number => typeof value === 'number' && Number.isInteger(value) && value > 0);
}
