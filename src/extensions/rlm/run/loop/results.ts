// Owns turning a reading into the result of its node, and the synthesis of a run of one call. Pure.
// Invariant: a group hands up the facts that its accepted claims cite, a refused one all that it was given, and says so.
import type { JsonObject } from '#base/json.ts';
import { buildManifest } from '../../guard/build-manifest.ts';
import type { GuardMode } from '../../guard/parent-claim.ts';
import { repairMissingHandles } from '../../repair/repair-missing-handles.ts';
import type { LeafReading } from '../reading/read-leaf.ts';
import type { SynthesisReading } from '../reading/read-synthesis.ts';
import type { FreshFact, RunGap } from '../run-outcome.ts';
import type { NodePlan } from './node-plan.ts';
import type { JudgedSynthesis, NodeResult } from './node-result.ts';

const MOST_GAPS = 20;
const LONGEST_GAP = 300;

export interface ReadLeaf {
  readonly reading: LeafReading;
  readonly call_id: string;
  readonly facts: readonly FreshFact[];
}

export function leafResult(plan: NodePlan, { reading, call_id, facts }: ReadLeaf): NodeResult {
  const { summary, verdict, confidence } = reading;
  const gaps = reported(reading.gaps, call_id);
  return { node_id: plan.id, call_id, status: 'done', facts, summary, verdict, confidence, gaps };
}

export interface JudgedReply {
  readonly reading: SynthesisReading;
  readonly call_id: string;
  /** Of all children. */
  readonly facts: readonly FreshFact[];
  /** What it was not shown. */
  readonly shown: readonly RunGap[];
}

export function synthesisResult(plan: NodePlan, { reading, call_id, facts, shown }: JudgedReply): NodeResult {
  const { accepted, validation, repair, problems, summary, verdict, confidence } = reading;
  const cited = new Set(validation.accepted_claims.map(({ fact_id, chunk_id }) => JSON.stringify([fact_id, chunk_id])));
  const up = facts.filter(({ fact_id, chunk_id }) => cited.has(JSON.stringify([fact_id, chunk_id])));
  const refused: readonly RunGap[] = accepted ? [] : [{ what: plan.id, why: refusalText(plan, reading, facts.length) }];
  return {
    node_id: plan.id,
    call_id,
    status: accepted ? 'done' : 'failed',
    facts: accepted ? up : facts,
    summary,
    verdict,
    confidence,
    gaps: [...refused, ...shown, ...reported(reading.gaps, call_id)],
    judged: { validation, repair, problems },
  };
}

function refusalText(plan: NodePlan, { validation, problems }: SynthesisReading, count: number): string {
  const reasons = [...new Set(validation.rejected_claims.map(({ reason }) => reason))].join(', ');
  const why = `its synthesis was refused (${reasons === '' ? (problems[0] ?? 'form') : reasons})`;
  return plan.parent_id === null ? why : `${why}; its ${count} quotations go up as they are`;
}

/** Of a run of one call: its checked facts, as a parent would claim them. */
export function composedSynthesis({ facts, summary, verdict }: NodeResult, mode: GuardMode): JudgedSynthesis {
  const retained_facts = facts.map(({ fact_id, text, chunk_id }) => ({ fact_id, text, evidence_chunk_id: chunk_id }));
  const synthesis = { mode: 'execute_atomic', verdict, result: { summary, retained_facts }, evidence_references: [] };
  const manifest = buildManifest({ entries: facts.map(({ place: _place, ...entry }) => entry) });
  const { repair } = repairMissingHandles({ manifest, synthesis, childRecords: [], mode });
  return { validation: repair.before_validation, repair, problems: [] };
}

/** What a reply says is missing: prose, named as such. */
function reported(gaps: readonly string[], call_id: string): readonly RunGap[] {
  return gaps
    .filter((gap) => gap.trim() !== '')
    .slice(0, MOST_GAPS)
    .map((gap) => ({ what: gap.slice(0, LONGEST_GAP).toWellFormed(), why: `said by ${call_id}` }));
}

export function saidGaps(gaps: readonly RunGap[]): readonly JsonObject[] {
  return gaps.map(({ what, why }) => ({ what, why }));
}
