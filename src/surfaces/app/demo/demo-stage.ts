// Owns what every demo stands on: a home and a folder of its own, kept afterwards, and real processes of the real command in them.
// Knows no story. Invariant: nothing is staged: what is shown comes out of those processes or out of the files they left.
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
import type { Environment } from '../environment.ts';
import { type Home, homeAt } from '../home/home.ts';

export interface DemoOptions {
  readonly environment: Environment;
  readonly clock: Clock;
  /** How this very program is started: executable and its arguments up to our own. */
  readonly program: readonly string[];
}

export interface DemoStage {
  readonly home: Home;
  readonly folder: string;
  /** A chat without a terminal: the lines are typed into it one by one, its output is passed on as it comes. */
  chat(lines: readonly string[], signal: AbortSignal): AsyncGenerator<CommandOutput>;
  /** One command of the shell. */
  run(words: readonly string[], signal: AbortSignal): AsyncGenerator<CommandOutput>;
}

export function line(text: string): CommandOutput {
  return { type: 'line', text };
}

export function broken(message: string, home: Home): TalariaError {
  return new TalariaError(message, { code: 'demo-failed', fix: `Its home is kept: ${home.root}` });
}

/** Kept after the demo, and never the person's own home. `files`: name and text of what lies in its folder. */
export function openStage(options: DemoOptions, files: Readonly<Record<string, string>>): DemoStage {
  const { environment, clock } = options;
  const { year, month, day, hour, minute, second } = localDate(clock.now());
  const two = (value: number) => String(value).padStart(2, '0');
  const stamp = `${year}${two(month)}${two(day)}-${two(hour)}${two(minute)}${two(second)}-${randomHex(2)}`;
  const root = join(dataFolder(environment), stamp);
  const folder = join(root, 'folder');
  privateFolder(root);
  mkdirSync(folder, { mode: 0o700 });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 });
  const place = { home: homeAt(join(root, 'home')), folder, options };
  return {
    home: place.home,
    folder,
    async *chat(lines, signal) {
      for (const typed of lines) yield line(`  you type: ${typed}`);
      yield* play(place, { args: ['--plain', '--model', 'reflex'], typed: lines }, signal);
    },
    async *run(words, signal) {
      yield line(`  $ talaria ${words.join(' ')}`);
      yield* play(place, { args: words, typed: [] }, signal);
    },
  };
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

interface Place {
  readonly home: Home;
  readonly folder: string;
  readonly options: DemoOptions;
}

async function* play(
  { home, folder, options }: Place,
  { args, typed }: { readonly args: readonly string[]; readonly typed: readonly string[] },
  signal: AbortSignal,
): AsyncGenerator<CommandOutput> {
  const [program = process.execPath, ...first] = options.program;
  const child = spawn(program, [...first, ...args], {
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
  child.stdin.end(typed.map((text) => `${text}\n`).join(''));
  for await (const text of createInterface({ input: child.stdout })) yield line(`  ${text}`);
  const code = await ended;
  if (code === 0) return;
  throw broken(`a process of the demo left with ${code}: ${errors.join('').trim()}`, home);
}
