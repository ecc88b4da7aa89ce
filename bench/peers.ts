/**
 * Row "peers": a prefetch with 200 known peers and nothing new, over real HTTP; and what encryption costs. The homeserver is the fake one, in a
 * process of its own, so that the figures are the agent's alone.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { systemClock } from '#base/clock.ts';
import { openDatabase } from '#base/database.ts';
import type { MemoryProvider } from '#core/agent/memory-provider.ts';
import { openMachineCrypto } from '#extensions/hive/crypto/machine-crypto.ts';
import { createFetchHttp, type MatrixHttp } from '#extensions/hive/matrix/matrix-http.ts';
import { createMatrixTransport } from '#extensions/hive/matrix/matrix-transport.ts';
import type { PeerTransport } from '#extensions/hive/peer.ts';
import { createHivemindProvider } from '#extensions/hive/provider/hivemind-provider.ts';
import { createSparkEngine } from '#extensions/hive/provider/spark-engine.ts';
import { sparkTasks } from '#extensions/hive/provider/sparks-by-rule.ts';
import { hiveSchema } from '#extensions/hive/settings.ts';
import { startFakeHomeserver } from '#testing/homeserver/fake-homeserver.ts';
import { type BenchRow, median, spread } from './bench-row.ts';

const PEERS = 200;
const PREFETCHES = 60;
/** Fewer than after which a key is replaced. */
const MESSAGES = 90;
const NEVER = new AbortController().signal;

interface Served {
  readonly url: string;
  /** The agent that knows the peers, then two that write to each other encrypted. */
  readonly accounts: readonly { readonly userId: string; readonly accessToken: string; readonly deviceId: string }[];
  /** Rooms, encrypted, in which those two are: as many as are known at the first and at the second look. */
  readonly rooms: readonly string[];
}

