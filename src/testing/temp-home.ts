// Owns throw-away home folders for tests, and what a double needs of a test runner: a place to hang its own clean-up (the context of node:test
// fits). Knows nothing of what a home holds. Invariant: the folder is private, and gone when the test that made it ends.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface Teardown {
  after(run: () => void | Promise<void>): void;
}

export interface TempHome {
  /** Absolute path, permission 0700. */
  readonly path: string;
  /** Writes a file below the home, making its folders; returns its absolute path. */
  write(name: string, text: string): string;
  read(name: string): string;
  remove(): void;
  [Symbol.dispose](): void;
}

/** A fresh folder below the system's temporary one. With a test context it is removed when the test ends. */
export function createTempHome(context?: Teardown): TempHome {
  const path = mkdtempSync(join(tmpdir(), 'talaria-test-'));
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  context?.after(remove);
  return {
    path,
    write: (name, text) => {
      const file = join(path, name);
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, text, { mode: 0o600 });
      return file;
    },
    read: (name) => readFileSync(join(path, name), 'utf8'),
    remove,
    [Symbol.dispose]: remove,
  };
}
