// Owns fetching a model's files from a hub, plainly: the list of files, then each one, checked by size and hash. Knows no engine.
// Invariant: a file that is not what the list says is an error; the network is touched by nobody else in this room.
import { createHash } from 'node:crypto';
import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { deadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { parseJson } from '#base/json.ts';
import { neededFiles } from '#core/model/onnx/model-files.ts';
import { isWeightsOf } from './model-source.ts';
import type { WantedModel } from './wanted-model.ts';

export interface ModelHub {
  /** Without a slash at its end. */
  readonly endpoint: string;
  /** For repositories that ask for one. */
  readonly token?: string;
  readonly clock: Clock;
}

const IDLE_MS = 60_000;

const listing = z.array(
  z.looseObject({
    path: z.string(),
    size: z.number().int().nonnegative().optional(),
    lfs: z.looseObject({ oid: z.string() }).optional(),
  }),
);

type Listed = z.infer<typeof listing>[number];

export function modelHub(variables: Readonly<Record<string, string | undefined>>, clock: Clock): ModelHub {
  const endpoint = (variables.HF_ENDPOINT?.trim() || 'https://huggingface.co').replace(/\/+$/, '');
  const token = variables.HF_TOKEN?.trim();
  return { endpoint, clock, ...(token ? { token } : {}) };
}

/** Fetches what the hub has of the needed files into `into`. Throws TalariaError `model-hub-failed`. */
export async function fetchModel(hub: ModelHub, { wanted, into }: Fetching, signal: AbortSignal): Promise<void> {
  const needed = new Set(neededFiles(wanted.file));
  const files = (await listFiles(hub, wanted.source, signal)).filter(
    ({ path }) => needed.has(path) || isWeightsOf(wanted.file, path),
  );
  for (const file of files) await fetchFile(hub, { source: wanted.source, file, into }, signal);
}

export interface Fetching {
  readonly wanted: WantedModel;
  readonly into: string;
}

async function listFiles(hub: ModelHub, source: string, signal: AbortSignal): Promise<readonly Listed[]> {
  const url = `${hub.endpoint}/api/models/${source}/tree/main?recursive=true`;
  return exchange(
    hub,
    { url, what: `the files of ${source}` },
    async (response) => {
      const parsed = parseJson(await response.text());
      const files = listing.safeParse(parsed.ok ? parsed.value : undefined);
      if (!files.success) throw new TypeError('the answer is no list of files');
      return files.data;
    },
    signal,
  );
}

interface OneFile {
  readonly source: string;
  readonly file: Listed;
  readonly into: string;
}

async function fetchFile(hub: ModelHub, { source, file, into }: OneFile, signal: AbortSignal): Promise<void> {
  const url = `${hub.endpoint}/${source}/resolve/main/${file.path}`;
  const place = join(into, file.path);
  mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
  await exchange(
    hub,
    { url, what: file.path },
    async (response, touch) => {
      const hash = createHash('sha256');
      let size = 0;
      const watch = async function* (body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
        for await (const chunk of body) {
          touch();
          hash.update(chunk);
          size += chunk.length;
          yield chunk;
        }
      };
      await pipeline(watch(response.body ?? []), createWriteStream(place, { mode: 0o600 }));
      if (file.size !== undefined && size !== file.size) throw new TypeError(`${size} bytes came, not ${file.size}`);
      const digest = hash.digest('hex');
      const known = file.lfs?.oid.replace(/^sha256:/, '');
      if (known !== undefined && digest !== known) throw new TypeError('its SHA-256 is not the listed one');
    },
    signal,
  );
}

type Reading<T> = (response: Response, touch: () => void) => Promise<T>;

async function exchange<T>(
  hub: ModelHub,
  asked: { readonly url: string; readonly what: string },
  read: Reading<T>,
  signal: AbortSignal,
): Promise<T> {
  const idle = deadline(hub.clock, signal, IDLE_MS, () => new Error(`nothing came for ${IDLE_MS / 1_000} s`));
  try {
    const headers = { 'user-agent': 'talaria', ...(hub.token ? { authorization: `Bearer ${hub.token}` } : {}) };
    const response = await fetch(asked.url, { headers, signal: idle.signal });
    if (!response.ok) throw new TypeError(`status ${response.status}`);
    return await read(response, idle.touch);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw hubFailed(hub, asked.what, error);
  } finally {
    idle.clear();
  }
}

function hubFailed(hub: ModelHub, what: string, error: unknown): TalariaError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return new TalariaError(`${hub.endpoint} did not give ${what}: ${errorText(cause)}`, {
    code: 'model-hub-failed',
    retryable: true,
    cause: error,
    fix: 'Name another hub with HF_ENDPOINT, or fetch the files elsewhere and give their folder with --from.',
  });
}
