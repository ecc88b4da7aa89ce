// Owns taking known secrets out of text while the list of them grows: a key that is added while the program runs counts at once.
// Knows no provider. Invariant: a value that was ever known stays known until the program ends.
import { statSync } from 'node:fs';
import { errorCode } from '#base/errors.ts';
import type { AppOptions } from '../app.ts';
import type { Home } from '../home/home.ts';
import { mergedVariables, secretValues } from './compose-models.ts';

/** `given`: `memory.env` as it is written. Throws `env-unreadable` here, and never from the function that it gives. */
export function createLiveRedaction(
  home: Home,
  environment: AppOptions['environment'],
  given: Readonly<Record<string, string>> = {},
): (text: string) => string {
  let seen = stampOf(home.env);
  let values = secretValues(home, mergedVariables(home, environment), given);
  const learn = () => {
    const stamp = stampOf(home.env);
    if (stamp === seen || stamp === undefined) return;
    const known = new Set([...values, ...secretValues(home, mergedVariables(home, environment), given)]);
    values = [...known].sort((a, b) => b.length - a.length);
    seen = stamp;
  };
  return (text) => {
    try {
      learn();
    } catch (error) {
      // The next text tries again; until then nothing that was known is forgotten.
      if (errorCode(error) !== 'env-unreadable') throw error;
    }
    return values.reduce((out, value) => out.replaceAll(value, '[redacted]'), text);
  };
}

/** Changes with every write: the file is replaced whole. Undefined when it is not there or may not be read. */
function stampOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`;
}
