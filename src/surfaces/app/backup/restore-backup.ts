// Owns bringing a backup back as a home. Knows no file's content.
// Invariant: the archive is unpacked and checked beside the home first; the present home is never overwritten, at most moved aside.
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Clock, localDate } from '#base/clock.ts';
import { randomHex } from '#base/ids.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { type Home, homeAt, isEmptyHome } from '../home/home.ts';
import { unpackTar } from './unpack-tar.ts';

export interface RestoreReport {
  readonly home: string;
  readonly files: readonly string[];
  /** Where the home that was there before is now. */
  readonly movedTo?: string;
  /** The old home's keys were taken over, since the backup has none. */
  readonly keptSecrets: boolean;
}

export interface RestoreOptions {
  readonly file: string;
  readonly force: boolean;
  readonly clock: Clock;
}

/** Refusal `home-not-empty` without `force`. Throws TalariaError `archive-invalid`; the home is then as it was. */
export async function restoreBackup(
  home: Home,
  options: RestoreOptions,
  signal: AbortSignal,
): Promise<Result<RestoreReport, 'home-not-empty' | 'no-such-file'>> {
  if (!existsSync(options.file)) return refuse('no-such-file', `There is no file ${options.file}.`);
  const occupied = !isEmptyHome(home);
  if (occupied && !options.force) {
    return refuse('home-not-empty', `${home.root} is not empty. With --force it is moved aside first.`);
  }
  const staging = join(dirname(home.root), `.${basename(home.root)}-restoring-${randomHex(4)}`);
  try {
    mkdirSync(staging, { recursive: true, mode: 0o700 });
    const files = await unpackTar(options.file, staging, signal);
    const keptSecrets = occupied && keepSecrets(home, staging);
    const movedTo = occupied ? moveAside(home.root, options.clock) : undefined;
    if (!occupied) rmSync(home.root, { recursive: true, force: true });
    renameSync(staging, home.root);
    return ok({ home: home.root, files, ...(movedTo ? { movedTo } : {}), keptSecrets });
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

function keepSecrets(home: Home, staging: string): boolean {
  const target = homeAt(staging).env;
  if (existsSync(target) || !existsSync(home.env)) return false;
  copyFileSync(home.env, target);
  return true;
}

function moveAside(root: string, clock: Clock): string {
  const at = localDate(clock.now());
  const two = (value: number) => String(value).padStart(2, '0');
  const stamp = `${at.year}${two(at.month)}${two(at.day)}_${two(at.hour)}${two(at.minute)}${two(at.second)}`;
  const target = `${root}.before-${stamp}_${randomHex(2)}`;
  renameSync(root, target);
  return target;
}
