// Owns a process that is talked to in lines, as protocols over standard input and output are: leader of a group of its own. Knows no protocol.
// Invariants: once it was told to end, or its leader has ended, nobody of its group is left 5 s later, and `onEnd` is called once; it sees its
// input end when we die; a line is bounded, and takes no more memory than its length.
import { type ChildProcess, spawn } from 'node:child_process';
import { systemClock } from '../clock.ts';
import { errorCode, TalariaError } from '../errors.ts';
import { isGroupAlive } from '../process.ts';
import { type CommandRequest, closePipes, signalGroup } from './command-child.ts';

export interface LineRequest extends Pick<CommandRequest, 'argv' | 'cwd' | 'env'> {
  /** One line of its output that is not empty. */
  readonly onLine: (line: string) => void;
  /** What it writes to standard error, as it comes. */
  readonly onError: (text: string) => void;
  /** Why, in words; empty: it was told to. */
  readonly onEnd: (why: string) => void;
}

export interface LineProcess {
  /** Rejects when it does not read any more. */
  send(line: string): Promise<void>;
  /** Resolves when nobody of it is left. */
  end(): Promise<void>;
}

const MOST_BYTES = 32_000_000;
/** How long it may take to end by itself, and then at SIGTERM, ms. */
const PATIENCE_MS = 1_500;

/** Throws `not-started`. */
export async function startLines(request: LineRequest): Promise<LineProcess> {
  const { argv, cwd, env } = request;
  const [program = '', ...args] = argv;
  const child = spawn(program, args, { cwd, env: { ...env }, detached: true, stdio: 'pipe' });
  await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject)).catch((error) => {
    const why = errorCode(error) === 'ENOENT' ? `there is no program ${program}, or no folder ${cwd}` : error.message;
    throw new TalariaError(why, { code: 'not-started' });
  });
  let ending: Promise<void> | undefined;
  const end = (why = ''): Promise<void> => {
    ending ??= endGroup(child).then(() => request.onEnd(why));
    return ending;
  };
  child.stdin.on('error', () => child.stdin.destroy());
  const closed = new Promise((resolve) => child.once('close', resolve));
  child.once('exit', (code, signal) => {
    const why = `it ended ${signal ? `by ${signal}` : `with code ${code}`}`;
    void Promise.race([closed, systemClock.sleep(PATIENCE_MS)]).then(() => end(why));
  });
  child.stderr.setEncoding('utf8').on('data', request.onError);
  const tooLong = () => {
    signalGroup(child.pid, 'SIGKILL');
    void end(`it sent a line of over ${MOST_BYTES / 1e6} MB`);
  };
  child.stdout.on('data', lineReader(request.onLine, tooLong));
  const send = (line: string) =>
    new Promise<void>((resolve, reject) => {
      child.stdin.write(`${line}\n`, (error) => (error ? reject(error) : resolve()));
    });
  return { send, end: () => end() };
}

/** Whole lines alone are looked through. */
function lineReader(onLine: LineRequest['onLine'], onTooLong: () => void): (chunk: Buffer) => void {
  let waiting: Buffer[] = [];
  let size = 0;
  return (chunk) => {
    waiting.push(chunk);
    size += chunk.length;
    if (size > MOST_BYTES) return onTooLong();
    if (!chunk.includes(10)) return;
    const all = Buffer.concat(waiting);
    const cut = all.lastIndexOf(10) + 1;
    waiting = [all.subarray(cut)];
    size = all.length - cut;
    for (const line of all.toString('utf8', 0, cut).split('\n')) if (line.trim() !== '') onLine(line);
  };
}

async function endGroup(child: ChildProcess): Promise<void> {
  child.stdin?.end();
  for (const signal of [0, 'SIGTERM', 'SIGKILL'] as const) {
    if (isGroupAlive(child.pid)) signalGroup(child.pid, signal);
    for (let waited = 0; waited < PATIENCE_MS && isGroupAlive(child.pid); waited += 10) await systemClock.sleep(10);
  }
  closePipes(child);
}
