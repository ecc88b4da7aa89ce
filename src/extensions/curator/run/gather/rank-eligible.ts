// Owns asking the models in which order eligible skills are looked at (seed 002, steps 3 to 5; curator notes 8.2). Knows no model.
// Invariant: only eligible skills are shown to a model; whatever fails, the run goes on in the order of the evidence and says why.
import { errorText } from '#base/errors.ts';
import { withoutBlock } from '#mind/skills/format/managed-block.ts';
import type { PlanningReport } from '../../plan/auto-run-request.ts';
import type { PlanningSkill } from '../../plan/planned-skill.ts';
import type { RunFlags } from '../../plan/run-flags.ts';
import { eligibleSkills, type Ranking, semanticQuery, wantsModels } from '../../plan/select-skills.ts';
import type { RankRequest } from '../../search/rank-skills.ts';

/** Rejects only with the reason of an abort. `search/create-rank.ts` makes one. */
export type RankSkills = (request: RankRequest, signal: AbortSignal) => Promise<Ranking>;

export interface RankQuestion {
  readonly report: PlanningReport;
  readonly skills: readonly PlanningSkill[];
  readonly flags: RunFlags;
}

/** null: no model was asked for, or there is nothing to rank. */
export async function rankEligible(
  rank: RankSkills | undefined,
  { report, skills, flags }: RankQuestion,
  signal: AbortSignal,
): Promise<Ranking | null> {
  if (rank === undefined || !wantsModels(flags.order)) return null;
  const eligible = eligibleSkills(report, flags, false);
  const names = new Set(eligible.map(({ skill_name: name }) => name));
  const asked = skills
    .filter(({ name, refusal }) => names.has(name) && !refusal)
    .map(({ name, path, text }) => ({ name, path, text: withoutBlock(text) }));
  if (asked.length === 0) return null;
  const query = semanticQuery(report, eligible);
  const { rerank } = flags.order;
  try {
    const ranking = await rank({ query, skills: asked, rerank, limit: asked.length }, signal);
    return { ...ranking, query };
  } catch (error) {
    if (signal.aborted) throw error;
    return { mode: 'semantic-unavailable', model_executed: false, candidates: [], query, error: errorText(error) };
  }
}
