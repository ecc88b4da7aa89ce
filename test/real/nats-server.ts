/** A real NATS server on loopback, with a token and a store, which is killed and comes again at the same address. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { until } from '../ends.ts';

export const NATS_SKIP = 'skipped: set TALARIA_TEST_NATS (sh scripts/fetch-nats.sh prints it)';

const VERSION = '2.15.1';
export const TOKEN = 'a-token-of-this-test';

export interface NatsServer {
  readonly url: string;
  /** With -9, and up again with what is on its disk. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** While it is down. */
  empty(): void;
  /** Bytes of memory of its process, as the system counts them. */
  readonly pid: () => number;
}

/** TALARIA_TEST_NATS names it; without that the place that scripts/fetch-nats.sh uses. */
export function findNats(): string | undefined {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const named = process.env.TALARIA_TEST_NATS || join(cache, 'talaria', `nats-${VERSION}`, 'nats-server');
  return existsSync(named) ? named : undefined;
}

/** Runs `body` as a suite whose `start` gives a server each; without one to start, one skipped test. */
export function onNats(name: string, body: (start: () => Promise<NatsServer>) => void): void {
  const program = findNats();
  if (program === undefined) {
    test(name, { skip: NATS_SKIP }, () => undefined);
    return;
  }
  describe(name, () => {
    const ends: (() => Promise<void>)[] = [];
    after(async () => {
      for (const end of ends) await end();
    });
    body(async () => {
      const { server, end } = await startNats(program);
      ends.push(end);
      return server;
    });
  });
}

export async function startNats(
  program: string,
): Promise<{ readonly server: NatsServer; readonly end: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'talaria-nats-'));
  const store = join(folder, 'store');
  const port = await freePort();
  const config = [
    ...[`host: 127.0.0.1`, `port: ${port}`, `max_payload: 2MB`, `authorization { token: "${TOKEN}" }`],
    `jetstream { store_dir: "${store}", max_file_store: 8GB, max_memory_store: 16MB }`,
  ];
  writeFileSync(join(folder, 'nats.conf'), `${config.join('\n')}\n`);
  let child: ChildProcess | undefined;
  const kill = async () => {
    if (child === undefined || child.exitCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    child = undefined;
  };
  const start = async () => {
    child = spawn(program, ['-c', join(folder, 'nats.conf')], { stdio: 'ignore' });
    await until(() => answers(port));
  };
  await start();
  const empty = () => rmSync(store, { recursive: true, force: true });
  const end = async () => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  };
  return { server: { url: `nats://127.0.0.1:${port}`, kill, start, empty, pid: () => child?.pid ?? 0 }, end };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.on('data', () => end(true)).on('error', () => end(false));
  });
}
