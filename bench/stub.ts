/** Starting the stub server and whole processes against it, and reading what arrived. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

export const root = resolve(import.meta.dirname, '..');

export interface Arrival {
  /** Milliseconds since the epoch. */
  readonly arrived: number;
  readonly body?: RequestBody;
}

export interface RequestBody {
  readonly model: string;
  readonly messages: readonly unknown[];
  readonly tools?: readonly unknown[];
}

export interface Stub {
  readonly baseUrl: string;
  /** Every request since the last call. */
  take(): readonly Arrival[];
  stop(): void;
}

export async function startStub(options: { readonly rounds: number; readonly bodies?: boolean }): Promise<Stub> {
  const env = { ...process.env, ROUNDS: String(options.rounds), ...(options.bodies ? { BODIES: '1' } : {}) };
  const child = spawn(process.execPath, [join(root, 'bench/stub-server.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  });
  let arrivals: Arrival[] = [];
  const port = await new Promise<number>((found, failed) => {
    child.once('exit', () => failed(new Error('the stub server did not start')));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const value: Arrival | { port: number } = JSON.parse(line);
      if ('port' in value) found(value.port);
      else arrivals.push(value);
    });
  });
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    take: () => {
      const taken = arrivals;
      arrivals = [];
      return taken;
    },
    stop: () => stop(child),
  };
}

function stop(child: ChildProcess): void {
  child.removeAllListeners('exit');
  child.kill();
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface Ran {
  /** Milliseconds since the epoch when the process was spawned. */
  readonly started: number;
  readonly ms: number;
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A session is opened in a folder of its own, not in the system's temporary one. */
function workFolder(): string {
  const folder = join(tmpdir(), 'talaria-bench-work');
  mkdirSync(folder, { recursive: true });
  return folder;
}

export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const from = performance.now();
  const started = performance.timeOrigin + from;
  const env = { ...process.env, ...options.env };
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env, cwd: options.cwd ?? workFolder() });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('close', (code) => done({ started, ms: performance.now() - from, code: code ?? -1, out, err }));
  });
}

/** What processes are started from, where a source is newer. */
export async function buildStale(): Promise<void> {
  const built = await run(process.execPath, [join(root, 'scripts/build.ts'), '--if-stale']);
  if (built.code !== 0) throw new Error(built.err);
}

export interface BenchHome {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  remove(): void;
}

/** A home with a real config that points at the stub, and no other key in the environment. */
/** Without walls commands cost what they cost; rows about walls ask for them. */
export function benchHome(baseUrl: string, walls: 'auto' | 'machine' = 'machine'): BenchHome {
  const folder = mkdtempSync(join(tmpdir(), 'talaria-bench-'));
  const config = `version: 1\nmodel: openai/stub-model\nagent:\n  max_steps: 500\nsandbox:\n  mode: ${walls}\n`;
  writeFileSync(join(folder, 'config.yaml'), config, { mode: 0o600 });
  const env = { TALARIA_HOME: folder, OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: 'bench-key-0000', BASE: baseUrl };
  return { folder, env, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

export const talaria = join(root, 'bin/talaria');
