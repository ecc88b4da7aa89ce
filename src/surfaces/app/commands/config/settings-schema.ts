// Owns the shape of the whole config.yaml: Talaria's own settings and a section for each extension. Knows no key.
// Invariant: an extension that is removed takes its section with it.
import type { z } from 'zod';
import { EXTENSIONS } from '../../extensions.ts';
import { configSchema } from '../../home/config-schema.ts';

export async function settingsSchema(): Promise<z.ZodObject> {
  const sections: Record<string, z.ZodType> = {};
  for (const { name, settings } of EXTENSIONS) {
    if (settings) sections[name] = (await settings()).prefault({}).describe(`Extension: ${name}.`);
  }
  return configSchema.extend(sections);
}
