// Owns what is asked of an Ollama server beside chat: what it has, what it holds in memory, and downloads. Knows no configuration and no terminal.
// Invariants: every failure is a ModelError, or the signal's reason; a download is whole when the server said `success` and never otherwise; the
// server may be silent for a bounded time, and its lines are bounded.
import { z } from 'zod';
import { deadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { parseJson } from '#base/json.ts';
import { ModelError } from '#core/model/model-client.ts';
import { askJson, sendRequest } from '#core/model/providers/http-request.ts';
import { networkFailure, statusFailure } from '#core/model/providers/model-failure.ts';
import { ENDPOINT_BOUNDS, type Endpoint, overBound, shownUrl } from '#core/model/providers/provider-options.ts';

const bytes = z.number().nonnegative().default(0);
const installed = z.object({
  name: z.string(),
  size: bytes,
  details: z.object({ quantization_level: z.string().default('') }).prefault({}),
});
/** `size_vram`: what of it is on a graphics card. */
const loaded = z.object({ name: z.string(), size: bytes, size_vram: bytes });
const step = z.object({
  status: z.string().default(''),
  error: z.string().optional(),
  digest: z.string().default(''),
  total: bytes,
  completed: bytes,
});

/** Between two signs of life of a download. */
const SILENT_MS = 120_000;
const LONGEST_LINE = 64 * 1024;

/** `baseUrl`: with or without the `/v1` of its other face. All calls may throw ModelError. */
export function ollamaAt(baseUrl: string, clock: Clock) {
  const address = baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
  const endpoint: Endpoint = { provider: 'Ollama', baseUrl: address };
  const list = async <T>(path: string, row: z.ZodType<T>, ms: number, signal: AbortSignal): Promise<readonly T[]> => {
    const timeouts = { connectMs: ms, idleMs: ms, totalMs: ms };
    const told = parseJson(await askJson({ endpoint, clock, timeouts }, path, undefined, signal));
    const rows = z.object({ models: z.array(row).nullish() }).safeParse(told.ok ? told.value : undefined);
    if (rows.success) return rows.data.models ?? [];
    throw new ModelError(`${shownUrl(address)}${path} answered with something that Ollama does not say`, {
      code: 'model-bad-response',
      fix: 'Is it Ollama that listens there? Correct providers.ollama.base_url of config.yaml.',
    });
  };
  return {
    installed: (signal: AbortSignal, ms = 5_000) => list('/api/tags', installed, ms, signal),
    loaded: (signal: AbortSignal, ms = 5_000) => list('/api/ps', loaded, ms, signal),
    /** Goes on where an earlier one broke. */
    pull: (model: string, signal: AbortSignal) => pullFrom({ endpoint, clock, model }, signal),
  };
}

interface Pull {
  readonly endpoint: Endpoint;
  readonly clock: Clock;
  readonly model: string;
}

/** Yields what came so far, of all layers that were begun, in bytes. */
async function* pullFrom(pull: Pull, signal: AbortSignal) {
  const layers = new Map<string, z.infer<typeof step>>();
  let isWhole = false;
  for await (const line of askedLines(pull, signal)) {
    const parsed = parseJson(line);
    const told = step.safeParse(parsed.ok ? parsed.value : undefined).data;
    if (told === undefined || told.error !== undefined) throw stopped(told?.error ?? 'it sent a line that is no JSON');
    if (told.digest !== '') layers.set(told.digest, told);
    isWhole = told.status === 'success';
    const sum = (of: 'total' | 'completed') => [...layers.values()].reduce((all, layer) => all + layer[of], 0);
    yield { status: told.status, completed: sum('completed'), total: sum('total') };
  }
  if (!isWhole) throw stopped('the answer ended before all was there');
}

function stopped(why: string): ModelError {
  return new ModelError(`Ollama stopped: ${why}`, { code: 'model-bad-response', retryable: true });
}

async function* askedLines({ endpoint, clock, model }: Pull, parent: AbortSignal): AsyncGenerator<string> {
  const silent = () =>
    new ModelError(`Ollama sent nothing for ${SILENT_MS / 60_000} minutes`, { code: 'model-timeout' });
  const { signal, touch, clear } = deadline(clock, parent, SILENT_MS, silent);
  const bounds = { ...ENDPOINT_BOUNDS, signal, onSent: () => undefined, onBytes: touch };
  const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ model }) };
  let answered = false;
  try {
    const answer = await sendRequest(`${endpoint.baseUrl}/api/pull`, { ...sent, ...bounds });
    answered = true;
    const { ok, status, headers } = answer;
    if (!ok) throw statusFailure(endpoint, { status, headers, body: await answer.text(), model }, clock);
    yield* cutLines(answer.body, endpoint);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof ModelError ? error : networkFailure(endpoint, error, answered);
  } finally {
    clear();
  }
}

async function* cutLines(body: AsyncIterable<Uint8Array>, endpoint: Endpoint): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LONGEST_LINE) throw overBound(endpoint, 'a line of over 64 KB');
    yield* lines.filter((line) => line.trim() !== '');
  }
  if (rest.trim() !== '') yield rest;
}
