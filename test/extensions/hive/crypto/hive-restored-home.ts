// The folder of an agent that is copied and put back in several ways, as a person with a backup does it.
import { cpSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export function copyOf(folder: string): string {
  const copy = `${folder}-copy`;
  cpSync(folder, copy, { recursive: true, preserveTimestamps: true });
  return copy;
}

export const WAYS: Readonly<Record<string, (folder: string, copy: string) => void>> = {
  /** `cp -a copy/. peers/`: inode and birth time of every file stay. */
  'over it': (folder, copy) => {
    for (const name of readdirSync(folder)) if (/-(wal|shm)$/.test(name)) rmSync(join(folder, name));
    for (const name of readdirSync(copy)) overwrite(join(folder, name), join(copy, name));
  },
  /** `rm -r peers; cp -a copy peers` */
  'in its place': (folder, copy) => {
    rmSync(folder, { recursive: true });
    cpSync(copy, folder, { recursive: true, preserveTimestamps: true });
  },
  /** A snapshot of the disk, which leaves no trace in any time: only the database is as it was. */
  'without a trace': (folder, copy) => {
    for (const name of readdirSync(folder)) if (/-(wal|shm)$/.test(name)) rmSync(join(folder, name));
    overwrite(join(folder, 'crypto.sqlite'), join(copy, 'crypto.sqlite'));
  },
};

function overwrite(to: string, from: string): void {
  writeFileSync(to, readFileSync(from));
  const { atime, mtime } = statSync(from);
  utimesSync(to, atime, mtime);
}
