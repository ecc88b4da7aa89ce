/**
 * Keeps docs/reference true: `node scripts/reference.ts` writes config.md from the schema of config.yaml and commands.md
 * from the command specs, `--check` fails when a committed one differs.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { allCommands } from '#surfaces/app/commands/shell-commands.ts';
import { settingsSchema } from '#surfaces/app/home/config-schema.ts';
import { surfaceCommands } from '#surfaces/cli/surface-commands.ts';
import { commandReference } from './reference/command-reference.ts';
import { configReference } from './reference/config-reference.ts';

const { values } = parseArgs({ options: { root: { type: 'string', default: '.' }, check: { type: 'boolean' } } });
const folder = join(values.root, 'docs/reference');

// Nowhere: making the list opens nothing.
const options = {
  environment: { variables: { TALARIA_HOME: '/nowhere' }, cwd: '/nowhere', userHome: '/nowhere' },
  app: () => Promise.reject(new Error('no command runs here')),
};
const commands = [...(await allCommands(options))];
commands.push(...(await surfaceCommands({} as never)));

const pages = { 'config.md': configReference(await settingsSchema()), 'commands.md': commandReference(commands) };
const stale = Object.entries(pages).filter(([name, page]) => page !== committed(name));

if (values.check !== true) {
  mkdirSync(folder, { recursive: true });
  for (const [name, page] of stale) writeFileSync(join(folder, name), page);
} else if (stale.length > 0) {
  console.error(`reference: ${stale.map(([name]) => name).join(' and ')} stale, run: node scripts/reference.ts`);
  process.exitCode = 1;
} else {
  console.log(`reference: ${Object.keys(pages).length} pages are up to date`);
}

function committed(name: string): string | undefined {
  try {
    return readFileSync(join(folder, name), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
