// Owns whether a supported change is written at once or waits as a draft (seed 001 ch 11: confirm before creating or deleting). Pure.
// Knows no gate and no door. Invariant: nothing is deleted, and nothing that the owner made is changed, without the owner's yes.
import type { ProposalDraft } from '#mind/evidence/proposal.ts';

export type KeepWay = 'apply' | 'draft';

export interface KeepSituation {
  /** A person sits at the surface of the session. */
  readonly attended: boolean;
  /** `skills.write_approval`: what unattended surfaces do. */
  readonly unattended: KeepWay;
  /** The owner said `always` to new skills. */
  readonly alwaysCreate: boolean;
  /** An agent made the skill, and it is not pinned. */
  readonly agentMade: boolean;
}

export function keepWay(draft: Pick<ProposalDraft, 'kind' | 'action'>, situation: KeepSituation): KeepWay {
  if (draft.kind === 'memory') return 'apply';
  if (draft.action === 'delete') return 'draft';
  if (draft.action === 'create')
    return situation.alwaysCreate ? 'apply' : situation.attended ? 'draft' : situation.unattended;
  if (!situation.agentMade) return 'draft';
  return situation.attended ? 'apply' : situation.unattended;
}
