// Owns the commands that look: `peers info`, `list`, `messages` (as the agent's tool reads them) and `doctor` (every check in order, one line each,
// with what to do; leaves with 1 when any failed). Asks no model. Invariants: words of others stand in marked lines; what cannot be opened is
// itself a finding.

import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { plural } from '#base/text.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  defineCommand,
  type Failure,
  failed,
  line,
} from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { type KnownPeer, PeerError, type PeerSummary, type TransportReport } from '../peer.ts';
import { findPeer, plainName } from '../peer-names.ts';
import {
  callNames,
  type Introducer,
  introducers,
  NOBODY,
  type PeersKnown,
  peersKnown,
  type ReadMessage,
  readMessages,
  readNews,
  renderPeers,
} from '../provider/peers-view.ts';
import { PROVIDER_NAME, readAccount, SIGN_IN } from '../settings.ts';
import { type PeerCommand, peerCommand, shownBlock, shownLine } from './with-peers.ts';

export function infoCommand(ground: Ground): AnyCommand {
  const spec = {
    name: 'peers info',
    summary: 'Show what is known of a peer: introduction, needs and offers, suggestions',
    readOnly: true,
    positional: ['peer'],
    input: z.object({ peer: z.string('name a peer').min(1, 'name a peer').describe('Name or id of a peer') }),
    examples: ['talaria peers info hermes-of-carol'],
  } as const;
  return peerCommand(ground, spec, async function* (command, { peer: asked }) {
    const all = peersKnown(command.transport);
    const known = findPeer(all.peers, asked);
    const { peer, summary } = known;
    yield* factLines(known, introducers(all.selfId, all.peers)(known)).map(line);
    yield* summaryLines(summary).map(line);
    const sparks = all.sparks.filter((spark) => [spark.peer_a_id, spark.peer_b_id].includes(peer.id));
    if (sparks.length > 0) yield line(renderPeers(all, { peers: [], sparks }));
    yield line(`Write: talaria peers send ${plainName(callNames(all.peers)(peer))} "…"`);
    yield dataOf(command, { ...shownPeer(known), ...(summary ? { summary } : {}), suggestions: sparks });
  });
}

/** With whether the network was reached, and what it had to say. */
function dataOf({ reached, notes }: PeerCommand, value: object): CommandOutput {
  return { type: 'data', value: { ...value, reached, notes } as unknown as JsonValue };
}

function shownPeer({ peer, traffic, isProtected }: KnownPeer) {
  return { ...peer, unread: traffic.unread, encrypted: isProtected };
}

const STATUS = { active: 'active', invited: 'invited, has not come yet', left: 'has left' } as const;

function factLines({ peer, traffic, isProtected }: KnownPeer, introducer: Introducer): readonly string[] {
  const context = shownBlock(peer.context);
  const by = introducer.kind === 'somebody' ? `by ${plainName(introducer.called)}` : NOBODY[introducer.kind];
  return [
    plainName(peer.id),
    `  status      ${STATUS[peer.status]}`,
    `  introduced  ${by}, ${peer.introduced_at.slice(0, 10)}`,
    `  messages    ${traffic.unread === 0 ? 'none new' : `${traffic.unread}${traffic.atLeast ? ' or more' : ''} new`}`,
    `  encrypted   ${isProtected ? 'yes' : 'no'}`,
    ...(context === '' ? ['  nothing was said about it'] : ['  what was said about it:', context]),
  ];
}

function summaryLines(summary: PeerSummary | undefined): readonly string[] {
  if (!summary || ![summary.summary_text, ...summary.needs, ...summary.offers, ...summary.expertise].some(Boolean))
    return [];
  const list = (name: string, items: readonly string[]) =>
    items.length === 0 ? [] : [`  ${name}:`, ...items.map((item) => `  | ${shownLine(item)}`)];
  return [
    `  summary (by ${summary.by}, ${summary.last_updated.slice(0, 10)}):`,
    ...(summary.summary_text === '' ? [] : [shownBlock(summary.summary_text)]),
    ...list('needs', summary.needs),
    ...list('offers', summary.offers),
    ...list('expertise', summary.expertise),
  ];
}

export function listCommand(ground: Ground): AnyCommand {
  const spec = {
    name: 'peers list',
    summary: 'List the agents that yours knows, and what is new',
    readOnly: true,
    input: z.object({}),
    examples: ['talaria peers list', 'talaria peers list --json'],
  } as const;
  return peerCommand(ground, spec, async function* (command) {
    const known = peersKnown(command.transport);
    yield line(renderPeers(known) || `You are ${plainName(known.selfId)}, and know nobody yet.`);
    yield* nextLines(known).map(line);
    yield dataOf(command, { peers: known.peers.map(shownPeer), suggestions: known.sparks });
  });
}

function nextLines({ peers, sparks }: PeersKnown): readonly string[] {
  if (peers.length === 0)
    return ['Somebody introduces you, or you make contact: talaria peers invite NAME@SERVER --about "…"'];
  const call = callNames(peers);
  const news = peers.some(({ traffic }) => traffic.unread > 0) ? ['Read what is new: talaria peers messages'] : [];
  const [spark] = sparks;
  if (!spark) return news;
  const a = plainName(call({ name: spark.peer_a, id: spark.peer_a_id }));
  const b = plainName(call({ name: spark.peer_b, id: spark.peer_b_id }));
  return [...news, `Act: talaria peers introduce ${a} ${b} · decline: talaria peers dismiss ${a} ${b}`];
}

