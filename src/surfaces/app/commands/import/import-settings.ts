// Owns bringing config.yaml. Knows no setting: what they mean here is hermes/config-map.ts.
// Invariant: what the owner has set here is never replaced, and the file is at every moment one that reads back valid.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { errorText } from '#base/errors.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { readRegular } from '#base/paths/open-files.ts';
import { loadConfig } from '../../home/config.ts';
import type { ConfigMapping, MappedSetting } from './hermes/config-map.ts';
import type { ImportPlace } from './import-place.ts';

/** Undefined when there is none, or none that can be read. */
export async function readSettings(place: ImportPlace): Promise<ConfigMapping | undefined> {
  const theirs = await readTheirs(place);
  if (theirs === undefined) return undefined;
  const { mapConfig } = await import('./hermes/config-map.ts');
  return mapConfig(theirs);
}

/** Variables that the settings refer to as `${NAME}`. */
export function variablesOf(mapping: ConfigMapping | undefined): readonly string[] {
  const text = JSON.stringify(mapping?.settings ?? []);
  return [...text.matchAll(/\$\{(\w+)\}/g)].map((match) => match[1] ?? '');
}

export async function importSettings(place: ImportPlace, mapping: ConfigMapping | undefined): Promise<void> {
  if (mapping === undefined) return;
  const { report, home } = place;
  const { settings, left } = mapping;
  for (const { name, reason, isKey } of left) report.left(isKey ? 'keys' : 'settings', name, reason);
  const ours = (await loadConfig(home.config)).raw;
  const fresh = settings.filter((setting) => isFree(place, ours, setting));
  for (const group of grouped(fresh, ours)) await writeGroup(place, group);
}

const MOST_BYTES = 4_000_000;

async function readTheirs({ from, report }: ImportPlace): Promise<JsonObject | undefined> {
  const path = join(from, 'config.yaml');
  if (!existsSync(path)) return undefined;
  const { parseConfigText } = await import('../../home/config-document.ts');
  try {
    return parseConfigText(path, readRegular(path, MOST_BYTES).toString('utf8')).data;
  } catch (error) {
    report.broken('settings', 'config.yaml', errorText(error));
    return undefined;
  }
}

function isFree({ report }: ImportPlace, ours: JsonObject, { keys, value }: MappedSetting): boolean {
  const present = valueAt(ours, keys);
  if (present === undefined) return true;
  const name = keys.join('.');
  if (canonicalJson(present) === canonicalJson(value)) report.same('settings', name);
  else report.left('settings', name, 'it is set here, and stays');
  return false;
}

/** What stands at `keys`, or at the nearest parent that is no map. */
function valueAt(ours: JsonObject, keys: readonly string[]): JsonValue | undefined {
  let at: JsonValue | undefined = ours;
  for (const key of keys) {
    if (!isJsonObject(at)) return at;
    at = Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at ?? undefined;
}

interface Group {
  readonly keys: readonly string[];
  readonly value: JsonValue;
  readonly names: readonly string[];
}

/** A section that is not here yet is written in one go. */
function grouped(settings: readonly MappedSetting[], ours: JsonObject): readonly Group[] {
  const sections = new Map<string, MappedSetting[]>();
  const single: Group[] = [];
  for (const setting of settings) {
    const [top = ''] = setting.keys;
    const names = [setting.keys.join('.')];
    if (setting.keys.length === 1 || ours[top] !== undefined) single.push({ ...setting, names });
    else sections.set(top, [...(sections.get(top) ?? []), setting]);
  }
  const whole = [...sections].map(([top, members]) => ({
    keys: [top],
    value: members.reduce<JsonObject>((tree, { keys, value }) => withValue(tree, keys.slice(1), value), {}),
    names: members.map(({ keys }) => keys.join('.')),
  }));
  return [...single, ...whole];
}

function withValue(tree: JsonObject, [key = '', ...rest]: readonly string[], value: JsonValue): JsonObject {
  if (rest.length === 0) return { ...tree, [key]: value };
  const inner = tree[key];
  return { ...tree, [key]: withValue(isJsonObject(inner) ? inner : {}, rest, value) };
}

async function writeGroup({ home, report, dryRun }: ImportPlace, { keys, value, names }: Group): Promise<void> {
  const { editConfig } = await import('../../home/edit-config.ts');
  const done = dryRun ? undefined : await editConfig(home.config, keys, value);
  for (const name of names) {
    if (done === undefined || done.ok) report.took('settings', name);
    else report.left('settings', name, done.detail);
  }
}
