// Owns what stands around every call to a model of this machine: it waits while a model is loaded there, asks what the owner switched to, and is
// measured; and the files that tell all processes and golems of a home of it (`cache/model-*` of the outermost home). Knows no server.
// Invariants: a request that waited is sent, once, when the load is over, whether that worked or not; each endpoint waits for itself alone; what
// holds a request up is a live process, never a file that somebody left; a figure that cannot be kept is lost, and the call is not.
import { join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { type Clock, isoTime } from '#base/clock.ts';
import { createEventLog } from '#base/fabric.ts';
import { isJsonObject, parseJson } from '#base/json.ts';
import { readIfThere, withFileLock } from '#base/platform.ts';
import { holderState } from '#base/process/holder.ts';
import type { ModelClient, ModelRequest, Tier, Usage } from '#core/model/model-client.ts';
import { type Home, outermost } from '../home/home.ts';
import type { FoundProvider } from './provider-table.ts';

export interface LocalPlace {
  readonly home: Home;
  readonly clock: Clock;
}

/** A load: names as the endpoint knows them, times in epoch ms. No `tier`: for each. No `loadedAt`: it is under way, or its process died. */
export interface Switch {
  readonly endpoint: string;
  readonly from: string;
  readonly to: string;
  readonly tier?: Tier;
  readonly at: number;
  readonly expectedMs: number;
  readonly loadedAt?: number;
}

const inCache = ({ home }: LocalPlace, name: string) => join(outermost(home.root), 'cache', name);
const switchFile = (place: LocalPlace) => inCache(place, 'model-switches.json');
const lockFile = (place: LocalPlace) => inCache(place, 'model-reload.lock');
const speedFile = (place: LocalPlace) => inCache(place, 'model-speeds.jsonl');

/** Nobody follows an older one. */
const MOST_SWITCHES = 20;

/** A cache that somebody else wrote into is an empty one. */
function switches(place: LocalPlace): readonly Switch[] {
  const parsed = parseJson(readIfThere(switchFile(place)) ?? '[]');
  const rows = parsed.ok && Array.isArray(parsed.value) ? parsed.value.filter(isJsonObject) : [];
  return rows.filter(({ at, to }) => typeof at === 'number' && typeof to === 'string') as unknown as Switch[];
}

/** No load takes longer, whatever is left lying there by another machine. */
export const LOAD_MS = 280_000;

/** The load that is under way. */
export function reloadOf(place: LocalPlace): Switch | undefined {
  const last = switches(place).at(-1);
  if (last === undefined || last.loadedAt !== undefined) return undefined;
  if (Math.abs(place.clock.now() - last.at) > 1.1 * LOAD_MS) return undefined;
  const holder = readIfThere(lockFile(place))?.trim();
  return holder && holderState(holder) !== 'gone' ? last : undefined;
}

/** Holds the requests to its endpoint until `load` is over. Throws what `load` throws, and `locked` while another process loads. */
export async function reloading(place: LocalPlace, row: Switch, load: () => Promise<void>): Promise<void> {
  const write = (rows: readonly Switch[]) => atomicWrite(switchFile(place), JSON.stringify(rows.slice(-MOST_SWITCHES)));
  const work = async () => {
    const before = switches(place).filter(({ loadedAt }) => loadedAt !== undefined);
    let after = before;
    write([...before, row]);
    try {
      await load();
      after = [...before, { ...row, loadedAt: place.clock.now() }];
    } finally {
      write(after);
    }
  };
  await withFileLock(lockFile(place), work, { waitMs: 0, clock: place.clock });
}

/** What waits together: an address of this machine by whichever name, or the engine. */
export function localEndpoint({ kind, baseUrl }: Pick<FoundProvider, 'kind' | 'baseUrl'>): string {
  const { host = baseUrl } = URL.parse(baseUrl) ?? {};
  return kind === 'llama' ? kind : host.replace(/^(?:localhost|\[::1\])(?=:|$)/, '127.0.0.1');
}

const LOOK_MS = 50;

export interface LocalCall extends LocalPlace {
  readonly endpoint: string;
  readonly model: string;
  readonly tier: Tier;
  readonly since: number;
  readonly build: (model: string) => ModelClient;
}

/** A client that follows the owner's switches from the time its model was chosen. */
export function createLocalClient(call: LocalCall): ModelClient {
  let model = call.model;
  let client = call.build(model);
  const follow = () => {
    const name = switches(call)
      .filter(({ endpoint, tier = call.tier }) => endpoint === call.endpoint && tier === call.tier)
      .filter(({ at, loadedAt }) => at >= call.since && loadedAt !== undefined)
      .reduce((now, { from, to }) => (from === now ? to : now), call.model);
    if (name !== model) client = call.build(name);
    model = name;
  };
  return {
    get id() {
      return client.id;
    },
    get traits() {
      return client.traits;
    },
    tier: call.tier,
    async *stream(request, signal) {
      while (reloadOf(call)?.endpoint === call.endpoint) await call.clock.sleep(LOOK_MS, signal);
      const from = client.id;
      follow();
      if (client.id !== from) yield { type: 'fallback', from, to: client.id, reason: 'you switched to it' };
      yield* measured(call, client, request, signal);
    },
  };
}

async function* measured(call: LocalCall, client: ModelClient, request: ModelRequest, signal: AbortSignal) {
  let first: number | undefined;
  for await (const event of client.stream(request, signal)) {
    if (event.type.endsWith('-delta')) first ??= call.clock.monotonic();
    if (event.type === 'finish' && first !== undefined) {
      const of = request.purpose === 'dream' ? 'dream' : call.tier;
      keepCall(call, client, event.usage, { of, ms: call.clock.monotonic() - first });
    }
    yield event;
  }
}

/** Of fewer tokens the time says nothing. */
const LEAST_TOKENS = 8;

function keepCall(
  place: LocalPlace,
  client: ModelClient,
  usage: Usage,
  { of, ms }: Pick<Speed, 'of'> & { ms: number },
) {
  const { inputTokens, outputTokens } = usage;
  if (outputTokens < LEAST_TOKENS || ms <= 0) return;
  const window = { used: inputTokens + outputTokens, size: client.traits.contextWindow };
  keepSpeed(place, { model: client.id, of, tokensPerSecond: (outputTokens * 1000) / ms, ...window });
}

/** Of one answer (tokens of its window that were full, and the size of that), or of a spot check: the share that was answered as known. */
export interface Speed {
  /** ISO 8601. */
  readonly at: string;
  /** `provider/model` */
  readonly model: string;
  readonly of?: Tier | 'dream' | undefined;
  readonly tokensPerSecond?: number;
  readonly used?: number;
  readonly size?: number;
  readonly quality?: number;
}

export function keepSpeed(place: LocalPlace, row: Omit<Speed, 'at'>): void {
  createEventLog(speedFile(place), place.clock).write('call', { ...row });
}

const TAIL = 256 * 1024;

/** Oldest first, none older than `sinceMs`. */
export function speeds(place: LocalPlace, sinceMs: number): readonly Speed[] {
  const from = isoTime(place.clock.now() - sinceMs);
  const lines = (readIfThere(speedFile(place)) ?? '').slice(-TAIL).split('\n');
  const rows = lines.map((line) => parseJson(line)).map((parsed) => (parsed.ok ? parsed.value : null));
  return (rows.filter(isJsonObject) as unknown as Speed[]).filter(({ at }) => at >= from);
}
