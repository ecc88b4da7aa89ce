/** docs/reference/commands.md: every command with its words, flags and examples, as its spec gives them. */
import type { AnyCommand } from '#core/agent/command-spec.ts';
import { type JsonSchema, jsonSchemaOf, kindOf, tableRow } from './json-schema.ts';

const HEAD = `# Commands

Written by \`node scripts/reference.ts\`. In the shell a command is typed after \`talaria\`, in the chat after \`/\`. Every command
takes \`--json\` in the shell. Exit codes: 0 done, 1 failed, 2 usage, 3 refused. Flags of the chat and of \`-p\`: \`talaria --help\`.
`;

export function commandReference(commands: readonly AnyCommand[]): string {
  const list = commands.map((command) => tableRow(`[\`${command.name}\`](#${slug(command.name)})`, command.summary));
  return [HEAD, tableRow('command', 'what it does'), '|---|---|', ...list, '', ...commands.map(sectionOf)].join('\n');
}

function sectionOf(command: AnyCommand): string {
  const schema = jsonSchemaOf(command.input);
  const words = command.positional ?? [];
  const named = new Set(words.map(bare));
  const rows = Object.entries(schema.properties ?? {}).map(([key, value]) =>
    tableRow(named.has(key) ? `\`${key}\`` : `\`${flagOf(key, value)}\``, kindOf(value), meaningOf(value)),
  );
  const usage = ['talaria', command.name, ...words.map((word) => wordOf(word, schema))].join(' ');
  const table = rows.length === 0 ? [] : ['', tableRow('argument', 'value', 'meaning'), '|---|---|---|', ...rows];
  const code = [usage, ...(command.examples ?? []).filter((example) => example !== usage).map((line) => `# ${line}`)];
  const where = command.surfaces.includes('chat') ? '' : ' Shell only.';
  const lines = [`## ${command.name}`, '', `${command.summary}.${where}`, '', '```sh', ...code, '```', ...table];
  return `${lines.join('\n')}\n`;
}

function wordOf(word: string, schema: JsonSchema): string {
  return schema.required?.includes(bare(word)) ? `<${word}>` : `[${word}]`;
}

function flagOf(key: string, { type, default: preset }: JsonSchema): string {
  const name = key.replaceAll('_', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return type === 'boolean' && preset === true ? `--no-${name}` : `--${name}`;
}

function meaningOf({ description = '', default: preset }: JsonSchema): string {
  if (preset === undefined || typeof preset === 'boolean') return description;
  const said = description === '' ? '' : `${description}; `;
  return `${said}default \`${preset}\``;
}

function bare(word: string): string {
  return word.replace(/\.\.\.$/, '');
}

function slug(name: string): string {
  return name.replaceAll(' ', '-');
}
