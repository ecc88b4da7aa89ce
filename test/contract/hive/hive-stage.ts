/** One test's ground: a homeserver, agents of the product in folders of their own, and clients that speak plain HTTP. Ends what it began. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  FakeHomeserver,
  FakeHomeserverOptions,
  HomeserverAccount,
  HomeserverDoors,
  HomeserverFault,
  HomeserverRequest,
  HomeserverWire,
} from '#public/testing.ts';
import { startFakeHomeserver } from '#testing/homeserver/fake-homeserver.ts';
import { verifies } from '../../verifies.ts';
import { type AgentOptions, type HiveAgent, openAgent } from './hive-agent.ts';
import type { HomeserverStart } from './hive-raw-client.ts';
import { HiveRawClient } from './hive-raw-client.ts';

export interface RowsMode {
  readonly e2ee: boolean;
  readonly encryptAccountData: boolean;
}

export const OFF: RowsMode = { e2ee: false, encryptAccountData: false };

export const ON: RowsMode = { e2ee: true, encryptAccountData: true };

export interface RowsGround {
  readonly name: string;
  /** Its wire breaks on demand and its doors lead past the protocol. */
  readonly isFake: boolean;
  readonly start: HomeserverStart;
}

/** What the rows of one ground in one mode are called, and how each becomes a test. */
export interface Rows {
  readonly title: string;
  readonly ground: RowsGround;
  readonly mode: RowsMode;
  /** A test of these rows, on a stage of its own. */
  readonly verifies: (ids: string | readonly string[], name: string, body: (stage: HiveStage) => Promise<void>) => void;
}

export function rowsOn(ground: RowsGround, mode: RowsMode): Rows {
  const on = [
    mode.e2ee ? 'e2ee on' : 'e2ee off',
    mode.encryptAccountData ? 'account data encrypted' : 'account data plain',
  ];
  return {
    title: `${ground.name}, ${on.join(', ')}`,
    ground,
    mode,
    verifies: (ids, name, body) => verifies(ids, name, () => HiveStage.run({ ground, mode }, body)),
  };
}

type StageAgent = Partial<Pick<AgentOptions, 'infer' | 'config' | 'clock' | 'folder'>> & { readonly mode?: RowsMode };

export class HiveStage {
  readonly server: TestHomeserver;
  readonly mode: RowsMode;
  readonly #folder = mkdtempSync(join(tmpdir(), 'talaria-hive-'));
  readonly #open: HiveAgent[] = [];
  #folders = 0;

  private constructor(server: TestHomeserver, mode: RowsMode) {
    this.server = server;
    this.mode = mode;
  }

  static async run(
    { ground, mode }: { ground: RowsGround; mode: RowsMode },
    body: (stage: HiveStage) => Promise<void>,
  ): Promise<void> {
    const started = await ground.start();
    const stage = new HiveStage(started.server, mode);
    try {
      await body(stage);
    } finally {
      for (const agent of stage.#open) await agent.close();
      await started.stop();
      rmSync(stage.#folder, { recursive: true, force: true });
    }
  }

  /** Only on the fake. */
  get doors(): HomeserverDoors {
    const { doors } = this.server as Partial<FakeServer>;
    if (doors === undefined) throw new Error(`${this.server.name} has no doors past the protocol`);
    return doors;
  }

  /** Only on the fake. */
  get wire(): TestWire {
    if (this.server.wire === undefined) throw new Error(`${this.server.name} shows no requests`);
    return this.server.wire;
  }

  /** A new account and its agent, which has not been on the server yet. */
  async agent(local: string, options: StageAgent = {}): Promise<HiveAgent> {
    return this.open(await this.server.register(local), options);
  }

  /** One more agent of an account; without a folder in an empty one. */
  async open(account: TestAccount, options: StageAgent = {}): Promise<HiveAgent> {
    const { mode = this.mode, folder = this.emptyFolder(), ...more } = options;
    const agent = await openAgent(this.server, account, { ...mode, folder, ...more });
    this.#open.push(agent);
    return agent;
  }

  /** The same account in the same folder: as after `kill -9`, unless it was closed before. */
  async restart(agent: HiveAgent, options: StageAgent = {}): Promise<HiveAgent> {
    agent.kill();
    return this.open(agent.account, { folder: agent.folder, ...options });
  }

  /** A path below this stage's folder; it does not exist yet. */
  emptyFolder(): string {
    this.#folders += 1;
    return join(this.#folder, `home-${this.#folders}`);
  }

  /** Somebody who is no agent of ours. */
  raw(local: string): Promise<HiveRawClient> {
    return HiveRawClient.register(this.server, local);
  }

  /** The same account over plain HTTP. */
  rawOf(agent: HiveAgent): HiveRawClient {
    return new HiveRawClient(this.server, agent.account);
  }
}

/** A homeserver as tests use it: the fake one in this process, or a real one on loopback. Suites of the peer layer take it as their ground. */

export type TestAccount = HomeserverAccount;

export interface TestHomeserver {
  /** `fake, strict` or `synapse 1.163.2`. */
  readonly name: string;
  /** Address without a slash at its end. */
  readonly url: string;
  readonly serverName: string;
  /** A new account; `local` gets a suffix where the server outlives one test, so use `userId`. */
  register(local: string): Promise<TestAccount>;
  /** Signs the same account in again: another device with another token. */
  signIn(account: TestAccount): Promise<TestAccount>;
  /** Everything that the server keeps, as text to be searched. */
  storedText(): Promise<string>;
  /** Faults and a log of requests; absent on a real server. */
  readonly wire?: TestWire;
}

export type WireRequest = HomeserverRequest;

export type WireFault = HomeserverFault;

export type TestWire = Pick<HomeserverWire, 'requests' | 'clear' | 'fail' | 'down' | 'up'>;

/** The fake with its doors; a suite that takes any server sees a TestHomeserver in it. */
export type FakeServer = FakeHomeserver & TestHomeserver;

/** Default: strict, `localhost`, rooms of version 11. Give `context`, or call `stop()`. */
export function startFake(options: FakeHomeserverOptions = {}): Promise<FakeServer> {
  return startFakeHomeserver(options);
}

/** As suites take it: each start another server. */
export function onFake(options: FakeHomeserverOptions = {}): HomeserverStart {
  return async () => {
    const server = await startFake(options);
    return { server, stop: () => server.stop() };
  };
}
