// Owns checking one section of config.yaml that an extension reads. Knows no section. Invariant: what is wrong is named by line and key.
import { TalariaError } from '#base/errors.ts';
import { issueText, type SchemaIssue } from '#base/schema-issue.ts';
import type { LoadedConfig } from './config.ts';

/** A parser compiled for one use costs more than it saves. */
const ONCE = { jitless: true };

/** Throws TalariaError `config-invalid` naming line and key. */
export function readConfigSection<T>(
  loaded: LoadedConfig,
  section: string,
  schema: { safeParse(value: unknown, how?: { readonly jitless: boolean }): SafeParsed<T> },
): T {
  const parsed = schema.safeParse(loaded.raw[section] ?? {}, ONCE);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const keys = [section, ...(issue?.path ?? []).map(String)];
  throw new TalariaError(`${loaded.locate(keys)}: ${keys.join('.')}: ${issue ? issueText(issue) : 'not valid'}`, {
    code: 'config-invalid',
    fix: 'Correct this key; the file was not changed.',
  });
}

type SafeParsed<T> =
  | { readonly success: true; readonly data: T }
  | {
      readonly success: false;
      readonly error: {
        readonly issues: readonly SchemaIssue[];
      };
    };
