/**
 * Row "TraceGuard": the verdict on a parent of 20 claims over 100 facts, against `JSON.parse` of the same text: of the parent alone with
 * the manifest built before, as a run does, and beside it of parent and entries with the manifest built anew. Rounds take turns.
 */
import { buildManifest } from '#extensions/rlm/guard/manifest.ts';
import type { GuardMode } from '#extensions/rlm/guard/read-claims.ts';
import { validateParentSynthesis } from '#extensions/rlm/guard/validate-parent-synthesis.ts';
import { type BenchRow, median, spread } from './bench-row.ts';

const ROUNDS = 31;
const CALLS = 1_000;
const TARGET = 1.6;

export async function benchTraceGuard(): Promise<readonly BenchRow[]> {
  const entries = Array.from({ length: 100 }, (_, at) => ({
    fact_id: `TG-${at}`,
    chunk_id: `notes/long.txt:${at}-${at}`,
    text: `FACT:TG-${at} The retained line ${at} says that the release train keeps ${at * 7} records.`,
  }));
  const manifest = buildManifest({ entries });
  const text = JSON.stringify(parentOf(entries.slice(0, 10)));
  const synthesis: unknown = JSON.parse(text);
  const judge = (mode: GuardMode) => (): unknown => validateParentSynthesis({ manifest, synthesis, mode });
  const whole = JSON.stringify({ entries, synthesis });
  const runs = {
    parse: (): unknown => JSON.parse(text),
    parseAll: (): unknown => JSON.parse(whole),
    v1: judge('v1'),
    anew: (): unknown => validateParentSynthesis({ manifest: { entries }, synthesis, mode: 'v1' }),
    strict: judge('strict'),
  };
  const rounds = Array.from({ length: ROUNDS + 3 }, () => ({
    parse: microseconds(runs.parse),
    parseAll: microseconds(runs.parseAll),
    v1: microseconds(runs.v1),
    anew: microseconds(runs.anew),
    strict: microseconds(runs.strict),
  })).slice(3);
  const v1 = rounds.map((round) => round.v1 / round.parse);
  const anew = rounds.map((round) => round.anew / round.parseAll);
  const strict = rounds.map((round) => round.strict / round.parse);
  const own = median(rounds.map((round) => round.v1));
  const note = `100 facts, 20 claims, ${text.length} characters; v1 ${own.toFixed(1)} µs (${(1_000 / own).toFixed(0)}K/s); strict ${median(strict).toFixed(2)} ×; with the manifest built anew ${median(anew).toFixed(2)} ×; ${spread(v1)}`;
  const value = median(v1);
  return [
    { metric: 'TraceGuard, v1', value, unit: '× JSON.parse', target: `≤ ${TARGET} ×`, ok: value <= TARGET, note },
  ];
}

interface Entry {
  readonly fact_id: string;
  readonly chunk_id: string;
  readonly text: string;
}

/** Each fact twice: as a retained fact and as a reference. */
function parentOf(entries: readonly Entry[]): object {
  return {
    mode: 'rlm_forge_parent_synthesis',
    verdict: 'pass',
    confidence: 0.9,
    result: {
      summary: 'What the children found.',
      retained_facts: entries.map(({ fact_id, chunk_id, text }) => ({ fact_id, text, evidence_chunk_id: chunk_id })),
    },
    evidence_references: entries.map(({ fact_id, chunk_id, text }) => ({
      chunk_id,
      supports_fact_ids: [fact_id],
      quoted_evidence: text,
    })),
    residual_gaps: [],
  };
}

function microseconds(run: () => unknown): number {
  const start = performance.now();
  for (let call = 0; call < CALLS; call += 1) run();
  return ((performance.now() - start) * 1_000) / CALLS;
}
