/** Starts processes that append to one database, and checks what they had been promised. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { messageText } from '#core/model/message.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';

export interface Acknowledged {
  readonly sessionId: string;
  readonly messageId: number;
  readonly text: string;
}

export interface AppendRun {
  readonly path: string;
  readonly count: number;
  readonly name: string;
  readonly writers?: number;
  /** Kill with SIGKILL so long after the first acknowledgement, ms. */
  readonly killAfterMs?: number;
}

export interface AppendOutcome {
  readonly acknowledged: readonly Acknowledged[];
  readonly exit: number | null;
  readonly errors: string;
}

const CHILD = join(import.meta.dirname, 'append-child.ts');

export function appendInProcess(run: AppendRun): Promise<AppendOutcome> {
  const child = spawn(process.execPath, [CHILD, run.path, String(run.count), run.name, String(run.writers ?? 1)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  let timer: NodeJS.Timeout | undefined;
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (run.killAfterMs !== undefined) timer ??= setTimeout(() => child.kill('SIGKILL'), run.killAfterMs);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exit) => {
      clearTimeout(timer);
      resolve({ acknowledged: readLines(output), exit, errors });
    });
  });
}

function readLines(output: string): readonly Acknowledged[] {
  const whole = output.slice(0, output.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, sessionId = '', messageId = '', text = ''] = /^(\S+) (\d+) (.*)$/.exec(line) ?? [];
      return { sessionId, messageId: Number(messageId), text };
    });
}

/** Opens the database anew: every acknowledged message is there, word for word, and the index agrees. */
export async function assertNothingLost(path: string, acknowledged: readonly Acknowledged[]): Promise<void> {
  const store = createSqliteSessionStore({ path });
  try {
    assert.deepEqual(store.notices, []);
    const sessions = new Set(acknowledged.map((one) => one.sessionId));
    const texts = new Map<number, string>();
    for (const sessionId of sessions) {
      for (const stored of await store.messages(sessionId)) texts.set(stored.id, messageText(stored.message));
    }
    for (const { messageId, text } of acknowledged) assert.equal(texts.get(messageId), text.trim());
    assert.deepEqual(await store.checkIndex(), { agrees: true, differences: [] });
    const last = acknowledged.at(-1);
    if (last !== undefined) assert.ok((await store.search(last.text.slice(0, 40), { limit: 3 })).length > 0);
  } finally {
    await store.close();
  }
}
