/** Starts agent-process, reads its lines, and kills it when asked. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { AgentTask } from './agent-process.ts';

const SCRIPT = join(import.meta.dirname, 'agent-process.ts');

export interface AgentRun {
  readonly lines: readonly string[];
  readonly killed: boolean;
}

/** @param killAfterMs after its `READY`; absent: until its end, which must be a good one */
export async function runAgent(task: AgentTask, killAfterMs?: number): Promise<AgentRun> {
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'pipe'] });
  const exit = once(child, 'exit');
  const errors: string[] = [];
  child.stderr?.on('data', (chunk: Buffer) => errors.push(String(chunk)));
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout as NonNullable<ChildProcess['stdout']> })) {
    lines.push(line);
    if (line === 'READY' && killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  }
  const [code, signal] = await exit;
  const killed = signal === 'SIGKILL';
  if (!killed && code !== 0) throw new Error(`the agent ended with ${code}: ${errors.join('')}`);
  return { lines, killed };
}
