/**
 * Row "rlm ask": a context of 100 MB in the REPL of recursion, all of it read: indexed, searched by text and by pattern, cut into pieces that
 * are sent to sub-calls, counted by a computed handle. The whole process is measured, thread and engine in it, in a process of its own.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#base/clock.ts';
import { createReplSession, DEFAULT_REPL_LIMITS } from '#extensions/rlm/repl/create-repl-session.ts';
import { createFileSource } from '#extensions/rlm/repl/file-source.ts';
import type { ReplHost } from '#extensions/rlm/repl/repl-session.ts';
import type { BenchRow } from './bench-row.ts';

const MB = 1024 * 1024;
const BYTES = 100 * MB;
const TARGET = 256;
const LIMITS = { ...DEFAULT_REPL_LIMITS, block_ms: 300_000, sub_calls: 1_000 };
const CODE: Readonly<Record<string, string>> = {
  find: 'print(context.search("NEEDLE 77 ").length)',
  pattern: 'print(context.search(/NEEDLE [0-9]+ lies/).length)',
  pieces:
    'const chunks = [...context.chunks({ bytes: 500000 })]; print((await llmQueryBatched(chunks.map((piece) => ({ question: "how many?", piece })))).length)',
  computed: 'print(compute((c) => c.search(/NEEDLE/, { max: 1000 }).length, context).value)',
};

interface Measured {
  readonly grown: number;
  readonly ms: Readonly<Record<string, number>>;
}

export async function benchRlmAskMemory(): Promise<readonly BenchRow[]> {
  const child = spawnSync(process.execPath, [import.meta.filename], { encoding: 'utf8', maxBuffer: MB });
  if (child.status !== 0) throw new Error(child.stderr);
  const { grown, ms }: Measured = JSON.parse(child.stdout);
  const value = grown / MB;
  const steps = Object.entries(ms).map(([name, took]) => `${name} ${took.toFixed(0)} ms`);
  return [
    {
      metric: '`rlm ask`, 100 MB context: memory above start',
      value,
      unit: 'MB',
      target: `≤ ${TARGET} MB`,
      ok: value <= TARGET,
      note: `highest resident memory of the process, looked at every 20 ms; ${steps.join(', ')}`,
    },
  ];
}

async function measure(): Promise<Measured> {
  const root = mkdtempSync(join(tmpdir(), 'talaria bench '));
  try {
    const path = join(root, 'long.txt');
    writeContext(path);
    const start = process.memoryUsage.rss();
    let most = start;
    const look = () => {
      most = Math.max(most, process.memoryUsage.rss());
      systemClock.after(20, look);
    };
    look();
    const ms = await work(path, root);
    return { grown: most - start, ms };
  } finally {
    rmSync(root, { recursive: true });
  }
}

async function work(path: string, root: string): Promise<Record<string, number>> {
  const ms: Record<string, number> = {};
  const timed = async <T>(name: string, run: () => Promise<T>): Promise<T> => {
    const before = performance.now();
    const result = await run();
    ms[name] = performance.now() - before;
    return result;
  };
  const made = await timed('index', () => createFileSource(path, { root }));
  if (!made.ok) throw new Error(made.detail);
  const host: ReplHost = {
    query: async ({ piece }) => ({ ok: true, text: `${piece?.length} characters`, claims: [] }),
  };
  const parts = { source: made.value.source, host, limits: LIMITS };
  const session = await timed('start', () => createReplSession(parts));
  for (const [name, code] of Object.entries(CODE)) {
    const { failure } = await timed(name, () => session.run(code, new AbortController().signal));
    if (failure !== null) throw new Error(`${name}: ${failure.detail}`);
  }
  await session.close();
  return ms;
}

function writeContext(path: string): void {
  const file = openSync(path, 'w');
  let block = '';
  for (let bytes = 0, at = 0; bytes < BYTES; at += 1) {
    const mark = at % 13_000 === 0 && at / 13_000 < 100 ? ` NEEDLE ${at / 13_000} lies here.` : '';
    const line = `${at} The harbour master of bay ${at % 977} counts ${(at * 31) % 10_007} crates of grain.${mark}\n`;
    block += line;
    bytes += line.length;
    if (block.length < MB && bytes < BYTES) continue;
    writeSync(file, block);
    block = '';
  }
  closeSync(file);
}

if (process.argv[1] === import.meta.filename) process.stdout.write(JSON.stringify(await measure()));
