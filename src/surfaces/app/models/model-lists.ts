// Owns the cached answers of `/models` and of the probe of local ports, in the home's cache folder. Knows no client.
// Invariant: a broken or missing cache is an empty cache; asking never throws for what an endpoint does, it refuses with the reason.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import type { Clock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { ModelError, type ModelErrorCode } from '#core/model/model-client.ts';
import { type ListedModel, listModels } from '#core/model/providers/list-models.ts';
import { withFix } from '../with-fix.ts';
import type { FoundProvider } from './found-provider.ts';
import { LOCAL_ENDPOINTS } from './provider-table.ts';

export interface ModelLists {
  /** What the cache has, without any network. */
  cached(baseUrl: string): readonly ListedModel[];
  /** Is what the cache has older than a day? */
  isStale(baseUrl: string): boolean;
  /** Asks the endpoint and keeps the answer. */
  fetch(provider: FoundProvider, signal: AbortSignal): Promise<Result<readonly ListedModel[], ListRefusal>>;
  /** Local servers that answered the last probe; undefined when none was ever made. */
  cachedLocal(): readonly FoundProvider[] | undefined;
  /** Asks every known local port at once; a port that does not answer in time is not there. */
  probeLocal(signal: AbortSignal): Promise<readonly FoundProvider[]>;
}

export type ListRefusal = ModelErrorCode | 'model-failed';

const LIST_TIMEOUT_MS = 5_000;
const STALE_MS = 24 * 60 * 60 * 1000;
const PROBE_TIMEOUT_MS = 250;

export function createModelLists(cacheFolder: string, clock: Clock): ModelLists {
  const listFile = join(cacheFolder, 'models.json');
  const localFile = join(cacheFolder, 'local-endpoints.json');
  const lists: ModelLists = {
    cached: (baseUrl) => cachedModels(readCache(listFile)[baseUrl]),
    isStale: (baseUrl) => {
      const row = readCache(listFile)[baseUrl];
      const at = isJsonObject(row) && typeof row.at === 'number' ? row.at : 0;
      return Math.abs(clock.now() - at) > STALE_MS;
    },
    async fetch(provider, signal) {
      const answer = await askModels(provider, { clock, timeoutMs: LIST_TIMEOUT_MS, signal });
      if (answer.ok) {
        const models = answer.value.map((model) => ({ ...model }));
        keepCache(listFile, { ...readCache(listFile), [provider.baseUrl]: { at: clock.now(), models } });
      }
      return answer;
    },
    cachedLocal() {
      const found = readCache(localFile).found;
      if (!Array.isArray(found)) return undefined;
      return LOCAL_ENDPOINTS.filter((row) => found.includes(row.name)).map((row) => localProvider(row));
    },
    async probeLocal(signal) {
      const found = await Promise.all(
        LOCAL_ENDPOINTS.map(async (row) => {
          const provider = localProvider(row);
          const answer = await askModels(provider, { clock, timeoutMs: PROBE_TIMEOUT_MS, signal });
          return answer.ok && answer.value.length > 0 ? { provider, models: answer.value } : undefined;
        }),
      );
      const present = found.filter((entry) => entry !== undefined);
      const names = present.map((entry) => entry.provider.name);
      if (names.length > 0 || lists.cachedLocal()?.length) {
        keepCache(localFile, { at: clock.now(), found: names });
        const known = Object.fromEntries(
          present.map((entry) => [entry.provider.baseUrl, { at: clock.now(), models: entry.models }]),
        );
        keepCache(listFile, { ...readCache(listFile), ...known });
      }
      return present.map((entry) => entry.provider);
    },
  };
  return lists;
}

export function localProvider(row: (typeof LOCAL_ENDPOINTS)[number]): FoundProvider {
  return {
    name: row.name,
    kind: 'openai',
    baseUrl: row.baseUrl,
    aggregator: true,
    local: true,
    reason: `${row.title} answers at ${row.baseUrl}`,
    settings: {},
  };
}

async function askModels(
  { name: provider, kind, baseUrl, apiKey, proxies }: FoundProvider,
  options: { readonly clock: Clock; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Result<readonly ListedModel[], ListRefusal>> {
  const wire = kind === 'anthropic' ? kind : 'openai';
  try {
    const ways = { ...(apiKey ? { apiKey } : {}), ...(proxies ? { proxies } : {}) };
    return ok(await listModels({ provider, kind: wire, baseUrl, ...ways }, options));
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    if (!(error instanceof ModelError)) throw error;
    return refuse(error.code as ModelErrorCode, withFix(error.message, error.fix));
  }
}

/** Rows of our own cache. */
function cachedModels(value: JsonValue | undefined): readonly ListedModel[] {
  if (!isJsonObject(value) || !Array.isArray(value.models)) return [];
  return value.models.filter(isJsonObject).flatMap(({ id, contextWindow }) => {
    if (typeof id !== 'string') return [];
    return [{ id, ...(typeof contextWindow === 'number' ? { contextWindow } : {}) }];
  });
}

/** What cannot be kept is asked for again: a home that can only be read is looked at all the same. */
function keepCache(path: string, value: object): void {
  try {
    atomicWrite(path, JSON.stringify(value));
  } catch (error) {
    if (!(error instanceof TalariaError)) throw error;
  }
}

function readCache(path: string): JsonObject {
  try {
    const parsed = parseJsonObject(readFileSync(path, 'utf8'));
    return parsed.ok ? parsed.value : {};
  } catch {
    // No cache yet, or one that cannot be read: the endpoint will be asked.
    return {};
  }
}
