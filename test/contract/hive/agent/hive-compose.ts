/** Provider and transport as the product composes them (open-hive), with the model behind the engine taken from the test. */
import { join } from 'node:path';
import { type Clock, systemClock } from '#base/clock.ts';
import { ok } from '#base/result.ts';
import type { HiveGround } from '#extensions/hive/hive-ground.ts';
import { openPeers } from '#extensions/hive/open-hive.ts';
import type { PeerTransport } from '#extensions/hive/peers/peer-transport.ts';
import { createHivemindProvider } from '#extensions/hive/provider/hivemind-provider.ts';
import type { Infer } from '#extensions/hive/sparks/infer.ts';
import { createSparkEngine } from '#extensions/hive/sparks/spark-engine.ts';
import type { MemoryProvider } from '#mind/memory/memory-provider.ts';
import type { TestAccount, TestHomeserver } from '../hive-homeserver.ts';
import type { AgentOptions } from './hive-agent.ts';

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
  const { clock = systemClock, config = {} } = options;
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
): HiveGround {
  const unused = async (): Promise<never> => {
    throw new Error('a test of peers needs no such thing');
  };
  const clock: Clock = options.clock ?? systemClock;
  const section = { e2ee: options.e2ee, encrypt_account_data: options.encryptAccountData, ...options.config };
  return {
    clock,
    places: { home: options.folder, config: join(options.folder, 'config.yaml') },
    variables: {},
    program: [],
    settings: async () => ({
      provider: 'hivemind',
      env: {
        MATRIX_HOMESERVER: server.url,
        MATRIX_USER_ID: account.userId,
        MATRIX_ACCESS_TOKEN: account.accessToken,
      },
      section: (_name, schema) => schema.parse(section),
    }),
    keep: unused,
    open: unused,
  };
}
