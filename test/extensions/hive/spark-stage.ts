/** One spark engine on a transport in memory that counts what it is asked, with a model that answers from a table. */
import {
  createSparkEngine,
  type Infer,
  type InferReply,
  type InferRequest,
  type KnownPeer,
  type Peer,
  type PeerMessage,
  type PeerSummary,
  type PeerTransport,
  type Spark,
} from '#public/peers.ts';
import type { JsonObject } from '#public/talaria.ts';
import { createManualClock } from '#testing/manual-clock.ts';

export interface StagedPeer {
  readonly name: string;
  readonly context?: string;
  readonly status?: Peer['status'];
  readonly summary?: Partial<PeerSummary>;
  /** Oldest first; a text is the peer's own. */
  readonly says?: readonly (string | Partial<PeerMessage>)[];
  readonly lastAt?: number;
  /** Name of who introduced it to us. */
  readonly by?: string;
}

export interface MemoryTransport extends PeerTransport {
  readonly kept: Map<string, PeerSummary>;
  stored: Spark[];
  /** `messages bob@hub`, `keep bob@hub`, `sparks`, and whatever else was called. */
  readonly calls: string[];
  say(name: string, text: string, more?: Partial<PeerMessage>): void;
  /** Makes the next calls of this kind fail. */
  readonly failing: Set<string>;
}

export const idOf = (name: string) => `${name}@hub`;

export function summaryOf(name: string, parts: Partial<PeerSummary> = {}): PeerSummary {
  return {
    peer_name: name,
    needs: [],
    offers: [],
    expertise: [],
    summary_text: '',
    last_updated: '2026-01-01T00:00:00.000Z',
    message_count_at_update: 0,
    by: 'model',
    ...parts,
  };
}

const messageOf = (said: string | Partial<PeerMessage>) => (typeof said === 'string' ? { text: said } : said);

export function createMemoryTransport(staged: readonly StagedPeer[]): MemoryTransport {
  const kept = new Map<string, PeerSummary>();
  const talk = new Map<string, PeerMessage[]>();
  const peers = new Map<string, Peer>();
  const lastAt = new Map<string, number>();
  const by = new Map<string, string>();
  const calls: string[] = [];
  const failing = new Set<string>();
  let count = 0;

  const say = (name: string, text: string, more: Partial<PeerMessage> = {}): void => {
    count += 1;
    const at = new Date(Date.UTC(2026, 0, 2) + count * 1_000);
    const message: PeerMessage = {
      id: `m${count}`,
      from: name,
      fromId: idOf(name),
      mine: false,
      text,
      time: at.toISOString(),
      state: 'text',
      ...more,
    };
    talk.set(idOf(name), [message, ...(talk.get(idOf(name)) ?? [])]);
    lastAt.set(idOf(name), at.getTime());
  };
  const stage = (one: StagedPeer, index: number): void => {
    const id = idOf(one.name);
    const introduced_at = new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString();
    const { name, context = '', status = 'active' } = one;
    peers.set(id, { name, id, context, introduced_by: 'hermes-of-alice', introduced_at, status });
    for (const said of (one.says ?? []).map(messageOf)) say(name, said.text ?? '', said);
    if (one.summary !== undefined) kept.set(id, summaryOf(name, one.summary));
    if (one.by !== undefined) by.set(id, idOf(one.by));
    if (one.lastAt !== undefined) lastAt.set(id, one.lastAt);
  };
  staged.forEach(stage);

  const called = (what: string): void => {
    calls.push(what);
    const kind = what.split(' ')[0] ?? what;
    if (failing.has(kind)) throw new Error(`${kind} fails`);
  };
  const known = (peer: Peer): KnownPeer => {
    const summary = kept.get(peer.id);
    const messages = talk.get(peer.id) ?? [];
    const last = messages.findIndex(({ id }) => id === summary?.last_message_id);
    const sinceSummary = last === -1 ? messages.length : last;
    const traffic = { sinceSummary, unread: 0, atLeast: false, lastAt: lastAt.get(peer.id) ?? 0 };
    const introducedById = by.get(peer.id);
    const told = introducedById === undefined ? {} : { introducedById };
    return { peer, traffic, isProtected: false, ...told, ...(summary === undefined ? {} : { summary }) };
  };
  const unexpected = (what: string) => async (): Promise<never> => {
    calls.push(what);
    throw new Error(`the engine must not call ${what}`);
  };

  const transport: MemoryTransport = {
    selfId: idOf('me'),
    kept,
    stored: [],
    calls,
    failing,
    say,
    refresh: unexpected('refresh'),
    send: unexpected('send'),
    introduce: unexpected('introduce'),
    contact: unexpected('contact'),
    markRead: unexpected('markRead'),
    examine: unexpected('examine'),
    close: async () => undefined,
    peers: () => [...peers.values()].map(known),
    messages: async (id, { limit = 20 }, signal) => {
      signal.throwIfAborted();
      called(`messages ${id}`);
      return (talk.get(id) ?? []).slice(0, limit);
    },
    keepSummary: async (id, summary, signal) => {
      signal.throwIfAborted();
      called(`keep ${id}`);
      kept.set(id, summary);
    },
    sparks: () => transport.stored,
    changeSparks: async (change, signal) => {
      signal.throwIfAborted();
      called('sparks');
      transport.stored = [...change(transport.stored)];
      return transport.stored;
    },
  };
  return transport;
}

