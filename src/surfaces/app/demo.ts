// Owns `demo`: two real processes of the real command in a home of its own; the second knows what the first was told.
// Knows no tool and no rule. Invariant: nothing is staged: every line shown comes from those processes or from the files they left.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Clock, localDate } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { privateFolder } from '#base/platform.ts';
import type { CommandOutput } from '#core/agent/command-spec.ts';
import { createMemoryFiles } from '#mind/memory/memory-files.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import type { Environment } from './environment.ts';
import { type Home, homeAt } from './home/home.ts';

export interface DemoOptions {
  readonly environment: Environment;
  readonly clock: Clock;
  /** How this very program is started: executable and its arguments up to our own. */
  readonly program: readonly string[];
}

const PORT = '4711';
const FIRST = [
  'read notes.txt',
  'run `wc -w notes.txt`',
  `remember that my project is called sandal and its port is ${PORT}`,
];
const SECOND = ['what do you know about sandal'];

const NOTES = `Sandal: notes for the demo
Decision: the service listens on port 4711, since 8080 was taken.
Owner: you.
`;

/** Throws TalariaError `demo-failed` when a process fails or what it should have left is not there. */
export async function* runDemo(options: DemoOptions, signal: AbortSignal): AsyncGenerator<CommandOutput> {
  const place = makePlace(options);
  yield line('Talaria demo: two processes, no key, no language model (reflex/1), nothing staged.');
  yield line(`home    ${place.home.root}`);
  yield line(`folder  ${place.folder}`);
  yield line('');
  yield line('First process: reads a file, runs a command, remembers a fact.');
  yield* play(FIRST, { ...place, options }, signal);
  yield line('');
  yield line('Second process, started anew: recalls it.');
  const recalled: string[] = [];
  for await (const output of play(SECOND, { ...place, options }, signal)) {
    if (output.type === 'line') recalled.push(output.text);
    yield output;
  }
  if (!recalled.some((text) => text.includes(PORT)))
    throw broken('the second process did not recall the fact', place.home);
  yield line('');
  yield* report(place.home);
}

interface Place {
  readonly home: Home;
  readonly folder: string;
}

function line(text: string): CommandOutput {
  return { type: 'line', text };
}

/** Kept after the demo, and never the person's own home. */
function makePlace({ environment, clock }: DemoOptions): Place {
  const { year, month, day, hour, minute, second } = localDate(clock.now());
  const two = (value: number) => String(value).padStart(2, '0');
  const stamp = `${year}${two(month)}${two(day)}-${two(hour)}${two(minute)}${two(second)}-${randomHex(2)}`;
  const root = join(dataFolder(environment), stamp);
  const folder = join(root, 'folder');
  privateFolder(root);
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'notes.txt'), NOTES, { mode: 0o600 });
  return { home: homeAt(join(root, 'home')), folder };
}

function dataFolder({ variables, userHome }: Environment): string {
  const base = variables.XDG_DATA_HOME || (existsSync(userHome) ? join(userHome, '.local', 'share') : tmpdir());
  const folder = join(base, 'talaria-demo');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  } catch {
    // A machine where the data folder cannot be written: the temporary one is as good for a demo.
    return join(tmpdir(), 'talaria-demo');
  }
}

/** One chat process without a terminal: the lines are typed into it one by one, its output is passed on as it comes. */
async function* play(
  lines: readonly string[],
  { home, folder, options }: Place & { readonly options: DemoOptions },
  signal: AbortSignal,
): AsyncGenerator<CommandOutput> {
  for (const typed of lines) yield line(`  you type: ${typed}`);
  const [program = process.execPath, ...args] = options.program;
  const child = spawn(program, [...args, '--plain', '--model', 'reflex'], {
    cwd: folder,
    env: { ...options.environment.variables, TALARIA_HOME: home.root, NO_COLOR: '1' },
    stdio: ['pipe', 'pipe', 'pipe'],
    signal,
  });
  const errors: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString('utf8')));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  ended.catch(() => undefined);
  child.stdin.on('error', (error) => errors.push(errorText(error)));
  child.stdin.end(`${lines.join('\n')}\n`);
  for await (const text of createInterface({ input: child.stdout })) yield line(`  ${text}`);
  const code = await ended;
  if (code === 0) return;
  throw broken(`a process of the demo left with ${code}: ${errors.join('').trim()}`, home);
}

function broken(message: string, home: Home): TalariaError {
  return new TalariaError(message, { code: 'demo-failed', fix: `Its home is kept: ${home.root}` });
}

/** What the two processes left, read back from their files. */
async function* report(home: Home): AsyncGenerator<CommandOutput> {
  const memory = createMemoryFiles({ root: home.memories });
  const store = createSqliteSessionStore({ path: home.stateDatabase, readOnly: true });
  try {
    const sessions = await store.list({ limit: 10 });
    const entries = (['memory', 'user'] as const).flatMap((target) => {
      const state = memory.read(target);
      return state.ok && state.value.entries.length > 0
        ? [{ path: memory.path(target), entries: state.value.entries }]
        : [];
    });
    if (sessions.length < 2 || entries.length === 0) {
      throw broken('the demo did not leave two sessions and a memory', home);
    }
    yield line('What was stored, and where:');
    yield line(`  sessions ${home.stateDatabase}`);
    for (const session of sessions)
      yield line(`    ${session.id}  ${session.messageCount} messages, ${session.toolCallCount} tool calls`);
    for (const { path, entries: kept } of entries) {
      yield line(`  memory   ${path}`);
      for (const entry of kept) yield line(`    § ${entry}`);
    }
    const costs = await store.costs();
    const total = costs.reduce((sum, row) => sum + row.cost, 0);
    yield line(`What it cost: $${total.toFixed(4)} in ${costs.reduce((sum, row) => sum + row.calls, 0)} model calls`);
    yield line(`Look around: TALARIA_HOME=${home.root} talaria sessions list`);
    yield {
      type: 'data',
      value: {
        home: home.root,
        sessions: sessions.map((session) => session.id),
        memory: entries.map((entry) => entry.path),
        cost: total,
      },
    };
  } finally {
    await store.close();
  }
}