export function messagesCommand(ground: Ground): AnyCommand {
  const spec = {
    name: 'peers messages',
    summary: 'Read what peers wrote: what is new, or the last messages with one; they count as read',
    input: z.object({
      peer: z.string().min(1, 'name a peer').optional().describe('Name or id of a peer; absent: whatever is new'),
    }),
    positional: ['peer'],
    examples: ['talaria peers messages', 'talaria peers messages hermes-of-carol'],
  };
  return peerCommand<{ readonly peer?: string | undefined }>(ground, spec, (command, { peer }) =>
    peer === undefined ? showNews(command) : showTalk(command, peer),
  );
}

async function* showTalk(command: PeerCommand, asked: string): AsyncGenerator<CommandOutput> {
  const peers = command.transport.peers();
  const known = findPeer(peers, asked);
  const messages = await readMessages(command, known, command.signal);
  yield* messageLines(messages).map(line);
  yield line(`Answer: talaria peers send ${plainName(callNames(peers)(known.peer))} "…"`);
  yield dataOf(command, { peer: known.peer.name, id: known.peer.id, messages });
}

async function* showNews(command: PeerCommand): AsyncGenerator<CommandOutput> {
  const { news, more } = await readNews(command, command.signal);
  for (const { peer, messages, error } of news) {
    yield line(plainName(peer));
    yield* (error === undefined ? messageLines(messages) : [`  could not be read: ${error}`]).map(line);
  }
  if (news.every((talk) => talk.new === 0)) yield line('Nothing is new.');
  if (more > 0) yield line(`${plural(more, 'peer')} more with new messages: type it again.`);
  yield line('All with one: talaria peers messages PEER · answer: talaria peers send PEER "…"');
  yield dataOf(command, { conversations: news, more });
}

/** Oldest first, as one reads. */
function messageLines(messages: readonly ReadMessage[]): readonly string[] {
  if (messages.length === 0) return ['  nothing was said yet'];
  return [...messages].reverse().flatMap((message) => {
    const at = message.time.slice(0, 16).replace('T', ' ');
    const head = `  ${at} ${plainName(message.from)}${message.new ? ' (new)' : ''}`;
    return [head, shownBlock(message.text, '    | ') || '    | (nothing)'];
  });
}

type Check = TransportReport['checks'][number];

export function doctorCommand(ground: Ground): AnyCommand {
  return defineCommand({
    name: 'peers doctor',
    summary: 'Check sign-in, server and encryption of the peer network, and say what to do',
    surfaces: ['cli', 'chat'],
    input: z.object({}),
    examples: ['talaria peers doctor'],
    async *run(_input, context) {
      const checks: Check[] = [];
      for await (const check of checksOf(ground, context)) {
        checks.push(check);
        yield* printed(check);
      }
      yield { type: 'data', value: checks.map((check) => ({ ...check })) };
      const failure = failureOf(checks);
      if (failure) yield failure;
      else yield line('Next: `talaria peers list` shows whom you know.');
    },
  });
}

async function* checksOf(ground: Ground, { signal }: CommandContext): AsyncGenerator<Check> {
  const settings = await ground.settings();
  yield providerCheck(settings.provider);
  const account = readAccount(settings);
  if (!account.ok) return yield { ok: false, name: 'settings', detail: account.detail, fix: SIGN_IN };
  const { userId, homeserver } = account.value;
  yield { ok: true, name: 'settings', detail: `${userId} at ${homeserver}` };
  yield* transportChecks(ground, signal);
}

function providerCheck(provider: string): Check {
  if (provider === PROVIDER_NAME) return { ok: true, name: 'provider', detail: `memory.provider is ${PROVIDER_NAME}` };
  const detail = provider === '' ? 'memory.provider is not set' : `memory.provider is ${provider}`;
  const fix = `The agent does not see its peers: talaria config set memory.provider ${PROVIDER_NAME}`;
  return { ok: false, name: 'provider', detail, fix };
}

async function* transportChecks(ground: Ground, signal: AbortSignal): AsyncGenerator<Check> {
  try {
    const { openPeers } = await import('../open-hive.ts');
    const problems: string[] = [];
    const opened = await openPeers(ground, (problem) => void problems.push(problem));
    if (!opened.ok) return;
    try {
      yield* (await opened.value.transport.examine(signal)).checks;
      for (const detail of problems) yield { ok: false, name: 'notice', detail };
    } finally {
      await opened.value.transport.close();
    }
  } catch (error) {
    if (!(error instanceof PeerError)) throw error;
    yield { ok: false, name: 'connection', detail: error.message, ...(error.fix ? { fix: error.fix } : {}) };
  }
}

function printed({ ok, name, detail, fix }: Check): readonly CommandOutput[] {
  const head = line(`${ok ? 'ok  ' : 'fail'}  ${shownLine(name, 60)}: ${shownLine(detail, 400)}`);
  return fix === undefined ? [head] : [head, line(`      ${shownLine(fix, 400)}`)];
}

function failureOf(checks: readonly Check[]): Failure | undefined {
  const broken = checks.filter(({ ok }) => !ok).map(({ name }) => shownLine(name, 60));
  if (broken.length === 0) return undefined;
  return failed('peers-unhealthy', `${broken.length} of ${checks.length} checks failed: ${broken.join(', ')}.`);
}
