// Owns the scripted Judge: verdicts by a function of the claim, without a model. Invariant: what it was asked is kept, oldest first; a
// decision that throws is no verdict, as a failed model is none.
import type { Judge, JudgedClaim, JudgedSource, JudgePolicy, Verdict } from '#mind/evidence/judge/judge.ts';

export interface JudgeQuestion {
  readonly claims: readonly JudgedClaim[];
  readonly sources: readonly JudgedSource[];
  readonly policy: JudgePolicy;
}

export interface ScriptedJudge extends Judge {
  readonly asked: readonly JudgeQuestion[];
}

/** `supported` for always yes, `goes-beyond` for always no; a function decides each claim by its own sources. */
export function createScriptedJudge(
  decide: Verdict | 'none' | ((claim: JudgedClaim, sources: readonly JudgedSource[]) => Verdict | 'none'),
): ScriptedJudge {
  const asked: JudgeQuestion[] = [];
  const verdictOf = (claim: JudgedClaim, sources: readonly JudgedSource[]): Verdict | 'none' => {
    if (typeof decide !== 'function') return decide;
    try {
      return decide(
        claim,
        sources.filter(({ id }) => claim.sources.includes(id)),
      );
    } catch {
      return 'none';
    }
  };
  return {
    asked,
    isThere: () => true,
    judge: async (claims, sources, policy) => {
      asked.push({ claims, sources, policy });
      return claims.map((claim) => {
        const verdict = verdictOf(claim, sources);
        const why = verdict === 'none' ? 'failed' : `scripted: ${verdict}`;
        return { id: claim.id, verdict, why, model: 'scripted/judge' };
      });
    },
  };
}
