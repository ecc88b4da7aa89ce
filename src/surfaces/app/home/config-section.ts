// Owns checking one section of config.yaml that an extension reads. Knows no section. Invariant: what is wrong is named by line and key.
import { TalariaError } from '#base/errors.ts';
import { isJsonObject } from '#base/json.ts';
import { madeOf } from '#base/late-schema.ts';
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
  const { cache, raw } = loaded;
  const shape = madeOf(schema);
  const key = cache && shape && `${section} ${JSON.stringify(raw[section] ?? {})} ${shape}`;
  const kept = key ? cache?.get(key) : undefined;
  // Kept under all that decides it, and by nobody else.
  if (kept !== undefined) return kept as T;
  const parsed = schema.safeParse(raw[section] ?? {}, ONCE);
  if (parsed.success && key && isJsonObject(parsed.data)) cache?.set(key, parsed.data);
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
