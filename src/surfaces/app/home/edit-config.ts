// Owns changes of config.yaml that keep comments and unknown keys. Knows the schema only to check an edit before it is written.
// Invariant: the file is replaced whole, and only by text that reads back valid; a newer file is never rewritten.
import { existsSync } from 'node:fs';
import { Document, isScalar, parseDocument } from 'yaml';
import type { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import type { JsonValue } from '#base/json.ts';
import { ok, type Refusal, type Result, refuse } from '#base/result.ts';
import { issueText } from '#base/schema-issue.ts';
import { findSecrets } from '#base/secrets.ts';
import { loadConfig, readConfigText } from './config.ts';
import { CONFIG_VERSION, configSchema } from './config-schema.ts';

export type ConfigEditRefusal = 'config-newer' | 'config-value' | 'config-version' | 'secret';

/** Sets `keys` to `value` (undefined removes it). Refusals change nothing; throws when the present file is broken or cannot be written. */
export type EditConfig = (
  path: string,
  keys: readonly string[],
  value: JsonValue | undefined,
) => Promise<Result<true, ConfigEditRefusal>>;

/** Checks the settings of Talaria itself. */
export const editConfig = editConfigBy(configSchema);

export function editConfigBy(schema: z.ZodType): EditConfig {
  const edit = editConfigTogether(schema);
  return (path, keys, value) => edit(path, [{ path: keys, value }]);
}

export interface ConfigEdit {
  readonly path: readonly string[];
  /** Undefined removes it. */
  readonly value: JsonValue | undefined;
}

/** Several edits as one write; with `dryRun` only the checks. */
export function editConfigTogether(schema: z.ZodType) {
  return async (
    path: string,
    edits: readonly ConfigEdit[],
    { dryRun = false }: { readonly dryRun?: boolean } = {},
  ): Promise<Result<true, ConfigEditRefusal>> => {
    for (const edit of edits) {
      const refused = await refuseEdit(path, edit.path, edit.value);
      if (refused) return refused;
    }
    const document = edited(path, edits);
    const issue = schema.safeParse(document.toJS() ?? {}).error?.issues[0];
    if (issue) return refuse('config-value', `${issue.path.join('.')}: ${issueText(issue)}`);
    if (!dryRun) atomicWrite(path, document.toString({ lineWidth: 0 }));
    return ok(true);
  };
}

async function refuseEdit(
  path: string,
  keys: readonly string[],
  value: JsonValue | undefined,
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
    if (value === undefined) document.deleteIn(keys);
    else setValue(document, keys, value);
  }
  return document;
}

/** A value in its old place keeps the comment beside it. */
function setValue(document: Document, keys: readonly string[], value: JsonValue): void {
  const old = document.getIn(keys, true);
  if (isScalar(old) && typeof value !== 'object') old.value = value;
  else document.setIn(keys, document.createNode(value));
}
