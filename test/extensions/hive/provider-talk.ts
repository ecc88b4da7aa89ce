/** An agent with its provider on a hub, as a conversation uses it: lines of the owner, calls weighed and run, the owner's yes or no. */

import {
  createHivemindProvider,
  createPeerHub,
  type HivemindParts,
  type PeerHub,
  type PeerHubOptions,
  type PeerTransport,
} from '#public/peers.ts';
import type {
  AnyTool,
  JsonValue,
  MemoryProvider,
  MemorySession,
  Message,
  Risk,
  TextPart,
  ToolContext,
  ToolOutput,
} from '#public/talaria.ts';
import { NEVER } from '../../contract/hive/hive-transport-ground.ts';
import { realClock } from '../../ground.ts';

export const SESSION: MemorySession = { sessionId: 's1', source: 'cli', cwd: '/', audience: 'primary' };

export const idOf = (name: string): string => `hermes-of-${name}@localhost`;

export interface Called {
  readonly risk: Risk;
  /** Absent when the owner was asked and said no. */
  readonly output?: ToolOutput;
  /** The answer, read. */
  readonly json?: JsonValue;
}

export interface HiveTalk {
  readonly provider: MemoryProvider;
  readonly warnings: string[];
  /** The owner types; what the provider adds to the line. */
  line(text: string): Promise<string>;
  /** A call of the model; `yes`: the owner allows what is asked. Default: yes. */
  call(name: string, args?: Record<string, JsonValue>, yes?: boolean): Promise<Called>;
  history: Message[];
}

export interface HiveTalkOptions extends Partial<HivemindParts> {
  readonly redact?: (text: string) => string;
}

export function talkOf(transport: () => Promise<PeerTransport>, options: HiveTalkOptions = {}): HiveTalk {
  const warnings: string[] = [];
  const provider = createHivemindProvider({
    open: transport,
    clock: realClock,
    warn: (problem) => warnings.push(problem),
    ...options,
  });
  const history: Message[] = [];
  let started: Promise<void> | undefined;
  return {
    provider,
    warnings,
    history,
    line: async (text) => {
      started ??= provider.start(SESSION, NEVER);
      await started;
      const parts = await provider.prefetch(text, NEVER);
      history.push(typedLine(text, parts));
      return parts.map((part: TextPart) => part.text).join('\n');
    },
    call: async (name, args = {}, yes = true) => {
      const tool = toolOf(provider, name);
      const context = toolContext(history, options.redact);
      const input = tool.input.parse(args) as never;
      const risk = tool.risk?.(input, context) ?? { level: 'none' };
      if (risk.level === 'never' || (risk.level === 'ask' && !yes)) return { risk };
      const output = await tool.run(input, context, NEVER);
      return { risk, output, json: JSON.parse(output.text) };
    },
  };
}

/** What the owner typed, with what came along. */
export function typedLine(text: string, parts: readonly TextPart[] = []): Message {
  return { role: 'user', parts: [...parts, { type: 'text', text, origin: 'owner' }] };
}

export function toolOf(provider: MemoryProvider, name: string): AnyTool {
  const tool = provider.tools().find((one) => one.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool;
}

export function toolContext(history: readonly Message[], redact = (text: string) => text): ToolContext {
  return {
    sessionId: SESSION.sessionId,
    callId: 'call_1',
    cwd: '/',
    clock: realClock,
    asker: { ask: async () => ({ ok: false, reason: 'nobody-there', detail: 'nobody' }) },
    spillFolder: '/nowhere',
    history: () => history,
    redact,
    progress: () => undefined,
  };
}

export interface HiveWorld {
  readonly hub: PeerHub;
  readonly alice: PeerTransport;
  readonly bob: PeerTransport;
  readonly carol: PeerTransport;
  /** Bob's agent. */
  readonly talk: HiveTalk;
}

/** Alice has introduced Bob and Carol; the talk is that of Bob's agent, on a handle of its own. */
export async function bobsWorld(options: HiveTalkOptions & PeerHubOptions = {}): Promise<HiveWorld> {
  const hub = createPeerHub(options);
  const [alice, bob, carol] = ['alice', 'bob', 'carol'].map((name) => hub.join(idOf(name))) as [
    PeerTransport,
    PeerTransport,
    PeerTransport,
  ];
  for (const other of [bob, carol]) {
    await alice.contact({ id: other.selfId, context: 'met at work', about: 'Alice knows people' }, NEVER);
    await other.refresh(NEVER);
  }
  await alice.refresh(NEVER);
  const contexts = { contextOfA: 'Bob builds compilers', contextOfB: 'Carol specializes in TEE attestation' };
  await alice.introduce({ a: bob.selfId, b: carol.selfId, ...contexts, reason: 'audits' }, NEVER);
  for (const one of [bob, carol, bob]) await one.refresh(NEVER);
  return { hub, alice, bob, carol, talk: talkOf(async () => hub.join(idOf('bob')), options) };
}

/** Somebody introduces Bob to more peers, by names as they are. */
export async function introduceMore(
  hub: PeerHub,
  ids: readonly string[],
  context: (id: string) => string = () => 'context',
): Promise<void> {
  const helper = hub.join('helper@localhost');
  await helper.contact({ id: idOf('bob'), context: 'Bob', about: 'a helper' }, NEVER);
  for (const id of ids) await helper.contact({ id, context: 'x', about: 'a helper' }, NEVER);
  await helper.refresh(NEVER);
  for (const id of ids)
    await helper.introduce({ a: idOf('bob'), b: id, contextOfA: 'Bob', contextOfB: context(id) }, NEVER);
}
