// Owns bringing keys from a hermes-agent `.env`. Knows the variables of known providers only.
// Invariant: nothing is copied unless it was asked for, nothing that is set here is replaced, and no value leaves this file.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { errorText } from '#base/errors.ts';
import { readEnvFile, setEnvValue } from '../../home/env-file.ts';
import { PROVIDERS } from '../../models/provider-table.ts';
import type { ImportPlace } from './import-place.ts';

const KNOWN = new Set(
  PROVIDERS.flatMap((row) => [...row.keyVariables, ...(row.baseUrlVariable ? [row.baseUrlVariable] : [])]),
);

export function importKeys(place: ImportPlace, withKeys: boolean): void {
  const { from, home, report, dryRun } = place;
  const ours = readEnvFile(home.env);
  for (const [name, value] of Object.entries(readTheirs(place))) {
    if (value === '') continue;
    const reason = whyNot(name, { here: ours[name], same: ours[name] === value, withKeys });
    if (reason === undefined) {
      if (!dryRun) setEnvValue(home.env, name, value);
      report.took('keys', name);
    } else if (reason === '') report.same('keys', name);
    else report.left('keys', name, reason);
  }
  if (existsSync(join(from, 'auth.json'))) report.left('keys', 'auth.json', 'sign in again with `talaria setup`');
}

/** Undefined: it comes. Empty: it is here. */
function whyNot(
  name: string,
  { here, same, withKeys }: { readonly here: string | undefined; readonly same: boolean; readonly withKeys: boolean },
): string | undefined {
  if (!KNOWN.has(name)) return 'no provider here uses it';
  if (same) return '';
  if (here) return 'another value is set here, which stays';
  return withKeys ? undefined : 'keys come only with --keys';
}

function readTheirs({ from, report }: ImportPlace): Readonly<Record<string, string>> {
  try {
    return readEnvFile(join(from, '.env'));
  } catch (error) {
    report.broken('keys', '.env', errorText(error));
    return {};
  }
}