export type Answer = JsonObject | string | Error | ((request: InferRequest) => JsonObject | string | Error);

export interface SpyInfer {
  readonly infer: Infer;
  readonly asked: InferRequest[];
  /** Names of the peers that each question was about. */
  readonly about: string[];
  readonly count: (kind: InferRequest['kind']) => number;
}

export interface SpyAnswers {
  readonly summary?: Answer;
  readonly spark?: Answer;
  readonly byRule?: boolean;
}

export const EMPTY_SUMMARY = { needs: [], offers: [], expertise: [], summary_text: 'somebody' };

export const NO_SPARK = { introduce: [] };

/** Suggests the first ten pairs of a question. */
export const GOOD_SPARK = {
  introduce: Array.from({ length: 10 }, (_, at) => at + 1).map((pair) => ({
    pair,
    reason: 'it fits',
    confidence: 'high',
  })),
};

export function spyInfer({ summary = EMPTY_SUMMARY, spark = NO_SPARK, byRule = false }: SpyAnswers = {}): SpyInfer {
  const asked: InferRequest[] = [];
  const about: string[] = [];
  return {
    asked,
    about,
    count: (kind) => asked.filter((request) => request.kind === kind).length,
    infer: async (request, signal): Promise<InferReply> => {
      signal.throwIfAborted();
      asked.push(request);
      about.push(namesIn(request));
      const given = request.kind === 'summary' ? summary : spark;
      const answer = typeof given === 'function' ? given(request) : given;
      if (answer instanceof Error) throw answer;
      return { text: typeof answer === 'string' ? answer : JSON.stringify(answer), byRule };
    },
  };
}

function namesIn({ kind, input }: InferRequest): string {
  if (kind === 'summary') return (input.peer as { name: string }).name;
  const agents = input.agents as unknown as readonly { id: string; name: string }[];
  const name = (id: string) => agents.find((agent) => agent.id === id)?.name;
  const pairs = input.pairs as unknown as readonly { a: string; b: string }[];
  return pairs.map(({ a, b }) => `${name(a)}+${name(b)}`).join(' ');
}

export function stageEngine(peers: readonly StagedPeer[], answers: SpyAnswers = {}) {
  const clock = createManualClock();
  const warnings: string[] = [];
  const spy = spyInfer(answers);
  const transport = createMemoryTransport(peers);
  const restart = (infer: Infer = spy.infer) =>
    createSparkEngine({ infer, clock, warn: (problem) => warnings.push(problem) });
  const engine = restart();
  const run = (signal = new AbortController().signal) => engine.run(transport, signal);
  return { clock, warnings, spy, transport, engine, run, restart };
}

/** `count` peers that have been summed up. */
export function summarised(count: number, parts: (at: number) => StagedPeer['summary'] = () => ({})): StagedPeer[] {
  return Array.from({ length: count }, (_, at) => ({ name: `p${at}`, summary: { ...parts(at) } }));
}

/** `count` messages of one peer. */
export function lines(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `line ${at}`);
}
