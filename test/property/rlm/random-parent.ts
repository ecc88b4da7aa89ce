/** Evidence and parents drawn from a seed, fast enough for a million: a few facts, the facts beyond the cut, an honest parent. */
import type { ManifestEntry } from '#extensions/rlm/guard/manifest.ts';

export interface Dice {
  /** 0 to `sides` - 1. */
  roll(sides: number): number;
  pick<T>(items: readonly T[]): T;
}

export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  const roll = (sides: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
  return { roll, pick: (items) => items[roll(items.length)] as (typeof items)[number] };
}

const SUBJECTS = ['the depth cap', 'the release train', 'a repair call', 'each chunk window', 'the trace store'];
const VERBS = ['is set to', 'never exceeds', 'starts with', 'keeps at least', 'must not pass'];
const UNITS = ['lines', 'calls', 'seconds', 'records', 'retries'];

export interface Case {
  readonly retained: readonly ManifestEntry[];
  /** Facts of the same text that no child was shown. */
  readonly omitted: readonly ManifestEntry[];
}

export function drawCase(dice: Dice): Case {
  const facts = Array.from({ length: 2 + dice.roll(4) }, (_, at): ManifestEntry => {
    const fact_id = `LP-${10 + dice.roll(90)}-00${at + 1}`;
    const said = `${dice.pick(SUBJECTS)} ${dice.pick(VERBS)} ${100 * (at + 1) + dice.roll(100)} ${dice.pick(UNITS)}.`;
    const text = dice.roll(4) === 0 ? said : `FACT:${fact_id} ${said}`;
    return { fact_id, chunk_id: `notes/long.txt:${at + 1}-${at + 1}`, text, child_call_id: `child_000${at + 1}` };
  });
  const cut = 1 + dice.roll(facts.length - 1);
  return { retained: facts.slice(0, cut), omitted: facts.slice(cut) };
}

/** What may be changed by a test. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonMap = { [key: string]: Json };

export function factClaim({ fact_id, chunk_id, text }: ManifestEntry): JsonMap {
  return { fact_id, text, evidence_chunk_id: chunk_id };
}

export function reference({ fact_id, chunk_id, text }: ManifestEntry): JsonMap {
  return { chunk_id, supports_fact_ids: [fact_id], quoted_evidence: text };
}

export function honestParent({ retained }: Case): JsonMap {
  return {
    mode: 'rlm_forge_parent_synthesis',
    verdict: 'pass',
    confidence: 0.9,
    result: {
      summary: 'What the children found.',
      retained_facts: retained.map(factClaim),
      truncation_report: { note: 'The rest was cut.' },
    },
    evidence_references: retained.map(reference),
    residual_gaps: [{ gap: 'Some chunks were omitted.' }],
  };
}
