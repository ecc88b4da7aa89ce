// Owns the variables of a thread of ours: none of the process's but the place of compiled code, so that each thread does not compile
// its program anew.
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/** Node keeps what it compiled in a folder of its version below the one that is named. */
export function threadVariables(): Readonly<Record<string, string>> {
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
