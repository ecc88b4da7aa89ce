/** Starting agents and commands as processes of their own, each in a home of its own. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const TALARIA = join(import.meta.dirname, '../../bin/talaria');
const AGENT = join(import.meta.dirname, 'agent.ts');

export interface Answer {
  readonly text: string;
  readonly outcome: string;
  /** What the agent asked its owner before it acted. */
  readonly asked: readonly string[];
}

export interface Agent {
  /** One turn: what the owner types, and what comes back. */
  says(line: string): Promise<Answer>;
  /** `kill -9`: the process gets no chance to put anything away. */
  kill(): Promise<void>;
}

function environment(home: string, more: Readonly<Record<string, string>> = {}) {
  const { PATH, NODE_COMPILE_CACHE = join(home, '../compiled') } = process.env;
  return { PATH, TALARIA_HOME: home, HOME: home, NODE_COMPILE_CACHE, ...more };
}

/** `talaria …` in that home; its standard output. Throws with what it said when it fails. */
export async function talaria(home: string, args: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  const { stdout } = await promisify(execFile)(TALARIA, args, { env: environment(home, variables) });
  return stdout.trimEnd();
}

export async function startAgent(home: string): Promise<Agent> {
  const child: ChildProcess = spawn(process.execPath, [AGENT], {
    env: environment(home),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error('the agent has no pipes');
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('the agent ended');
    return JSON.parse(value);
  };
  await next();
  return {
    says: (line) => {
      stdin.write(`${line}\n`);
      return next();
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
