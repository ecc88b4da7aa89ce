// Owns the Judge seam (design 1 and 4): what a model says about whether source words carry a claim. Data; knows no model and no store.
// Contract of `judge`: one judgement for each claim, in their order; it never throws but for the signal; whatever goes wrong is `none`,
// and `none` means that the claim waits. A judge writes nothing but its own verdicts.
import type { Origin } from '#core/model/message.ts';

export const VERDICTS = ['supported', 'goes-beyond', 'contradicts', 'one-off'] as const;

export type Verdict = (typeof VERDICTS)[number];

export interface JudgedClaim {
  /** Unique within one call. */
  readonly id: string;
  readonly text: string;
  /** What stands there now, when the claim is a change of it: then the change is judged. */
  readonly before?: string;
  /** Ids of the sources that it rests on. */
  readonly sources: readonly string[];
}

export interface JudgedSource {
  /** Unique within one call. */
  readonly id: string;
  readonly origin: Origin;
  readonly text: string;
}

export interface JudgePolicy {
  /** `keep`: it would be kept for later conversations; `show`: it is shown once, as an answer. */
  readonly task: 'keep' | 'show';
  /** What is decided, e.g. the id of a proposal or of a run: `why` finds the verdicts under it. */
  readonly subject: string;
}

/** Why there is no verdict. */
export type NoVerdict = 'no-model' | 'too-long' | 'failed' | 'unreadable';

export interface Judgement {
  readonly id: string;
  readonly verdict: Verdict | 'none';
  /** One sentence of the judge; for `none` the reason code. */
  readonly why: string;
  /** Id of the model that said it, empty when none did. */
  readonly model: string;
}

export interface Judge {
  /** Is there a model that could be asked? Without one only what is exact by construction may be kept. */
  readonly isThere: () => boolean;
  readonly judge: (
    claims: readonly JudgedClaim[],
    sources: readonly JudgedSource[],
    policy: JudgePolicy,
    signal?: AbortSignal,
  ) => Promise<readonly Judgement[]>;
}

/** Where no model is. */
export const noJudge: Judge = {
  isThere: () => false,
  judge: async (claims) => claims.map(({ id }) => ({ id, verdict: 'none', why: 'no-model', model: '' })),
};
