// Owns the network that all enclosed commands of one process share: who holds its namespace, and the proxy at its only door. Knows no
// mount. Invariants: a background server and a later command meet in it; nothing in it reaches the machine's own network but through the
// proxy; where it cannot be had, a command has a network of its own that leads nowhere.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { systemClock } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { parseJsonObject } from '#base/json.ts';
import type { WallTools } from './probe.ts';
import { type Admission, createProxy, type Gate, leadTo, type ProxyOptions, type WallProxy } from './proxy.ts';

export type SharedNetwork = ReturnType<typeof shareNetwork>;

export interface Entry {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Of the proxy, as the command sees it. */
  readonly port: number;
  readonly admission: Admission;
}

/** Beyond the ports that a system gives out by itself. */
const PORT = 61_080;
const READY_MS = 20_000;
const SMALL = ['--max-semi-space-size=1', '--v8-pool-size=0'];

interface Opened {
  readonly proxy: WallProxy;
  /** Of the machine's servers that the owner named. */
  readonly leads: readonly { close(): void }[];
  readonly argv: readonly string[];
  readonly port: number;
  /** None on macOS, where there are no namespaces. */
  readonly holder?: ChildProcess;
}

/** `folder`: a private one for the proxy's socket. */
export function shareNetwork(tools: WallTools, folder: string, options: ProxyOptions) {
  const { bwrap, nsenter } = tools;
  let missing: string | undefined = bwrap !== '' && nsenter === undefined ? 'nsenter is missing' : undefined;
  let opening: Promise<Opened | undefined> | undefined;
  const open = async (): Promise<Opened | undefined> => {
    const proxy = createProxy(options);
    const leads: { close(): void }[] = [];
    try {
      if (bwrap === '' || nsenter === undefined) return { proxy, leads, argv: [], port: await proxy.listen(0) };
      const path = join(folder, 'proxy');
      await proxy.listen(path);
      const pairs = [path, String(PORT)];
      for (const port of loopbackPorts(options.hosts)) {
        const socket = join(folder, `port-${port}`);
        leads.push(await leadTo(socket, { address: '127.0.0.1', port }));
        pairs.push(socket, String(port));
      }
      const holder = await startHolder(tools, pairs);
      holder.child.once('exit', () => {
        opening = undefined; // the next command makes another
        void proxy.close();
        for (const lead of leads) lead.close();
      });
      const argv = [nsenter, '-t', String(holder.pid), '--user', '--net', '--preserve-credentials'];
      return { proxy, leads, argv, port: PORT, holder: holder.child };
    } catch (error) {
      missing = errorText(error);
      for (const lead of leads) lead.close();
      await proxy.close();
      return undefined;
    }
  };
  return {
    /** Why it cannot be had, once that is known. */
    missing: () => missing,
    /** Arguments that put a program into it, and what its environment needs; undefined where it cannot be had. */
    async enter(gate: Gate): Promise<Entry | undefined> {
      if (missing !== undefined) return undefined;
      opening ??= open();
      const opened = await opening;
      if (!opened) return undefined;
      const { proxy, argv, port } = opened;
      const admission = proxy.admit(gate);
      return { argv, port, env: proxyVariables(`http://${admission.credentials}@127.0.0.1:${port}`), admission };
    },
    async close(): Promise<void> {
      const opened = await opening;
      missing = 'closed';
      opened?.holder?.kill('SIGKILL');
      for (const lead of opened?.leads ?? []) lead.close();
      await opened?.proxy.close();
    },
  };
}

/** Servers of this machine that the owner named stand at the same ports of the commands' own loopback. */
function loopbackPorts(hosts: readonly string[]): readonly number[] {
  const ports = hosts.flatMap((host) => /^(?:localhost|127\.0\.0\.1|\[::1\]):(\d{1,5})$/.exec(host)?.[1] ?? []);
  return [...new Set(ports.map(Number))].filter((port) => port > 0 && port < 65_536 && port !== PORT);
}

/** What programs read to find a proxy; Node from 24 on only when it is told to. */
function proxyVariables(address: string): Readonly<Record<string, string>> {
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
  const own = 'localhost,127.0.0.1,::1';
  return {
    ...Object.fromEntries(names.map((name) => [name, address])),
    NO_PROXY: own,
    no_proxy: own,
    NODE_USE_ENV_PROXY: '1',
    // A private home forgets that it was asked: each `npm test` would look for news of npm.
    NO_UPDATE_NOTIFIER: '1',
    npm_config_update_notifier: 'false',
  };
}

/** Resolves when the forwarder listens, with whose namespaces are entered. Rejects with what the holder said. */
async function startHolder({ bwrap }: WallTools, pairs: readonly string[]) {
  const file = forwarderFile();
  if (file === undefined) throw new Error('the forwarder is not installed');
  // Not a fresh /dev: bubblewrap would make a second user namespace for it, and a plain user could not enter the network then.
  const view = ['--ro-bind', '/', '/', '--dev-bind', '/dev', '/dev', '--proc', '/proc'];
  const walls = ['--unshare-user', '--unshare-net', '--unshare-pid', '--die-with-parent', '--info-fd', '3', '--'];
  const program = [process.execPath, ...SMALL, file, ...pairs];
  const child = spawn(bwrap, [...view, ...walls, ...program], {
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const [, ready, said, info] = child.stdio as readonly (Readable | null)[];
  if (!ready || !said || !info) throw new Error('the holder of the network has no pipes');
  let errors = '';
  said.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString('utf8')).slice(-500);
  });
  const over = Promise.withResolvers<never>();
  child.once('error', over.reject);
  child.once('exit', () => over.reject(new Error(errors.trim() || 'the holder of the network ended')));
  const cancel = systemClock.after(READY_MS, () =>
    over.reject(new Error('the holder of the network did not get ready')),
  );
  try {
    const [told] = await Promise.race([Promise.all([firstOf(info), firstOf(ready)]), over.promise]);
    const parsed = parseJsonObject(told);
    const pid = parsed.ok ? Number(parsed.value['child-pid']) : Number.NaN;
    if (!Number.isInteger(pid)) throw new Error(`bubblewrap did not say whom it started: ${told}`);
    return { child, pid };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    cancel();
    over.promise.catch(() => undefined);
    child.unref();
    for (const stream of [ready, said, info]) (stream as Readable & { unref?: () => void }).unref?.();
  }
}

/** Everything up to a closing brace or the word that is waited for. */
function firstOf(stream: Readable): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      if (/\}|ready/.test(text)) resolve(text);
    });
  });
}

/** In the source beside us; in the bundle an entry of its own, beside or above the chunk that we are in. */
function forwarderFile(): string | undefined {
  const places = ['./forwarder.worker.ts', './forwarder.worker.js', '../forwarder.worker.js'];
  return places.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((path) => existsSync(path));
}
