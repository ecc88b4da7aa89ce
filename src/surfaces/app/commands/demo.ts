// Owns the two demos: a fact that the second process recalls, and the seed's story (001 ch 11, 12), in which a task becomes a skill after review
// and the owner's yes, a correction patches it, and `why` shows the messages behind it. Knows no rule and no tool.
// Invariant: what is claimed is looked up in the files that the processes left.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Clock } from '#base/clock.ts';
import { fileStamp } from '#base/database/damage.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { demoFolder, privateFolder } from '#base/platform.ts';
import { type CommandOutput, line } from '#core/agent/command-spec.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { evidenceSchema } from '#mind/evidence/proposal-schema.ts';
import { createMemoryFiles } from '#mind/memory/memory-files.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import type { Environment } from '../environment.ts';
import { type Home, homeAt } from '../home/home.ts';

const FILES = {
  'build.sh': 'mkdir -p out && tr a-z A-Z < page.txt > out/page.txt && echo built\n',
  'check.sh': 'test -s out/page.txt && echo fine || { echo "out/page.txt is missing: build first"; exit 1; }\n',
  'page.txt': 'sandals with wings\n',
};

const TASK = [
  'run `sh check.sh`',
  'run `sh build.sh`',
  'run `sh check.sh` and run `wc -c out/page.txt`',
  'run `sh build.sh`',
  'run `sh check.sh` and run `wc -c out/page.txt`',
  'remember that I prefer pages that end with a checksum',
];
const CHECKSUM = 'cksum out/page.txt';

/** Throws TalariaError `demo-failed` when a process fails, or when a step of the story did not happen. */
export async function* runLearningDemo(options: DemoOptions, signal: AbortSignal): AsyncGenerator<CommandOutput> {
  const stage = openStage(options, FILES);
  yield line('Talaria learns: four processes, no key, no language model (reflex/1), nothing staged.');
  yield line(`home    ${stage.home.root}`);
  yield line(`folder  ${stage.folder}`);
  yield line('');
  yield line('1. A task of several steps, with a dead end, done twice. When the chat ends, it is reviewed.');
  yield* stage.chat(TASK, signal);
  const name = await waitingSkill(stage);
  yield line('');
  yield line('2. A new process offers the draft; you say yes, use it, and correct it.');
  yield* stage.chat([`/pending accept ${name}`, `do ${name}`, `no, also run \`${CHECKSUM}\``], signal);
  const path = patchedSkill(stage, name);
  yield line('');
  yield line('3. A third process uses the patched skill.');
  const replayed: string[] = [];
  for await (const output of stage.chat([`do ${name}`], signal)) {
    if (output.type === 'line') replayed.push(output.text);
    yield output;
  }
  if (!replayed.some((text) => text.includes(CHECKSUM))) throw broken('the patched step was not replayed', stage.home);
  yield line('');
  yield line('4. A fourth one says why: the messages behind each version.');
  yield* stage.run(['skills', 'why', name], signal);
  yield* stage.run(['skills', 'diff', name], signal);
  yield* stage.run(['memory', 'why'], signal);
  yield line('');
  yield line(`The skill: ${path}`);
  for (const text of readFileSync(path, 'utf8').trimEnd().split('\n')) yield line(`  ${text}`);
  yield line(`Look around: TALARIA_HOME=${stage.home.root} talaria skills list`);
  yield { type: 'data', value: { home: stage.home.root, skill: name, path } };
}

/** Name of the skill that the review drafted. */
async function waitingSkill({ home }: DemoStage): Promise<string> {
  const store = createSqliteSessionStore({ path: home.stateDatabase, readOnly: true, rooms: [evidenceSchema] });
  try {
    const [draft] = createProposalLedger({ database: store.database }).list({ status: 'pending', kind: 'skill' });
    if (!draft) throw broken('the review drafted no skill', home);
    return draft.target;
  } finally {
    await store.close();
  }
}

function patchedSkill({ home }: DemoStage, name: string): string {
  const path = join(home.skills, name, 'SKILL.md');
  if (!existsSync(path)) throw broken(`there is no skill ${name} after the yes`, home);
  if (!readFileSync(path, 'utf8').includes(CHECKSUM)) throw broken('the correction did not reach the skill', home);
  return path;
}

// What every demo stands on: a home and a folder of its own, kept afterwards, and real processes of the real command in them.
// Knows no story. Invariant: nothing is staged: what is shown comes out of those processes or out of the files they left.

export interface DemoOptions {
  readonly environment: Environment;
  readonly clock: Clock;
  /** How this very program is started: executable and its arguments up to our own. */
  readonly program: readonly string[];
}

interface DemoStage {
  readonly home: Home;
  readonly folder: string;
  /** A chat without a terminal: the lines are typed into it one by one, its output is passed on as it comes. */
  chat(lines: readonly string[], signal: AbortSignal): AsyncGenerator<CommandOutput>;
  /** One command of the shell. */
  run(words: readonly string[], signal: AbortSignal): AsyncGenerator<CommandOutput>;
}

function broken(message: string, home: Home): TalariaError {
  return new TalariaError(message, { code: 'demo-failed', fix: `Its home is kept: ${home.root}` });
}

/** Kept after the demo, and never the person's own home. `files`: name and text of what lies in its folder. */
function openStage(options: DemoOptions, files: Readonly<Record<string, string>>): DemoStage {
  const { environment, clock } = options;
  const root = join(demoFolder(environment.variables.XDG_DATA_HOME, environment.userHome), fileStamp(clock));
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
export async function* runRecallDemo(options: DemoOptions, signal: AbortSignal): AsyncGenerator<CommandOutput> {
  const place = openStage(options, { 'notes.txt': NOTES });
  yield line('Talaria demo: two processes, no key, no language model (reflex/1), nothing staged.');
  yield line(`home    ${place.home.root}`);
  yield line(`folder  ${place.folder}`);
  yield line('');
  yield line('First process: reads a file, runs a command, remembers a fact.');
  yield* place.chat(FIRST, signal);
  yield line('');
  yield line('Second process, started anew: recalls it.');
  const recalled: string[] = [];
  for await (const output of place.chat(SECOND, signal)) {
    if (output.type === 'line') recalled.push(output.text);
    yield output;
  }
  if (!recalled.some((text) => text.includes(PORT)))
    throw broken('the second process did not recall the fact', place.home);
  yield line('');
  yield* report(place.home);
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
