/** The real command in a process of its own, in a throw-away home. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTempHome, type Teardown } from '#testing/temp-home.ts';

/** A whole run builds the bundle first and tests that; one file alone runs the source. */
export const MAIN = process.env.TALARIA_TEST_MAIN ?? join(import.meta.dirname, '../../src/surfaces/cli/main.ts');

/** Shared by the processes of one run, which else compile the whole program each; a whole run keeps it for the next one. */
export const COMPILE_CACHE = process.env.NODE_COMPILE_CACHE ?? makeCompileCache();

export interface CliRun {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

export interface CliStage {
  readonly root: string;
  readonly cwd: string;
  /** Folder that holds home and working folder. */
  readonly folder: string;
  run(args: readonly string[], options?: CliRunOptions): Promise<CliRun>;
}

export interface CliRunOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Called with what came on standard output so far, and a way to signal the process. */
  readonly onOutput?: (out: string, kill: (signal: NodeJS.Signals) => void) => void;
}

/** Commands run as they are: the same whatever walls this machine can build. */
export function withoutWalls<Stage extends { readonly root: string }>(stage: Stage): Stage {
  mkdirSync(stage.root, { recursive: true, mode: 0o700 });
  writeFileSync(join(stage.root, 'config.yaml'), 'sandbox:\n  mode: machine\n', { mode: 0o600 });
  return stage;
}

export function createCliStage(context: Teardown): CliStage {
  const temp = createTempHome(context);
  const root = join(temp.path, 'home');
  const cwd = join(temp.path, 'work');
  mkdirSync(cwd);
  return {
    root,
    cwd,
    folder: temp.path,
    run: (args, { stdin = '', env = {}, onOutput } = {}) =>
      new Promise((resolve, reject) => {
        const child = spawn(process.execPath, [MAIN, ...args], {
          cwd,
          env: {
            PATH: process.env.PATH ?? '',
            HOME: temp.path,
            TALARIA_HOME: root,
            NODE_COMPILE_CACHE: COMPILE_CACHE,
            ...env,
          },
        });
        let out = '';
        let err = '';
        child.stdout.on('data', (chunk: Buffer) => {
          out += chunk.toString('utf8');
          onOutput?.(out, (signal) => child.kill(signal));
        });
        child.stderr.on('data', (chunk: Buffer) => {
          err += chunk.toString('utf8');
        });
        child.on('error', reject);
        child.on('close', (code, signal) => resolve({ code, signal, out, err }));
        child.stdin.end(stdin);
      }),
  };
}

function makeCompileCache(): string {
  const folder = mkdtempSync(join(tmpdir(), 'talaria-compiled-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
