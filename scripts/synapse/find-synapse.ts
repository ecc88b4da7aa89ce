/**
 * Where a homeserver for tests lies: TALARIA_TEST_SYNAPSE names its virtual environment or the python of it; without it the place
 * that scripts/fetch-synapse.sh uses.
 */
import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const SYNAPSE_VERSION = '1.163.2';

/** The python of the environment; undefined when there is none. */
export function findSynapse(variables: NodeJS.ProcessEnv): string | undefined {
  const cache = variables.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const usual = join(cache, 'talaria', `synapse-${SYNAPSE_VERSION}`);
  const named = variables.TALARIA_TEST_SYNAPSE;
  if (named) return existsSync(named) ? pythonOf(named) : undefined;
  return existsSync(join(usual, `.complete-${SYNAPSE_VERSION}`)) ? pythonOf(usual) : undefined;
}

function pythonOf(place: string): string {
  return statSync(place).isDirectory() ? join(place, 'bin', 'python') : place;
}
