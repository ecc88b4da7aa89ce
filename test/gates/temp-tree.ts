/** Owns small source trees on disk that the tests of the gates judge, and the running of a gate on them. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { TestContext } from 'node:test';

export const repository = resolve(import.meta.dirname, '../..');

/** Writes `files` below a new folder that goes with the test. */
export function tempTree(context: TestContext, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'talaria gate '));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

/** Lets the tree use the packages of the repository. */
export function linkPackages(root: string): void {
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'));
}

export interface Run {
  readonly code: number | null;
  readonly text: string;
}

export function run(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Run {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', ...options });
  return { code: status, text: `${stdout}${stderr}` };
}

export function runScript(name: string, ...args: readonly string[]): Run {
  return run(process.execPath, [join(repository, 'scripts', name), ...args]);
}
