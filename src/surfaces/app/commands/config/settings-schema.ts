// Owns the shape of the whole config.yaml: Talaria's own settings and a section for each extension. Knows no key.
// Invariant: an extension that is removed takes its section with it.
import type { z } from 'zod';
import type { JsonObject } from '#base/json.ts';
import { EXTENSIONS } from '../../extensions.ts';
import { configSchema } from '../../home/config-schema.ts';
import { nearestKey, unknownKeys } from '../../home/known-keys.ts';

export async function settingsSchema(): Promise<z.ZodObject> {
  const sections: Record<string, z.ZodType> = {};
  for (const { name, settings } of EXTENSIONS) {
    if (settings) sections[name] = (await settings()).prefault({}).describe(`Extension: ${name}.`);
  }
  return configSchema.extend(sections);
}

export interface UnknownSetting {
  readonly keys: readonly string[];
  /** The setting that was probably meant. */
  readonly near?: string;
}

/** What stands in the file and is no setting: it has no effect, and is kept when the file is written. */
export async function unknownSettings(raw: JsonObject): Promise<readonly UnknownSetting[]> {
  const schema = await settingsSchema();
  return unknownKeys(schema, raw).map((keys) => {
    const near = nearestKey(schema, keys);
    return { keys, ...(near === undefined ? {} : { near }) };
  });
}
