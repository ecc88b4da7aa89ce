/**
 * `npm run bench [-- NAME …]`: measures every row and prints the table. `--write` puts it into docs/performance.md.
 * Figures are ratios within one run, since machines differ and are shared. `npm run bench -- rlm …` is bench/rlm/bench-cli.ts.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { BenchRow } from './bench-row.ts';
import { root } from './stub.ts';

const BENCHES: Readonly<Record<string, () => Promise<readonly BenchRow[]>>> = {
  version: async () => (await import('./start.ts')).benchVersion(),
  'first-request': async () => (await import('./start.ts')).benchFirstRequest(),
  idle: async () => (await import('./idle.ts')).benchIdle(),
  'tool-rounds': async () => (await import('./tool-rounds.ts')).benchToolRounds(),
  'fixed-prompt': async () => (await import('./prompt-size.ts')).benchFixedPrompt(),
  prefix: async () => (await import('./prefix.ts')).benchPrefix(),
  append: async () => (await import('./append.ts')).benchAppend(),
  locomo: async () => (await import('./locomo.ts')).benchLocomo(),
  skills: async () => (await import('./skills.ts')).benchSkills(),
  compaction: async () => (await import('./compaction.ts')).benchCompaction(),
  'recall-1m': async () => (await import('./recall-1m.ts')).benchRecall1m(),
  walls: async () => (await import('./walls.ts')).benchWalls(),
  guard: async () => (await import('./guard.ts')).benchGuard(),
  curator: async () => (await import('./curator.ts')).benchCurator(),
  'trace-guard': async () => (await import('./trace-guard.ts')).benchTraceGuard(),
  'rlm-ask-memory': async () => (await import('./rlm-ask-memory.ts')).benchRlmAskMemory(),
  peers: async () => (await import('./peers.ts')).benchPeers(),
  golem: async () => (await import('./golem.ts')).benchGolem(),
  'reach-start': async () => (await import('./reach.ts')).benchReach(),
  'reach-serve': async () => (await import('./reach-serve.ts')).benchServe(),
  gateway: async () => (await import('./gateway.ts')).benchGateway(),
  dashboard: async () => (await import('./dashboard.ts')).benchDashboard(),
  market: async () => (await import('./market.ts')).benchMarket(),
  'clade-link': async () => (await import('./clade-link.ts')).benchLink(),
  'clade-meta': async () => (await import('./clade-meta.ts')).benchMeta(),
  'clade-library': async () => (await import('./clade-library.ts')).benchLibrary(),
  'clade-screens': async () => (await import('./clade-screens.ts')).benchScreens(),
};

const GATES: ReadonlySet<string> = new Set(['prefix reuse', 'compaction: evidence found again']);

if (process.argv[2] === 'rlm') {
  const { runRlmBench } = await import('./rlm/bench-cli.ts');
  process.exit(await runRlmBench(process.argv.slice(2)));
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false } },
});
/** `clade` is all of `clade-…`, `reach` of `reach-…`. */
const isAsked = (name: string) => positionals.some((asked) => name === asked || name.startsWith(`${asked}-`));
const unknown = positionals.filter((asked) => !Object.keys(BENCHES).some((name) => `${name}-`.startsWith(`${asked}-`)));
if (unknown.length > 0) {
  console.error(`bench: no such row: ${unknown.join(', ')}. Rows: ${Object.keys(BENCHES).join(', ')}`);
  process.exit(2);
}

const rows: BenchRow[] = [];
for (const [name, bench] of Object.entries(BENCHES)) {
  if (positionals.length > 0 && !isAsked(name)) continue;
  const measured = await bench();
  rows.push(...measured);
  for (const row of measured)
    console.log(
      `${row.ok ? 'ok    ' : 'MISSED'} ${row.metric}: ${format(row.value)} ${row.unit} (target ${row.target}) · ${row.note}`,
    );
}
if (values.write) writeTable(rows);
if (rows.some((row) => GATES.has(row.metric) && !row.ok)) process.exitCode = 1;

function format(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 3 : 1);
}

/** Rows that were measured now replace those of the same name; the others stay as they were measured. */
function writeTable(measured: readonly BenchRow[]): void {
  const path = join(root, 'docs/performance.md');
  const text = readFileSync(path, 'utf8');
  const { length: cores } = cpus();
  const machine = `${cores} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${process.arch}, Node ${process.version}`;
  const block = /<!-- bench:start -->[\s\S]*<!-- bench:end -->/;
  const [old = ''] = block.exec(text) ?? [];
  const rows = new Map([...old.matchAll(/^\| ([^|]+) \|.*$/gm)].map((match) => [match[1] ?? '', match[0]]));
  for (const row of measured) rows.set(row.metric, tableLine(row));
  for (const name of ['metric', '---']) rows.delete(name);
  const head = ['| metric | measured | target | | when | how |', '|---|---|---|---|---|---|'];
  const table = [...head, ...rows.values()].join('\n');
  writeFileSync(
    path,
    text.replace(block, () => `<!-- bench:start -->\nMachine: ${machine}.\n\n${table}\n<!-- bench:end -->`),
  );
}

function tableLine({ metric, value, unit, target, ok, note }: BenchRow): string {
  const day = new Date().toISOString().slice(0, 10);
  return `| ${metric} | ${format(value)} ${unit} | ${target} | ${ok ? 'met' : 'missed'} | ${day} | ${note} |`;
}
