/** Starts processes that write runs, and checks what they had promised. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { readRunRecord } from '#extensions/rlm/trace/run-record.ts';
import { openTraceStore, type TraceStore } from '#extensions/rlm/trace/trace-store.ts';
import { checkEvents, checkLifecycle, problemsOf } from '#extensions/rlm/trace/verify-run.ts';

export interface Writing {
  readonly home: string;
  readonly name: string;
  readonly runs: number;
  readonly calls: number;
  /** Killed with SIGKILL after so many promises; undefined: it may end. */
  readonly killAfter?: number;
}

export interface Written {
  readonly promises: readonly string[];
  readonly exit: number | null;
  readonly errors: string;
}

const CHILD = join(import.meta.dirname, 'write-child.ts');

export function writeInProcess({ home, name, runs, calls, killAfter }: Writing): Promise<Written> {
  const child = spawn(process.execPath, [CHILD, home, name, String(runs), String(calls)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (piece: Buffer) => {
    output += piece.toString();
    if (killAfter !== undefined && promisesIn(output).length >= killAfter) child.kill('SIGKILL');
  });
  child.stderr.on('data', (piece: Buffer) => {
    errors += piece.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exit) => resolve({ promises: promisesIn(output), exit, errors }));
  });
}

function promisesIn(output: string): readonly string[] {
  return output
    .slice(0, output.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '');
}

/** Every promised call is there whole, every run is a beginning of itself, and each that was not ended can be gone on with. */
export function assertKept(home: string, promises: readonly string[]): void {
  const store = openTraceStore(home);
  try {
    assert.deepEqual(store.notices, []);
    for (const promise of promises) {
      const [kind, run_id = '', call_id] = promise.split(' ');
      if (kind === 'end') assert.equal(rowOf(store, run_id).state, 'completed');
      else
        assert.ok(
          store.calls(run_id).some((call) => call.call_id === call_id && call.prompt.includes(`of ${run_id} `)),
        );
    }
    for (const row of store.list()) {
      const record = readRunRecord(store, row);
      const problems = problemsOf((expect) => {
        checkEvents(record, expect);
        checkLifecycle(record, expect);
      });
      assert.deepEqual(problems, []);
      if (row.ended_at === null) assert.equal(store.reopen(row.run_id).ok, true);
    }
  } finally {
    store.close();
  }
}

function rowOf(store: TraceStore, run_id: string) {
  const found = store.find(run_id);
  assert.ok(found.ok);
  return found.value;
}
