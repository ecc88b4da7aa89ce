/**
 * The process behind `talaria`. It answers `--version` before it loads anything else, and does not know
 * yet any other command.
 */
import { readFileSync } from 'node:fs';

/** Written in by the bundler; in a checkout the package says it itself. */
declare const TALARIA_VERSION: string | undefined;

const [first] = process.argv.slice(2);
if (first === '--version') {
  process.stdout.write(`${versionOf()}\n`);
} else {
  process.stderr.write(`talaria: ${first ?? 'the chat'} is not there yet\n`);
  process.exitCode = 2;
}

function versionOf(): string {
  if (typeof TALARIA_VERSION === 'string') return TALARIA_VERSION;
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return /"version": "([^"]+)"/.exec(text)?.[1] ?? 'unknown';
}
