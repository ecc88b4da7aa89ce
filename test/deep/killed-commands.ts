/** Owns a home whose commands are killed at their system calls, each followed by the next start. Knows no command. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { userMessage } from '#core/model/message.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { finishRestore } from '#surfaces/app/backup/restore-backup.ts';
import { homeAt } from '#surfaces/app/home/home.ts';
import { stateTables } from '#surfaces/app/rooms.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { COMPILE_CACHE, createCliStage } from '../scenario/cli-process.ts';
import { verifies } from '../verifies.ts';

const MAIN = process.env.TALARIA_TEST_MAIN ?? join(import.meta.dirname, '../../src/surfaces/cli/main.ts');
/** What changes something on a disk. */
const CALLS = 'rename,unlink,link,mkdir,rmdir,fsync,fdatasync,ftruncate,pwrite64,chmod,fchmod,write';
const KILLS = Number(process.env.KILLS ?? 84);
const works = spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0;
const options = works ? { timeout: 600_000 } : { skip: 'skipped: strace is missing (apt install strace)' };

export interface Ended {
  readonly killed: boolean;
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Next {
  readonly said: string;
  readonly titles: readonly string[];
}

export interface Place {
  readonly folder: string;
  readonly home: string;
}

function run(place: Place, args: readonly string[], traced: readonly string[] = []): Promise<Ended> {
  const command = [process.execPath, MAIN, ...args];
  const [program = '', ...rest] = traced.length > 0 ? ['strace', ...traced, ...command] : command;
  const child = spawn(program, rest, {
    cwd: place.folder,
    env: { PATH: process.env.PATH, HOME: place.folder, TALARIA_HOME: place.home, NODE_COMPILE_CACHE: COMPILE_CACHE },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const text = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    text.out += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    text.err += chunk;
  });
  return new Promise((done) =>
    child.once('close', (code, signal) => done({ ...text, code, killed: signal === 'SIGKILL' || code === 137 })),
  );
}

interface Moment {
  readonly call: string;
  /** The n-th of these calls of one thread. */
  readonly at: number;
}

/** Every call that a whole run makes. */
async function momentsOf(place: Place, args: readonly string[]): Promise<readonly Moment[]> {
  const log = join(place.folder, 'calls');
  await run(place, args, ['-f', '-qq', '-e', `trace=${CALLS}`, '-o', log]);
  const most = new Map<string, number>();
  const byThread = new Map<string, number>();
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    const [, thread, call] = /^(\d+) +(\w+)\(/.exec(line) ?? [];
    if (!thread || !call) continue;
    const count = (byThread.get(`${thread} ${call}`) ?? 0) + 1;
    byThread.set(`${thread} ${call}`, count);
    most.set(call, Math.max(most.get(call) ?? 0, count));
  }
  rmSync(log);
  return [...most].flatMap(([call, count]) => Array.from({ length: count }, (_, n) => ({ call, at: n + 1 })));
}

const killAt = ({ call, at }: Moment) => [
  ...['-f', '-qq', '-o', '/dev/null', '-e', `trace=${call}`],
  ...['-e', `inject=${call}:signal=SIGKILL:when=${at}`],
];

export interface Command {
  readonly args: readonly string[];
  /** Called after the start that follows the kill. */
  readonly check: (place: Place, killed: Ended, next: Next) => void;
}

export const SAYS = 'the harbour is acknowledged';

async function lived(home: string, text: string): Promise<void> {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const store = createSqliteSessionStore({ path: join(home, 'state.db') });
  const { id } = await store.create({ source: 'cli', cwd: '/' });
  await store.append(id, userMessage(text));
  await store.setTitle(id, text);
  await store.close();
  mkdirSync(join(home, 'memories'), { mode: 0o700 });
  writeFileSync(join(home, 'memories/MEMORY.md'), text, { mode: 0o600 });
  writeFileSync(join(home, 'config.yaml'), '# mine\nagent:\n  max_steps: 7\n', { mode: 0o600 });
}

async function template(t: TestContext): Promise<Place> {
  const { folder, root } = createCliStage(t);
  const place = { folder, home: root };
  const old = { folder, home: join(folder, 'old') };
  await lived(old.home, 'what the backup says');
  assert.equal((await run(old, ['backup', join(folder, 'b.tar.gz')])).code, 0);
  rmSync(old.home, { recursive: true });
  await lived(place.home, SAYS);
  writeFileSync(join(folder, 'notes.md'), 'The lighthouse was painted white in 1987.\n\nThe ferry leaves at nine.\n');
  return place;
}

export const memoryOf = (home: string) => readFileSync(join(home, 'memories/MEMORY.md'), 'utf8');

/** What was there before is there, as it was. */
export function keeps({ home }: Place, { titles }: Next): void {
  assert.ok(titles.includes(SAYS), titles.join());
  assert.equal(memoryOf(home), SAYS);
}

function hermes(folder: string): void {
  mkdirSync(join(folder, 'hermes/memories'), { recursive: true });
  writeFileSync(join(folder, 'hermes/memories/MEMORY.md'), 'prefers short answers\n§\nworks at night\n');
  writeFileSync(join(folder, 'hermes/config.yaml'), 'agent:\n  max_turns: 30\n');
}

/** As every start begins, without a process of its own: what it says, and the titles that it lists. */
async function nextStart(place: Place): Promise<Next> {
  const home = homeAt(place.home);
  const said = (await finishRestore(home)) ?? '';
  const store = createSqliteSessionStore({
    path: home.stateDatabase,
    rooms: await stateTables(),
    flags: home.openFlags,
  });
  try {
    return { said, titles: (await store.list()).map(({ title }) => title ?? '') };
  } finally {
    await store.close();
  }
}

/** So many of them, spread over all. */
const spread = (moments: readonly Moment[]) =>
  moments.filter(
    (_, at) => Math.floor((at * KILLS) / moments.length) !== Math.floor(((at - 1) * KILLS) / moments.length),
  );

async function killEach(t: TestContext, { args, check }: Command): Promise<number> {
  const from = await template(t);
  hermes(from.folder);
  await run(copyOf(t, from), args); // what is compiled is kept, and counts no more
  const waiting = spread(await momentsOf(copyOf(t, from), args));
  let kills = 0;
  const work = async () => {
    for (let moment = waiting.shift(); moment !== undefined; moment = waiting.shift()) {
      const place = copyOf(t, from);
      const killed = await run(place, args, killAt(moment));
      const next = await nextStart(place);
      check(place, killed, next);
      if (killed.killed) kills += 1;
      rmSync(place.folder, { recursive: true });
    }
  };
  await Promise.all(Array.from({ length: Math.min(4, cpus().length) }, work));
  return kills;
}

function copyOf(t: TestContext, from: Place): Place {
  const folder = createTempHome(t).path;
  cpSync(from.folder, folder, { recursive: true });
  return { folder, home: join(folder, 'home') };
}

/** A test: `command` is killed again and again, and what was acknowledged is there. */
export function survivesKills(name: string, command: Command): void {
  verifies(
    ['core:home:restore-whole', 'core:home:atomic-writes', 'core:session:corrupt-kept'],
    `${name}: what was acknowledged is there`,
    {
      options,
      run: async (context) => {
        const kills = await killEach(context as TestContext, command);
        console.log(`${name}: ${kills} kills`);
        assert.ok(kills > Math.min(15, KILLS / 2), `only ${kills} kills`);
      },
    },
  );
}
