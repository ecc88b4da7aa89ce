// Owns bringing a backup back as a home, and finishing that when it was interrupted. Knows no file's content.
// Invariant: the archive is unpacked and checked beside the home first; an intent on disk says how far it is, so that a kill at any moment leaves
// the old home or the new one; the present home is never overwritten, at most moved aside.
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { atomicWrite, syncFolder } from '#base/atomic-write.ts';
import type { Clock } from '#base/clock.ts';
import { fileStamp } from '#base/database/quarantine.ts';
import { TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { parseJson } from '#base/json.ts';
import { readIfThere, withFileLock } from '#base/platform.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { type Home, homeAt, isEmptyHome, restoreIntent } from '../home/home.ts';
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

/** What a killed restore was at. Names are of folders beside the home. */
interface Intent {
  readonly file: string;
  readonly staging: string;
  readonly aside: string;
  /** `unpacking`: the home is untouched. `swapping`: the new one is whole beside it. */
  readonly state: 'unpacking' | 'swapping';
}

/** Refusal `home-not-empty` without `force`. Throws TalariaError `archive-invalid`; the home is then as it was. */
export async function restoreBackup(
  home: Home,
  options: RestoreOptions,
  signal: AbortSignal,
): Promise<Result<RestoreReport, 'home-not-empty' | 'no-such-file'>> {
  if (!existsSync(options.file)) return refuse('no-such-file', `There is no file ${options.file}.`);
  if (!isEmptyHome(home) && !options.force) {
    return refuse('home-not-empty', `${home.root} is not empty. With --force it is moved aside first.`);
  }
  return alone(home, async () => {
    finish(home);
    return ok(await bringBack(home, options, signal));
  });
}

/** At a start: finishes a restore that was killed, or takes it back; gives what the person must be told. Throws while one is running. */
export async function finishRestore(home: Home): Promise<string | undefined> {
  return existsSync(restoreIntent(home)) ? alone(home, () => finish(home)) : undefined;
}

function alone<T>(home: Home, work: () => T | Promise<T>): Promise<T> {
  return withFileLock(`${restoreIntent(home)}.lock`, work, { waitMs: 0 });
}

async function bringBack(home: Home, { file, clock }: RestoreOptions, signal: AbortSignal): Promise<RestoreReport> {
  const name = basename(home.root);
  const intent: Intent = {
    file,
    staging: `.${name}-restoring-${randomHex(4)}`,
    aside: `${name}.before-${fileStamp(clock)}`,
    state: 'unpacking',
  };
  const staging = beside(home, intent.staging);
  const occupied = !isEmptyHome(home);
  try {
    note(home, intent);
    if (occupied) atomicWrite(markOf(home.root), intent.staging);
    mkdirSync(staging, { mode: 0o700 });
    const files = await unpackTar(file, staging, signal);
    const keptSecrets = occupied && keepSecrets(home, staging);
    syncFolder(staging);
    note(home, { ...intent, state: 'swapping' });
    const movedTo = swap(home, intent);
    forgetIntent(home);
    return { home: home.root, files, ...(movedTo ? { movedTo } : {}), keptSecrets };
  } catch (error) {
    if (occupied && !existsSync(home.root)) throw error; // neither came into its place: the next start finishes it
    rmSync(staging, { recursive: true, force: true });
    forgetIntent(home);
    throw error;
  }
}

function note(home: Home, intent: Intent): void {
  atomicWrite(restoreIntent(home), `${JSON.stringify(intent)}\n`);
}

/** In the old home, where no contained command can write, while one beside it may: which restore was begun here. */
function markOf(root: string): string {
  return join(root, '.restoring');
}

function forgetIntent(home: Home): void {
  rmSync(markOf(home.root), { force: true });
  rmSync(restoreIntent(home), { force: true });
  syncFolder(dirname(home.root));
}

function beside(home: Home, name: string): string {
  return join(dirname(home.root), name);
}

/** Puts the new home in the old one's place; gives where the old one is. When that fails the old one stands there again. */
function swap(home: Home, { staging, aside }: Intent): string | undefined {
  const moved = moveAside(home, aside);
  try {
    renameSync(beside(home, staging), home.root);
  } catch (error) {
    if (moved !== undefined) renameSync(moved, home.root);
    throw error;
  }
  if (moved !== undefined) rmSync(markOf(moved), { force: true });
  syncFolder(dirname(home.root));
  return moved;
}

function moveAside(home: Home, name: string): string | undefined {
  if (!existsSync(home.root)) return undefined;
  if (isEmptyHome(home)) {
    rmdirSync(home.root);
    return undefined;
  }
  const target = beside(home, existsSync(beside(home, name)) ? `${name}-${randomHex(2)}` : name);
  renameSync(home.root, target);
  return target;
}

function finish(home: Home): string | undefined {
  const intent = readIntent(home);
  if (intent === undefined) return undefined;
  const { file, staging, aside, state } = intent;
  const lead = `bringing ${file} back as the home was interrupted`;
  if (state === 'unpacking') {
    rmSync(beside(home, staging), { recursive: true, force: true });
    forgetIntent(home);
    return `${lead} before anything was changed, and was taken back; \`talaria restore\` does it again`;
  }
  if (existsSync(beside(home, staging))) {
    if (!isEmptyHome(home) && readIfThere(markOf(home.root)) !== staging) throw unclear(home);
    swap(home, intent);
  }
  forgetIntent(home);
  const old = existsSync(beside(home, aside)) ? `; the home that was there is now ${beside(home, aside)}` : '';
  return `${lead}, and is finished now${old}`;
}

/** Undefined: another process has finished it meanwhile. Names that a restore never gives are not followed. */
function readIntent(home: Home): Intent | undefined {
  const path = restoreIntent(home);
  if (!existsSync(path)) return undefined;
  const name = basename(home.root);
  const schema = z.object({
    file: z.string(),
    staging: z.string().refine((text) => text.startsWith(`.${name}-restoring-`) && basename(text) === text),
    aside: z.string().refine((text) => text.startsWith(`${name}.before-`) && basename(text) === text),
    state: z.enum(['unpacking', 'swapping']),
  });
  const parsed = parseJson(readFileSync(path, 'utf8'));
  const intent = schema.safeParse(parsed.ok ? parsed.value : undefined);
  if (intent.success) return intent.data;
  throw unclear(home);
}

function unclear(home: Home): TalariaError {
  const path = restoreIntent(home);
  return new TalariaError(`${path} says that a restore was interrupted, and is none of ours, or damaged`, {
    code: 'restore-unclear',
    fix: `Look whether ${home.root} is as it should be, then remove ${path}.`,
  });
}

function keepSecrets(home: Home, staging: string): boolean {
  const target = homeAt(staging).env;
  if (existsSync(target) || !existsSync(home.env)) return false;
  copyFileSync(home.env, target);
  return true;
}
