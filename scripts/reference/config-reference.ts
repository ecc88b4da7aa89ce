/** docs/reference/config.md: every key of config.yaml with its kind, its default and its meaning. */
import type { z } from 'zod';
import { type JsonSchema, jsonSchemaOf, kindOf, tableRow } from './json-schema.ts';

const HEAD = `# config.yaml

Written by \`node scripts/reference.ts\`. Every key is optional: an empty file is a whole configuration. The file lies in the
home (\`talaria config path\`); keys of providers belong in \`.env\` beside it.

\`\`\`sh
talaria config show
talaria config set approvals.mode deny
\`\`\`
`;

export function configReference(schema: z.ZodType): string {
  const rows = rowsOf('', jsonSchemaOf(schema));
  return `${[HEAD, tableRow('key', 'value', 'default', 'meaning'), '|---|---|---|---|', ...rows].join('\n')}\n`;
}

function rowsOf(prefix: string, schema: JsonSchema): readonly string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, value]) => {
    const key = `${prefix}${name}`;
    return [rowOf(key, value), ...insideOf(key, value)];
  });
}

function rowOf(key: string, value: JsonSchema): string {
  const isMap = value.properties !== undefined || isNamed(value);
  const fallback = value.default === undefined || isMap ? '' : `\`${JSON.stringify(value.default)}\``;
  return tableRow(`\`${key}\``, kindOf(value), fallback, value.description ?? '');
}

/** Keys below this one: of a map, of one form of a value, or of each entry of a map by name. */
function insideOf(key: string, value: JsonSchema): readonly string[] {
  if (isNamed(value)) return rowsOf(`${key}.NAME.`, value.additionalProperties as JsonSchema);
  return [value, ...(value.anyOf ?? [])].flatMap((form) => rowsOf(`${key}.`, form));
}

function isNamed(value: JsonSchema): boolean {
  return typeof value.additionalProperties === 'object' && value.additionalProperties.properties !== undefined;
}
