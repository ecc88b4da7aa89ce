/**
 * A page in Debian's chromium, without a window: opened, looked at, photographed. Speaks the browser's own protocol over a web socket on
 * loopback. Nothing of it is kept: profile and cache lie in a folder that goes with it.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface View {
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  /** @default 'light' */
  readonly scheme?: 'light' | 'dark';
  /** Pixels of the picture for one of CSS. @default 1 */
  readonly scale?: number;
}

export interface ShownPage {
  /** Value of an expression, as JSON. */
  evaluate(expression: string): Promise<unknown>;
  /** PNG of what the view shows. */
  photograph(): Promise<Buffer>;
  /** Presses a key by its name in the protocol: `Tab`, `Enter`. */
  press(key: string): Promise<void>;
  /** What the page logged, what was refused by its policy, what it threw. */
  readonly complaints: readonly string[];
  /** Addresses that it asked for, itself left out. */
  readonly requests: readonly string[];
}

export interface Browser {
  open(address: string, view: View): Promise<ShownPage>;
  close(): Promise<void>;
}

/** Undefined: it is not there. */
export function findChromium(): string | undefined {
  return ['chromium', 'chromium-browser'].find((name) => spawnSync(name, ['--version']).status === 0);
}

export async function startChromium(program: string): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'talaria-chromium-'));
  const child = spawn(
    program,
    [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--disable-extensions',
      '--no-first-run',
      '--hide-scrollbars',
      '--remote-debugging-port=0',
      `--user-data-dir=${profile}`,
      'about:blank',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const wire = await connect(await listeningAddress(child));
  return {
    open: (address, view) => openPage(wire, address, view),
    close: async () => {
      wire.close();
      await ended(child);
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  await gone;
}

async function listeningAddress(child: ChildProcess): Promise<string> {
  if (!child.stderr) throw new Error('no standard error');
  for await (const line of createInterface({ input: child.stderr })) {
    const found = /^DevTools listening on (ws:\S+)/.exec(line);
    if (found?.[1]) {
      child.stderr.resume();
      return found[1];
    }
  }
  throw new Error('chromium ended before it listened');
}

type Message = Readonly<Record<string, unknown>>;
type Listener = (method: string, params: Message, session: string | undefined) => void;

interface Wire {
  send(method: string, params?: Message, session?: string): Promise<Message>;
  listen(listener: Listener): void;
  close(): void;
}

async function connect(address: string): Promise<Wire> {
  const socket = new WebSocket(address);
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error(`no answer from ${address}`));
  });
  const waiting = new Map<number, { resolve: (value: Message) => void; reject: (error: Error) => void }>();
  const listeners: Listener[] = [];
  let last = 0;
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(String(data)) as {
      id?: number;
      method?: string;
      params?: Message;
      sessionId?: string;
      result?: Message;
      error?: { message: string };
    };
    if (message.id === undefined) {
      for (const listener of listeners) listener(message.method ?? '', message.params ?? {}, message.sessionId);
      return;
    }
    const call = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error) call?.reject(new Error(message.error.message));
    else call?.resolve(message.result ?? {});
  };
  return {
    send: (method, params = {}, sessionId) =>
      new Promise((resolve, reject) => {
        last += 1;
        waiting.set(last, { resolve, reject });
        socket.send(JSON.stringify({ id: last, method, params, ...(sessionId ? { sessionId } : {}) }));
      }),
    listen: (listener) => void listeners.push(listener),
    close: () => socket.close(),
  };
}

async function openPage(
  wire: Wire,
  address: string,
  { width, height, scheme = 'light', scale = 1 }: View,
): Promise<ShownPage> {
  const { targetId } = await wire.send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await wire.send('Target.attachToTarget', { targetId, flatten: true });
  const session = String(sessionId);
  const send = (method: string, params?: Message) => wire.send(method, params, session);
  const complaints: string[] = [];
  const requests: string[] = [];
  const { promise: whenLoaded, resolve: loaded } = Promise.withResolvers<void>();
  wire.listen((method, params, from) => {
    if (from !== session) return;
    if (method === 'Page.loadEventFired') loaded();
    if (method === 'Network.requestWillBeSent') requests.push((params as { request: { url: string } }).request.url);
    if (/^(Runtime\.(consoleAPICalled|exceptionThrown)|Log\.entryAdded)$/.test(method))
      complaints.push(JSON.stringify(params));
  });
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await send(`${domain}.enable`);
  await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: scale, mobile: false });
  await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
  await send('Page.navigate', { url: address });
  await whenLoaded;
  return {
    complaints,
    get requests() {
      return requests.filter((url) => url.replace(/#.*/, '') !== address.replace(/#.*/, ''));
    },
    evaluate: async (expression) => {
      const answer = await send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
      if (answer.exceptionDetails) throw new Error(JSON.stringify(answer.exceptionDetails));
      return (answer.result as { value?: unknown }).value;
    },
    photograph: async () => {
      const { data } = await send('Page.captureScreenshot', { format: 'png' });
      return Buffer.from(String(data), 'base64');
    },
    press: async (key) => {
      const code = { Tab: 9, Enter: 13, Space: 32 }[key] ?? 0;
      const text = key === 'Enter' ? { text: '\r' } : {};
      await send('Input.dispatchKeyEvent', { type: 'keyDown', key, code: key, windowsVirtualKeyCode: code, ...text });
      await send('Input.dispatchKeyEvent', { type: 'keyUp', key, code: key, windowsVirtualKeyCode: code });
    },
  };
}
