/** What the real tests of reach speak with: TALARIA_TEST_REACH names the folder; without that the place that scripts/fetch-reach.sh uses. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
const FOLDER = process.env.TALARIA_TEST_REACH || join(cache, 'talaria', 'reach-1');

export const reachSkip = existsSync(join(FOLDER, 'complete'))
  ? false
  : 'skipped: set TALARIA_TEST_REACH (sh scripts/fetch-reach.sh)';

/** Absolute path of something in one of its packages. */
export function reachPart(...path: readonly string[]): string {
  return join(FOLDER, 'node_modules', ...path);
}
