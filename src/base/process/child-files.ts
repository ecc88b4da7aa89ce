// Owns which open files a command gets: its three streams and those that its request names, never one that this process was itself given
// when it started. Node closes those on the way only up to the first free number: `flock 200>lock` in the script of a timer lies beyond.
// Knows no wall. Invariant: nothing of this process is closed or moved; where a command would find a file of others, it finds one that
// is empty. (macOS: the system itself hands on nothing else.)
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { errorCode } from '../errors.ts';

type Stream = 'ignore' | 'pipe' | number;

export interface ChildFiles {
  /** By descriptor. */
  readonly stdio: Stream[];
  /** Once the child has its own. */
  close(): void;
}

let given: readonly number[] | undefined;

/** @param files opened for reading, as descriptors 3, 4, …; throws as `openSync` */
export function openChildFiles(streams: readonly Stream[], files: readonly string[] = []): ChildFiles {
  given ??= givenFiles();
  const opened: number[] = [];
  const close = () => {
    for (const descriptor of opened.splice(0)) closeSync(descriptor);
  };
  const open = (path: string) => {
    const descriptor = openSync(path, 'r');
    opened.push(descriptor);
    return descriptor;
  };
  try {
    const stdio: Stream[] = [...streams, ...files.map(open)];
    const covered = given.filter((one) => one >= stdio.length);
    const nothing = covered.length === 0 ? 'ignore' : open('/dev/null');
    for (const descriptor of covered) {
      while (stdio.length < descriptor) stdio.push('ignore'); // what is free stays free
      stdio.push(nothing);
    }
    return { stdio, close };
  } catch (error) {
    close();
    throw error;
  }
}

const CLOSES_ON_EXEC = 0o2000000;

/** In rising order. All that Node opens itself closes on the way, so what does not was there before. */
function givenFiles(): readonly number[] {
  if (process.platform !== 'linux') return [];
  const open = readdirSync('/proc/self/fd').map(Number);
  return open.filter((descriptor) => descriptor > 2 && isHandedOn(descriptor)).sort((a, b) => a - b);
}

function isHandedOn(descriptor: number): boolean {
  try {
    const [, flags = ''] = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')) ?? [];
    return (Number.parseInt(flags, 8) & CLOSES_ON_EXEC) === 0;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false; // the list itself, read and closed
    throw error;
  }
}
