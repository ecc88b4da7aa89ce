// Owns changes of config.yaml that keep comments and unknown keys. Knows the schema only to check an edit before it is written.
// Invariant: the file is replaced whole, and only by text that reads back valid; of processes that change it at once each finds what the one
// before wrote; a newer file is never rewritten.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { Document, isNode, isScalar, parseDocument } from 'yaml';
import type { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import type { JsonValue } from '#base/json.ts';
import { withFileLock } from '#base/platform.ts';
import { ok, type Refusal, type Result, refuse } from '#base/result.ts';
import { issueText } from '#base/schema-issue.ts';
import { findSecrets } from '#base/secrets.ts';
import { loadConfig, readConfigText } from './config.ts';
import { CONFIG_VERSION, configSchema } from './config-schema.ts';

export type ConfigEditRefusal = 'config-newer' | 'config-value' | 'config-version' | 'secret';

/** Undefined removes it. Worked out of what stands there when it depends on it: another process may have changed that. */
type NewValue = JsonValue | undefined | ((present: JsonValue | undefined) => JsonValue | undefined);

/** Sets `keys` to `value`. Refusals change nothing; throws when the present file is broken or cannot be written. */
export type EditConfig = (
  path: string,
  keys: readonly string[],
  value: NewValue,
) => Promise<Result<true, ConfigEditRefusal>>;

/** Checks the settings of Talaria itself. */
export const editConfig = editConfigBy(configSchema);

export function editConfigBy(schema: z.ZodType): EditConfig {
  const edit = editConfigTogether(schema);
  return (path, keys, value) => edit(path, [{ path: keys, value }]);
}

export interface ConfigEdit {
  readonly path: readonly string[];
  readonly value: NewValue;
}

/** How long other processes that change it are waited for, ms. */
const LOCK_WAIT_MS = 30_000;

/** Several edits as one write; with `dryRun` only the checks. */
export function editConfigTogether(schema: z.ZodType) {
  return async (
    path: string,
    edits: readonly ConfigEdit[],
    { dryRun = false }: { readonly dryRun?: boolean } = {},
  ): Promise<Result<true, ConfigEditRefusal>> => {
    if (dryRun || !existsSync(dirname(path))) return changeFile(path, edits, { schema, dryRun });
    return withFileLock(`${path}.lock`, () => changeFile(path, edits, { schema, dryRun }), { waitMs: LOCK_WAIT_MS });
  };
}

async function changeFile(
  path: string,
  edits: readonly ConfigEdit[],
  { schema, dryRun }: { readonly schema: z.ZodType; readonly dryRun: boolean },
): Promise<Result<true, ConfigEditRefusal>> {
  for (const edit of edits) {
    const refused = await refuseEdit(path, edit.path, edit.value);
    if (refused) return refused;
  }
  const document = edited(path, edits);
  const issue = schema.safeParse(document.toJS() ?? {}).error?.issues[0];
  if (issue) return refuse('config-value', `${issue.path.join('.')}: ${issueText(issue)}`);
  if (!dryRun) atomicWrite(path, document.toString({ lineWidth: 0 }));
  return ok(true);
}

async function refuseEdit(
  path: string,
  keys: readonly string[],
  value: NewValue,
): Promise<Refusal<ConfigEditRefusal> | undefined> {
  const loaded = await loadConfig(path);
  if (loaded.readOnly) return refuse('config-newer', loaded.readOnly);
  if (keys[0] === 'version' && value !== undefined && value !== CONFIG_VERSION) {
    return refuse(
      'config-version',
      `version is ${CONFIG_VERSION}: it says how the file is to be read, and is no setting.`,
    );
  }
  if (typeof value === 'string' && findSecrets(value).length > 0) {
    return refuse(
      'secret',
      `This looks like a key. Keys belong in .env: use \`talaria setup --key\`, and refer to it as \${NAME}.`,
    );
  }
  return undefined;
}

function edited(path: string, edits: readonly ConfigEdit[]): Document {
  const document = existsSync(path) ? parseDocument(readConfigText(path)) : new Document({ version: CONFIG_VERSION });
  if (document.contents === null) document.contents = document.createNode({ version: CONFIG_VERSION });
  for (const { path: keys, value } of edits) {
    const next = typeof value === 'function' ? value(presentValue(document, keys)) : value;
    if (next === undefined) document.deleteIn(keys);
    else setValue(document, keys, next);
  }
  return document;
}

function presentValue(document: Document, keys: readonly string[]): JsonValue | undefined {
  const node: unknown = document.getIn(keys, true);
  return isNode(node) ? (node.toJS(document) as JsonValue) : undefined;
}

/** A value in its old place keeps the comment beside it. */
function setValue(document: Document, keys: readonly string[], value: JsonValue): void {
  const old = document.getIn(keys, true);
  if (isScalar(old) && typeof value !== 'object') old.value = value;
  else document.setIn(keys, document.createNode(value));
}
