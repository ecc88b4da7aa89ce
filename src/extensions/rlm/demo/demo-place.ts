// Owns where a demo of recursion takes place: a folder of its own, kept afterwards, with a home and a copy of a real file in it.
// Invariant: never the person's own home; a folder that holds something already is not used.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFolders } from '#base/atomic-write.ts';
import { type Clock, localDate } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { parseJsonObject } from '#base/json.ts';
import { privateFolder } from '#base/platform.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { RlmGround } from '../rlm-ground.ts';

export interface DemoPlace {
  readonly root: string;
  readonly home: string;
  /** Holds the file that is read. */
  readonly folder: string;
  /** Name of the file in it. */
  readonly file: string;
  /** Where it was copied from. */
  readonly original: string;
}

export type PlaceRefusal = 'folder-not-empty' | 'folder-unusable' | 'file-missing';

/** `keep`: absolute, or undefined for one with a name of its own. */
export function openDemoPlace(ground: RlmGround, keep: string | undefined): Result<DemoPlace, PlaceRefusal> {
  const original = ownReadme(import.meta.dirname);
  if (original === undefined)
    return refuse('file-missing', 'the README.md of this program is not where it was installed');
  const root = keep ?? join(dataFolder(ground), `${stamp(ground.clock)}-rlm-${randomHex(2)}`);
  const [home, folder] = [join(root, 'home'), join(root, 'folder')];
  try {
    if (existsSync(root) && (!statSync(root).isDirectory() || readdirSync(root).length > 0))
      return refuse('folder-not-empty', `${root} is there already and is no empty folder`);
    privateFolder(root);
    privateFolder(home);
    mkdirSync(folder, { mode: 0o700 });
    copyFileSync(original, join(folder, FILE));
  } catch (error) {
    return refuse('folder-unusable', `${root}: ${errorText(error)}`);
  }
  return ok({ root, home, folder, file: FILE, original });
}

const FILE = 'README.md';

/** Of the package that this code belongs to: beside its package.json, in a checkout and installed. */
function ownReadme(from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const [readme, manifest] = [join(folder, FILE), join(folder, 'package.json')];
    if (existsSync(readme) && existsSync(manifest)) {
      const read = parseJsonObject(readFileSync(manifest, 'utf8'));
      if (read.ok && read.value.name === 'talaria') return readme;
    }
    if (dirname(folder) === folder) return undefined;
  }
}

function dataFolder({ variables, places }: RlmGround): string {
  const { userHome } = places;
  const base = variables.XDG_DATA_HOME || (existsSync(userHome) ? join(userHome, '.local', 'share') : tmpdir());
  const folder = join(base, 'talaria-demo');
  try {
    makeFolders(folder);
    return folder;
  } catch {
    // A machine where the data folder cannot be written: the temporary one is as good for a demo.
    return join(tmpdir(), 'talaria-demo');
  }
}

function stamp(clock: Clock): string {
  const { year, month, day, hour, minute, second } = localDate(clock.now());
  const two = (value: number) => String(value).padStart(2, '0');
  return `${year}${two(month)}${two(day)}-${two(hour)}${two(minute)}${two(second)}`;
}
