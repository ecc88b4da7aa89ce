// Measures compression on LoCoMo, each conversation one session in a 16K window. That what left the context can be found again is a gate
// (a deep test holds it too); what the last request saves, and what compressing costs, are targets.
import { pathToFileURL } from 'node:url';
import { type BenchRow, median, spread } from './bench-row.ts';
import { type Cost, measureCost, type Replay, replay } from './compaction-run.ts';
import { readConversations } from './locomo-data.ts';

/** Passes whose median is the CPU; what comes before them has compiled the code. */
const PASSES = 15;

export async function benchCompaction(): Promise<readonly BenchRow[]> {
  const conversations = readConversations();
  if (conversations === undefined) return [];
  const replays: Replay[] = [];
  for (const conversation of conversations) replays.push(await replay(conversation));
  const passes: (readonly Cost[])[] = [];
  for (let pass = 0; pass < PASSES; pass += 1) {
    const costs: Cost[] = [];
    for (const conversation of conversations) costs.push(await measureCost(conversation));
    passes.push(costs);
  }
  return [refoundRow(replays), recallRow(replays), tokensRow(replays), cpuRow(passes)];
}

function refoundRow(replays: readonly Replay[]): BenchRow {
  const left = sum(replays, (one) => one.left);
  const value = (100 * sum(replays, (one) => one.refound)) / left;
  const missing = replays.flatMap((one) => one.missing);
  const note = `${left} evidence messages left the context${missing.length > 0 ? `; not found: ${missing.slice(0, 5).join(', ')}` : ''}`;
  return row('compaction: evidence found again', {
    value,
    target: '= 100 (a gate)',
    unit: '%',
    ok: value === 100,
    note,
  });
}

function recallRow(replays: readonly Replay[]): BenchRow {
  const plain = mean(replays, (one) => 100 * one.plainRecall);
  const value = mean(replays, (one) => 100 * one.compressedRecall) - plain;
  const note = `evidence in the context or among the first ten, against the first ten uncompressed (${plain.toFixed(1)} %)`;
  return row('compaction: recall', { value, target: '≥ -1', unit: 'points', ok: value >= -1, note });
}

function tokensRow(replays: readonly Replay[]): BenchRow {
  const value = mean(replays, (one) => 100 * (one.tokens / one.plainTokens - 1));
  const each = replays.map((one) => `${one.plainTokens} → ${one.tokens}`).join(', ');
  const note = `last request, prompt counted in: ${each}; ${sum(replays, (one) => one.compressions)} compressions`;
  return row('compaction: tokens', { value, target: '≤ -60', unit: '%', ok: value <= -60, note });
}

function cpuRow(passes: readonly (readonly Cost[])[]): BenchRow {
  const values = passes.map((pass) => (sum(pass, (one) => one.cpuMs) / sum(pass, (one) => one.workedOn)) * 100_000);
  const value = median(values);
  const [pass = []] = passes;
  const done = `${sum(pass, (one) => one.compressions)} compressions of contexts of ${sum(pass, (one) => one.workedOn)} tokens in all`;
  const note = `${done}, main thread, transactions counted in, summariser scripted; ${passes.length} passes, ${spread(values, 1)}`;
  return row('compaction: CPU per 100K tokens', { value, target: '≤ 20', unit: 'ms', ok: value <= 20, note });
}

function row(metric: string, facts: Omit<BenchRow, 'metric'>): BenchRow {
  return { metric, ...facts };
}

function sum<T>(items: readonly T[], of: (one: T) => number): number {
  return items.reduce((total, one) => total + of(one), 0);
}

function mean(replays: readonly Replay[], of: (one: Replay) => number): number {
  return sum(replays, of) / replays.length;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.table(await benchCompaction());
