// Owns the start of the process behind `talaria`: it answers `--version` before it loads anything else, then hands over.
// Knows no command. Invariant: nothing is imported before the version was answered, not even the stream of standard output.

/** Written in by the bundler; in a checkout the package says it itself. */
declare const TALARIA_VERSION: string | undefined;

const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  process.exitCode = sayVersion();
} else {
  const { runCli } = await import('./run-cli.ts');
  process.exitCode = await runCli(argv, versionOf());
}

function sayVersion(): number {
  try {
    process.getBuiltinModule('node:fs').writeSync(1, `${versionOf()}\n`);
    return 0;
  } catch (error) {
    process.stderr.write(
      `talaria: the output could not be written: ${error instanceof Error ? error.message : error}\n`,
    );
    return 1;
  }
}

function versionOf(): string {
  if (typeof TALARIA_VERSION === 'string') return TALARIA_VERSION;
  const path = new URL('../../../package.json', import.meta.url);
  const text = process.getBuiltinModule('node:fs').readFileSync(path, 'utf8');
  return /"version": "([^"]+)"/.exec(text)?.[1] ?? 'unknown';
}
