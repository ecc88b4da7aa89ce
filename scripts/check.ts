/**
 * Everything that must hold before a commit lands: `npm run check`. All gates run even when one fails,
 * so that one run shows everything; the command fails when any of them did.
 */
import { spawnSync } from 'node:child_process';

const gates: readonly (readonly [name: string, ...command: readonly string[]])[] = [
  ['types', 'node_modules/.bin/tsc', '-p', '.'],
  ['lint', 'node_modules/.bin/biome', 'check', '--error-on-warnings', '--diagnostic-level=warn'],
  ['floors', process.execPath, 'scripts/graph.ts', '--exact'],
  ['shape', process.execPath, 'scripts/shape.ts', '--check'],
  ['dead code', 'node_modules/.bin/knip', '--no-progress'],
  ['licences', process.execPath, 'scripts/licences.ts'],
  ['picture', process.execPath, 'scripts/architecture.ts', '--check'],
  ['reference', process.execPath, 'scripts/reference.ts', '--check'],
  ['requirements', process.execPath, 'scripts/requirements.ts', '--strict'],
];

const failed = gates.filter(([name, file = '', ...args]) => {
  const { status, error } = spawnSync(file, args, { stdio: 'inherit' });
  if (error !== undefined) console.error(`check: ${name} did not start: ${error.message}`);
  return status !== 0;
});

const names = failed.map(([name]) => name).join(', ');
console.log(failed.length === 0 ? `check: ${gates.length} gates passed` : `check: failed: ${names}`);
process.exitCode = failed.length === 0 ? 0 : 1;
