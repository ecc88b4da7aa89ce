/**
 * An agent as the rows have it: provider and transport for one account of a test homeserver, composed as the product composes them, with a
 * scripted model behind the engine. Texts are checked where they pass: no answer may show a word of protocol.
 */
import { type Clock, systemClock } from '#base/clock.ts';
import { parseJson } from '#base/json.ts';
import type { AnyTool, Risk, Tool, ToolContext } from '#core/agent/tool.ts';
import type { Message, TextPart } from '#core/model/message.ts';
import type { HiveConfig } from '#extensions/hive/hive-config.ts';
import type { PeerTransport } from '#extensions/hive/peers/peer-transport.ts';
import type { InferReply, InferRequest } from '#extensions/hive/sparks/infer.ts';
import type { MemoryProvider } from '#mind/memory/memory-provider.ts';
import type { TestAccount, TestHomeserver } from '../hive-homeserver.ts';
import { composeAgent } from './hive-compose.ts';
import type { ScriptedInfer } from './hive-scripted-infer.ts';

export interface AgentOptions {
  readonly e2ee: boolean;
  readonly encryptAccountData: boolean;
  /** Home of this agent; made by whoever writes into it first. */
  readonly folder: string;
  /** Default: every question is answered with `nothing found`. */
  readonly infer?: ScriptedInfer;
  readonly config?: Partial<Pick<HiveConfig, 'join' | 'suggestions'>>;
  readonly clock?: Clock;
}

export interface ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
  readonly origin: 'foreign' | 'observed';
  /** The first JSON value in the text; undefined when there is none. */
  readonly json: unknown;
}

export interface HiveAgent {
  readonly account: TestAccount;
  /** `@name:server` */
  readonly userId: string;
  /** `name@server` */
  readonly id: string;
  readonly name: string;
  readonly folder: string;
  readonly provider: MemoryProvider;
  /** Throws before the first use of the agent opened it. */
  readonly transport: PeerTransport;
  /** The last questions of the engine, oldest first. */
  readonly inferred: readonly InferRequest[];
  /** Sentences for the owner. */
  readonly warnings: readonly string[];
  /** Begins a turn, after the end of the one before: what the owner's line gets along. */
  prefetch(text?: string): Promise<string>;
  parts(text?: string): Promise<readonly TextPart[]>;
  /** Runs a tool as the loop would after approval. */
  call(tool: string, args?: Readonly<Record<string, unknown>>, owner?: string): Promise<ToolAnswer>;
  risk(tool: string, args: Readonly<Record<string, unknown>>, owner?: string): Risk;
  tool(name: string): Tool<unknown>;
  /** Safe to call twice. */
  close(): Promise<void>;
  /** The agent is gone without a word: nothing of it is closed or finished. */
  kill(): void;
}

const SESSION = { sessionId: 's1', source: 'cli', cwd: '/', audience: 'primary' } as const;
const NEVER = new AbortController().signal;
const MOST_INFERRED = 500;

export async function openAgent(
  server: TestHomeserver,
  account: TestAccount,
  options: AgentOptions,
): Promise<HiveAgent> {
  const inferred: InferRequest[] = [];
  const warnings: string[] = [];
  const infer = async (request: InferRequest, signal: AbortSignal): Promise<InferReply> => {
    inferred.push(request);
    if (inferred.length > MOST_INFERRED) inferred.shift();
    return (await options.infer?.(request, signal)) ?? NOTHING_FOUND[request.kind];
  };
  const warn = (text: string): void => void warnings.push(text);
  const { opened, provider } = composeAgent({ server, account, options, infer, warn });
  await provider.start(SESSION, NEVER);
  const { userId } = account;
  let gone = false;
  return {
    ...turnsOf(provider),
    account,
    userId,
    id: userId.slice(1).replace(':', '@'),
    name: userId.slice(1, userId.indexOf(':')),
    folder: options.folder,
    provider,
    get transport() {
      const transport = opened();
      if (transport === undefined) throw new Error(`${userId} was not asked for anything yet`);
      return transport;
    },
    inferred,
    warnings,
    close: async () => {
      if (gone) return;
      gone = true;
      await provider.stop();
      await opened()?.close();
    },
    kill: () => {
      gone = true;
    },
  };
}

function turnsOf(provider: MemoryProvider): Pick<HiveAgent, 'prefetch' | 'parts' | 'call' | 'risk' | 'tool'> {
  const byName = new Map(provider.tools().map((tool) => [tool.name, tool]));
  const toolOf = (name: string): Tool<unknown> => {
    const found = byName.get(name);
    if (found === undefined) throw new Error(`there is no tool ${name}`);
    return found as AnyTool as unknown as Tool<unknown>;
  };
  let turns = 0;
  const parts = async (text = 'good morning') => {
    if (turns > 0) await provider.turnEnded?.(SESSION, []);
    turns += 1;
    return provider.prefetch(text, NEVER);
  };
  return {
    parts,
    prefetch: async (text) => (await parts(text)).map((part) => part.text).join('\n'),
    tool: toolOf,
    call: async (name, args = {}, owner) => {
      const tool = toolOf(name);
      const output = await tool.run(tool.input.parse(args), surroundings(owner), NEVER);
      const { text, isError = false, origin = 'foreign' } = output;
      return { text, isError, origin, json: firstJson(text) };
    },
    risk: (name, args, owner) => {
      const tool = toolOf(name);
      return tool.risk?.(tool.input.parse(args), surroundings(owner)) ?? { level: 'none' };
    },
  };
}

const NOTHING_FOUND: Readonly<Record<InferRequest['kind'], InferReply>> = {
  summary: { text: '{"needs":[],"offers":[],"expertise":[],"summary_text":""}', byRule: false },
  spark: { text: '{"introduce":[]}', byRule: false },
};

let calls = 0;

/** @param owner what the owner typed in this turn */
function surroundings(owner = 'please do what is next'): ToolContext {
  const history: readonly Message[] = [{ role: 'user', parts: [{ type: 'text', text: owner, origin: 'owner' }] }];
  calls += 1;
  return {
    sessionId: 's1',
    callId: `call-${calls}`,
    cwd: '/',
    clock: systemClock,
    asker: { ask: async () => ({ ok: false, reason: 'nobody-there', detail: 'a test' }) },
    spillFolder: '/nonexistent',
    history: () => history,
    redact: (text) => text.replaceAll(SECRET, '[redacted]'),
    progress: () => undefined,
  };
}

/** What the host knows as a secret. */
export const SECRET = 'sk-test-000000000000000000000000';

function firstJson(text: string): unknown {
  const starts = [text.indexOf('{'), text.indexOf('[')].filter((at) => at >= 0).sort((a, b) => a - b);
  for (const start of starts) {
    const close = text[start] === '{' ? '}' : ']';
    for (let end = text.lastIndexOf(close); end > start; end = text.lastIndexOf(close, end - 1)) {
      const parsed = parseJson(text.slice(start, end + 1));
      if (parsed.ok) return parsed.value;
    }
  }
  return undefined;
}