export async function benchPeers(): Promise<readonly BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'talaria bench '));
  const child = spawn(process.execPath, [import.meta.filename], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    const served: Served = JSON.parse(String(line));
    return [...(await prefetchRows(served)), ...(await encryptionRows(served, folder))];
  } finally {
    child.stdin.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function prefetchRows({ url, accounts: [account] }: Served): Promise<readonly BenchRow[]> {
  if (account === undefined) throw new Error('the server gave no account');
  let requests = 0;
  const fetched = createFetchHttp({ homeserver: url, accessToken: account.accessToken }, systemClock);
  const http: MatrixHttp = (call, signal) => {
    requests += 1;
    return fetched(call, signal);
  };
  const transport = createMatrixTransport({
    account: { homeserver: url, userId: account.userId, accessToken: account.accessToken },
    config: hiveSchema.parse({ join: { per_turn: PEERS } }),
    clock: systemClock,
    http,
    warn: (text) => console.error(text),
  });
  const provider = providerOf(transport);
  await provider.start({ sessionId: 's', source: 'cli', cwd: '/', audience: 'primary' }, NEVER);
  await settle(provider, () => requests);
  if (transport.peers().length !== PEERS) throw new Error(`${transport.peers().length} peers are known`);
  const cpu: number[] = [];
  const counts: number[] = [];
  for (let at = 0; at < PREFETCHES; at += 1) {
    const [asked, before] = [requests, process.cpuUsage()];
    await provider.prefetch('what is new?', NEVER);
    await provider.turnEnded?.({ sessionId: 's', source: 'cli', cwd: '/' }, []);
    cpu.push(milliseconds(process.cpuUsage(before)));
    counts.push(requests - asked);
  }
  await provider.stop();
  const most = Math.max(...counts);
  return [
    {
      metric: 'peers: requests of a prefetch',
      value: most,
      unit: '',
      target: '1',
      ok: most === 1,
      note: `${PEERS} known peers, nothing new, ${PREFETCHES} prefetches; the most of them`,
    },
    {
      metric: 'peers: own CPU of a prefetch',
      value: median(cpu),
      unit: 'ms',
      target: '≤ 5 ms',
      ok: median(cpu) <= 5,
      note: `the same, with the end of the turn; ${spread(cpu)}; server in a process of its own`,
    },
  ];
}

/** Until summaries and suggestions of all peers are made: two prefetches in a row that ask for nothing but news. */
async function settle(provider: MemoryProvider, requests: () => number): Promise<void> {
  for (let quiet = 0, at = 0; quiet < 3; at += 1) {
    if (at > PEERS * 3) throw new Error('the prefetches never come to rest');
    const before = requests();
    await provider.prefetch('what is new?', NEVER);
    await provider.turnEnded?.({ sessionId: 's', source: 'cli', cwd: '/' }, []);
    quiet = requests() - before === 1 ? quiet + 1 : 0;
  }
}

function providerOf(transport: PeerTransport): MemoryProvider {
  const answers = new Map(sparkTasks().map((task) => [task.schema, task.load]));
  const engine = createSparkEngine({
    clock: systemClock,
    warn: (text) => console.error(text),
    infer: async ({ input }) => {
      const answer = await answers.get(String(input.schema_version))?.();
      return { text: answer?.(input) ?? '', byRule: true };
    },
  });
  return createHivemindProvider({ open: async () => transport, engine, clock: systemClock, warn: console.error });
}

async function encryptionRows(served: Served, folder: string): Promise<readonly BenchRow[]> {
  const [, alice, bob] = served.accounts;
  if (alice === undefined || bob === undefined) throw new Error('the server gave too few accounts');
  const written = { bytes: 0 };
  const [sender, reader] = [
    await openAgent(served, alice, { folder: join(folder, 'alice'), written }),
    await openAgent(served, bob, { folder: join(folder, 'bob'), written: { bytes: 0 } }),
  ];
  await sender.sync();
  await reader.sync();
  await sender.sync();
  const members = [alice.userId, bob.userId];
  const target = (roomId: string) => ({ roomId, members, settings: { algorithm: 'm.megolm.v1.aes-sha2' } });
  const say = (roomId: string, body: string) =>
    sender.crypto.encrypt(target(roomId), [{ type: 'm.room.message', content: { msgtype: 'm.text', body } }], NEVER);
  const sizes: number[] = [];
  for (const [at, roomId] of served.rooms.entries()) {
    await say(roomId, 'first');
    if (at !== 9 && at !== served.rooms.length - 1) continue;
    written.bytes = 0;
    await say(roomId, 'second');
    sizes.push(written.bytes);
  }
  // A server hands keys out a hundred at a time.
  for (let at = 0; at < 2 + served.rooms.length / 100; at += 1) await reader.sync();
  const [few = 0, many = 0] = sizes;
  const [roomId = ''] = served.rooms;
  const cpu: number[] = [];
  for (let at = 0; at < MESSAGES; at += 1) {
    const before = process.cpuUsage();
    const [content = {}] = await say(roomId, `message ${at}`);
    const event = {
      type: 'm.room.encrypted',
      sender: alice.userId,
      event_id: `$e${at}`,
      origin_server_ts: at,
      content,
    };
    const clear = await reader.crypto.decrypt(roomId, event);
    cpu.push(milliseconds(process.cpuUsage(before)));
    if (clear?.content.body !== `message ${at}`) throw new Error('a message could not be read');
  }
  await Promise.all([sender.crypto.close(), reader.crypto.close()]);
  return [
    {
      metric: 'peers: crypto CPU of a message',
      value: median(cpu),
      unit: 'ms',
      target: '≤ 2 ms',
      ok: median(cpu) <= 2,
      note: `encrypted, stored, decrypted by another; keys were shared before; ${spread(cpu)}`,
    },
    {
      metric: 'peers: store write of a batch, many rooms / few',
      value: many / few,
      unit: '×',
      target: 'size independent of all rooms known',
      ok: many / few <= 1.1,
      note: `${few} bytes with 10 encrypted rooms known, ${many} with ${served.rooms.length}`,
    },
  ];
}

interface AgentPlace {
  readonly folder: string;
  readonly written: { bytes: number };
}

async function openAgent({ url }: Served, account: Served['accounts'][number], { folder, written }: AgentPlace) {
  const http = createFetchHttp({ homeserver: url, accessToken: account.accessToken }, systemClock);
  const counting: typeof openDatabase = (...args) => {
    const opened = openDatabase(...args);
    const run = opened.database.run.bind(opened.database);
    opened.database.run = (sql, ...values) => {
      for (const value of values)
        written.bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8;
      return run(sql, ...values);
    };
    return opened;
  };
  const { userId, deviceId } = account;
  const crypto = await openMachineCrypto({
    ...{ http, userId, deviceId, folder, clock: systemClock, warn: (text: string) => console.error(text) },
    openDatabase: counting,
  });
  let since: string | undefined;
  const sync = async () => {
    const query = { timeout: '0', ...(since === undefined ? {} : { since }) };
    const answer = await http({ method: 'GET', path: ['v3', 'sync'], query }, NEVER);
    const parsed: KeyAnswer = JSON.parse(JSON.stringify(answer));
    since = parsed.next_batch;
    await crypto.receive(
      {
        toDevice: parsed.to_device?.events ?? [],
        changed: parsed.device_lists?.changed ?? [],
        left: parsed.device_lists?.left ?? [],
        oneTimeKeyCounts: parsed.device_one_time_keys_count ?? {},
        unusedFallbackKeyTypes: parsed.device_unused_fallback_key_types ?? [],
        next: parsed.next_batch,
      },
      NEVER,
    );
  };
  return { crypto, sync };
}

interface KeyAnswer {
  readonly next_batch: string;
  readonly to_device?: { readonly events: Record<string, never>[] };
  readonly device_lists?: { readonly changed?: string[]; readonly left?: string[] };
  readonly device_one_time_keys_count?: Record<string, number>;
  readonly device_unused_fallback_key_types?: string[];
}

function milliseconds({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1_000;
}

/** Until its standard input closes. */
async function serve(): Promise<void> {
  const server = await startFakeHomeserver();
  const accounts = ['me', 'alice', 'bob'].map((name) => server.doors.addAccount(name));
  const [me, alice, bob] = accounts;
  if (!me || !alice || !bob) throw new Error('no accounts');
  for (let at = 0; at < PEERS; at += 1) {
    const peer = server.doors.addAccount(`peer${at}`);
    const introducer = server.doors.addAccount(`friend${at % 7}`);
    const about = `About ${peer.userId}: Peer ${at} needs somebody for bay ${at} and can repair boat ${at * 7}.`;
    server.doors.addRoom({
      creator: introducer.userId,
      join: [me.userId, peer.userId],
      messages: [about, `About ${me.userId}: somebody`],
    });
  }
  const shared = { creator: alice.userId, join: [bob.userId], encrypted: true };
  const rooms = Array.from({ length: PEERS }, () => server.doors.addRoom(shared));
  process.stdout.write(`${JSON.stringify({ url: server.url, accounts, rooms } satisfies Served)}\n`);
  process.stdin.resume();
  await once(process.stdin, 'end');
  await server.stop();
}

if (process.argv[1] === import.meta.filename) await serve();
