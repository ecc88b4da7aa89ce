/** An agent as the rows have it: provider and transport for one account of a test homeserver, composed as the product composes them, with a scripted model behind the engine. Texts are checked where they pass: no answer may show a word of protocol. */

import { join } from 'node:path';
import { openPeers } from '#extensions/hive/open-hive.ts';
import {
  createHivemindProvider,
  createSparkEngine,
  type Infer,
  type InferReply,
  type InferRequest,
  type PeerTransport,
} from '#public/peers.ts';
import {
  type AnyTool,
  type Ground,
  type MemoryProvider,
  type Message,
  ok,
  type Risk,
  type TextPart,
  type Tool,
  type ToolContext,
} from '#public/talaria.ts';
import { realClock, type TestClock, testGround } from '../../ground.ts';
import type { TestAccount, TestHomeserver } from './hive-stage.ts';

export interface AgentOptions {
  readonly e2ee: boolean;
  readonly encryptAccountData: boolean;
  /** Home of this agent; made by whoever writes into it first. */
  readonly folder: string;
  /** Default: every question is answered with `nothing found`. */
  readonly infer?: ScriptedInfer;
  /** Parts of the section `peers`. */
  readonly config?: { readonly join?: object; readonly suggestions?: boolean };
  readonly clock?: TestClock;
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
    clock: realClock,
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
      try {
        return JSON.parse(text.slice(start, end + 1));
      } catch {
        // A shorter piece may be JSON.
      }
    }
  }
  return undefined;
}

export interface AgentParts {
  readonly server: TestHomeserver;
  readonly account: TestAccount;
  readonly options: AgentOptions;
  readonly infer: Infer;
  readonly warn: (text: string) => void;
}

export interface ComposedAgent {
  readonly provider: MemoryProvider;
  /** Undefined until the first use opened it. */
  opened(): PeerTransport | undefined;
}

export function composeAgent({ server, account, options, infer, warn }: AgentParts): ComposedAgent {
  const { clock = realClock, config = {} } = options;
  const ground = groundOf(server, account, options);
  let transport: PeerTransport | undefined;
  const open = async (): Promise<PeerTransport> => {
    const peers = await openPeers(ground, warn);
    if (!peers.ok) throw new Error(peers.detail);
    transport = peers.value.transport;
    return transport;
  };
  const engine = createSparkEngine({ infer, clock, warn });
  const provider = createHivemindProvider({
    open,
    clock,
    warn,
    available: () => ok(true),
    ...(config.suggestions === false ? {} : { engine }),
  });
  return { provider, opened: () => transport };
}

/** What the app would lend, without an app: settings that name this account, a home, and nothing else. */
export function groundOf(
  server: TestHomeserver,
  account: TestAccount,
  options: Pick<AgentOptions, 'e2ee' | 'encryptAccountData' | 'folder' | 'config' | 'clock'>,
): Ground {
  const clock = options.clock ?? realClock;
  const section = { e2ee: options.e2ee, encrypt_account_data: options.encryptAccountData, ...options.config };
  return testGround({
    clock,
    places: { home: options.folder, config: join(options.folder, 'config.yaml') },
    settings: async () => ({
      provider: 'hivemind',
      has: () => false,
      env: {
        MATRIX_HOMESERVER: server.url,
        MATRIX_USER_ID: account.userId,
        MATRIX_ACCESS_TOKEN: account.accessToken,
      },
      section: (_name, schema) => schema.parse(section),
    }),
  });
}

/** Undefined: nothing was found. */
export type ScriptedInfer = (request: InferRequest, signal: AbortSignal) => Promise<InferReply | undefined>;

export interface SaidOfPeer {
  readonly needs?: readonly string[];
  readonly offers?: readonly string[];
  readonly expertise?: readonly string[];
  readonly summary_text?: string;
}

/** Undefined: the two have nothing for each other. */
export type SaidOfPair = { readonly reason: string; readonly confidence: string } | undefined;

/**
 * @param summaries by a word that occurs in the question, such as a name; the first that occurs
 * @param pair asked for each pair of a question, with what it says of the two as text
 */
export function inferring(
  summaries: Readonly<Record<string, SaidOfPeer>>,
  pair: (question: string) => SaidOfPair = () => undefined,
): ScriptedInfer {
  return async (request) => {
    const question = questionOf(request);
    if (request.kind === 'spark') {
      return reply({
        introduce: pairsOf(request).flatMap((text, at) => {
          const said = pair(text);
          return said === undefined ? [] : [{ pair: at + 1, ...said }];
        }),
      });
    }
    const [, said] = Object.entries(summaries).find(([word]) => question.includes(word)) ?? [];
    return said === undefined ? undefined : reply({ needs: [], offers: [], expertise: [], summary_text: '', ...said });
  };
}

/** What a question says of each pair, as text. */
export function pairsOf({ input }: InferRequest): readonly string[] {
  const { agents, pairs } = input as unknown as {
    readonly agents: readonly { readonly id: string }[];
    readonly pairs: readonly { readonly a: string; readonly b: string }[];
  };
  return pairs.map(({ a, b }) => JSON.stringify(agents.filter(({ id }) => id === a || id === b)));
}

export function questionOf({ input }: InferRequest): string {
  return JSON.stringify(input);
}

function reply(value: unknown): InferReply {
  return { text: JSON.stringify(value), byRule: false };
}
