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

/** `wanted`: further variables that something here refers to. */
export async function importKeys(place: ImportPlace, withKeys: boolean, wanted: readonly string[]): Promise<void> {
  const ours = readEnvFile(place.home.env);
  const useful = new Set([...KNOWN, ...wanted]);
  for (const [name, value] of Object.entries(readTheirs(place)).filter(([, text]) => text !== '')) {
    const facts = { here: ours[name], same: ours[name] === value, withKeys };
    await bringKey(place, { name, value }, useful.has(name) ? whyNot(facts) : UNUSED);
  }
  const signIns = existsSync(join(place.from, 'auth.json'));
  if (signIns) place.report.left('keys', 'auth.json', 'sign in again with `talaria setup`');
}

async function bringKey(
  { home, report, dryRun }: ImportPlace,
  { name, value }: { readonly name: string; readonly value: string },
  reason: string | undefined,
): Promise<void> {
  if (reason === '') report.same('keys', name);
  else if (reason !== undefined) report.left('keys', name, reason);
  else {
    if (!dryRun) await setEnvValue(home.env, name, value);
    report.took('keys', name);
  }
}

const UNUSED = 'no provider here uses it';

/** Undefined: it comes. Empty: it is here. */
function whyNot({
  here,
  same,
  withKeys,
}: {
  readonly here: string | undefined;
  readonly same: boolean;
  readonly withKeys: boolean;
}): string | undefined {
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
