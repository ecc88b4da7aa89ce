/**
 * Starts a real Matrix homeserver on loopback with a free port and no past: `node scripts/start-synapse.ts [ENVIRONMENT]`, where
 * ENVIRONMENT is what `sh scripts/fetch-synapse.sh` printed (default: TALARIA_TEST_SYNAPSE, then its usual place). Prints one line,
 * `READY <url> <data folder>`, and serves until standard input closes or SIGINT, SIGTERM or SIGHUP comes; then nothing is left.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findSynapse } from './synapse/find-synapse.ts';
import { writeSynapseConfig } from './synapse/synapse-config.ts';

const START_MS = 60_000;
const END_MS = 5_000;
const named = process.argv[2];
const python = findSynapse(named === undefined ? process.env : { ...process.env, TALARIA_TEST_SYNAPSE: named });
if (python === undefined) {
  console.error('There is no homeserver to start: `sh scripts/fetch-synapse.sh` installs one and prints where.');
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), 'talaria-synapse-'));
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const output: Buffer[] = [];
const server = spawn(python, [join(import.meta.dirname, 'synapse', 'serve.py'), writeSynapseConfig({ folder, port })], {
  stdio: ['pipe', 'pipe', 'pipe'],
});
const ended = once(server, 'exit').catch((error: unknown) => output.push(Buffer.from(`${python}: ${error}\n`)));
let stopping = false;
let over = false;
ended.finally(() => {
  over = true;
});
server.stdout.on('data', (bytes: Buffer) => output.push(bytes));
server.stderr.on('data', (bytes: Buffer) => output.push(bytes));
// The server may be gone before its input is.
server.stdin.on('error', () => stop());

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
process.stdin.on('end', stop).on('close', stop).resume();

if (await answers()) console.log(`READY ${url} ${folder}`);
else if (!stopping) {
  console.error(`The homeserver did not start.\n${lastWords()}`);
  process.exitCode = 1;
  stop();
}
await ended;
if (!stopping) {
  console.error(`The homeserver ended by itself.\n${lastWords()}`);
  process.exitCode = 1;
}
rmSync(folder, { recursive: true, force: true });
process.exit();

/** Its end of the pipe closes, which ends the server; one that does not hear is killed. */
function stop(): void {
  if (stopping) return;
  stopping = true;
  server.stdin.end();
  setTimeout(() => server.kill('SIGKILL'), END_MS).unref();
}

async function answers(): Promise<boolean> {
  const until = performance.now() + START_MS;
  while (performance.now() < until && !over && !stopping) {
    const answer = await fetch(`${url}/_matrix/client/versions`).catch(() => undefined);
    if (answer?.ok === true) return true;
    await sleep(50);
  }
  return false;
}

function lastWords(): string {
  const log = join(folder, 'homeserver.log');
  const logged = existsSync(log) ? readFileSync(log, 'utf8') : '';
  return `${logged}${Buffer.concat(output).toString('utf8')}`.split('\n').slice(-40).join('\n').trim();
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('there is no free port on loopback');
  return address.port;
}
