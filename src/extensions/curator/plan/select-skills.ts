// Owns which skills are eligible and in which order they are considered (seed 002, steps 2 to 5; curator notes 8.2). Pure: a model's ranking
// comes in as data. Invariant: a ranking only reorders eligible skills; it adds none and loses none.

import { comparePoints, firstPoints } from '#base/text/code-points.ts';
import type { EvidenceReport, SkillTally } from '../report/evidence.ts';
import { NO_MODELS, type RankedSkill, type SearchModels, searchModels } from '../search/search-result.ts';
import type { RunFlags } from './run-flags.ts';

/** What the search of section 6 gave; `query` as it was asked. */
export interface Ranking {
  readonly mode: string;
  readonly model_executed: boolean;
  readonly reranker_executed?: boolean;
  readonly models?: SearchModels;
  readonly query?: string;
  readonly candidates: readonly RankedSkill[];
  readonly error?: string;
}

export interface SkillSelection {
  readonly source: string;
  readonly score: number;
  readonly reasons: readonly string[];
  readonly embedding_score?: number | null;
}

export interface SelectedSkill {
  readonly tally: SkillTally;
  readonly selection: SkillSelection;
}

export interface Selection {
  readonly mode: string;
  readonly semantic_requested: boolean;
  readonly rerank_requested: boolean;
  readonly eligible_skill_count: number;
  readonly models: SearchModels;
  readonly model_executed?: boolean;
  readonly reranker_executed?: boolean;
  readonly query_preview?: string;
  readonly error?: string;
  readonly fallback?: 'deterministic-evidence';
}

const EVIDENCE_ORDER = 'deterministic-evidence';
const QUERY_PREVIEW = 500;

/** Ours in the order of the counts, then of the names; the original's as the report has them. */
export function eligibleSkills(
  report: Pick<EvidenceReport, 'summary'>,
  flags: RunFlags,
  upstream: boolean,
): readonly SkillTally[] {
  const rows = (report.summary.skills ?? []).filter((row) => row.event_count >= flags.limits.minEvidence);
  if (upstream) return rows;
  const sorted = [...rows].sort(
    (a, b) => b.event_count - a.event_count || comparePoints(a.skill_name, b.skill_name) || b.errors - a.errors,
  );
  const first = new Map([...sorted].reverse().map((row) => [row.skill_name, row]));
  return sorted.filter((row) => first.get(row.skill_name) === row);
}

/** One line for each eligible skill, one for each recent evidence row of one. */
export function semanticQuery(report: Pick<EvidenceReport, 'skill_evidence'>, eligible: readonly SkillTally[]): string {
  const names = new Set(eligible.map((row) => row.skill_name));
  const rows = (report.skill_evidence ?? []).filter((row) => row.skill_name !== null && names.has(row.skill_name));
  return [
    ...eligible.map((row) => `${row.skill_name}: ${row.event_count} events, ${row.errors} errors`),
    ...rows.map((row) => `${row.skill_name} ${row.tool_name}: ${row.result_preview}`),
  ].join('\n');
}

export function orderSkills(eligible: readonly SkillTally[], ranking: Ranking | null): readonly SelectedSkill[] {
  const byName = new Map(eligible.map((tally) => [tally.skill_name, tally]));
  const chosen = new Map<string, SelectedSkill>();
  for (const ranked of ranking?.model_executed ? ranking.candidates : []) {
    const tally = byName.get(ranked.skill_name);
    if (tally === undefined || chosen.has(ranked.skill_name)) continue;
    chosen.set(ranked.skill_name, { tally, selection: rankedSelection(ranked, ranking?.mode ?? '') });
  }
  const rest = eligible.filter((tally) => !chosen.has(tally.skill_name));
  return [...chosen.values(), ...rest.map((tally) => ({ tally, selection: evidenceSelection(tally) }))];
}

function rankedSelection({ score, reasons, embedding_score: embedding }: RankedSkill, mode: string): SkillSelection {
  return { source: mode, score, reasons: reasons ?? [], embedding_score: embedding ?? null };
}

function evidenceSelection(tally: SkillTally): SkillSelection {
  return { source: 'evidence-threshold', score: tally.event_count, reasons: [`events:${tally.event_count}`] };
}

export function wantsModels({ semantic, rerank }: RunFlags['order']): boolean {
  return semantic || rerank;
}

export interface SelectionParts {
  readonly order: RunFlags['order'];
  readonly eligible: readonly SkillTally[];
  readonly ranking: Ranking | null;
  readonly query: string;
  readonly hasSkillFiles: boolean;
}

export function describeSelection({ order, eligible, ranking, query, hasSkillFiles }: SelectionParts): Selection {
  const common = {
    semantic_requested: wantsModels(order),
    rerank_requested: order.rerank,
    eligible_skill_count: eligible.length,
  };
  if (!wantsModels(order)) return { mode: EVIDENCE_ORDER, ...common, models: NO_MODELS };
  const models = searchModels(order.rerank);
  if (!hasSkillFiles) return { mode: 'semantic-no-skill-files', ...common, models };
  const ran = ranking ?? notRun(order.rerank);
  return {
    mode: ran.mode,
    ...common,
    models: ran.models ?? models,
    model_executed: ran.model_executed,
    reranker_executed: ran.reranker_executed ?? false,
    query_preview: firstPoints(ran.query ?? query, QUERY_PREVIEW),
    ...(ran.error === undefined ? {} : { error: ran.error }),
    ...(ran.model_executed ? {} : { fallback: EVIDENCE_ORDER }),
  };
}

function notRun(rerank: boolean): Ranking {
  const error = 'no ranking was given';
  return { mode: 'semantic-unavailable', model_executed: false, models: searchModels(rerank), candidates: [], error };
}
