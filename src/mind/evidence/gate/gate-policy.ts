// Owns what each kind of kept thing needs as evidence (design 7). Data and one choice; knows no check.
// Invariant: a statement about the owner needs the owner's words, in whichever file it would stand.
import type { ProposalDraft } from '../proposal.ts';
import type { ClaimPolicy } from '../trace-guard/claim.ts';
import type { AddedText } from './added-text.ts';

const MEASURE = { minQuoteWords: 3, minSupport: 0.5 } as const;

/** A fact about the owner. */
const OWNER_FACT: ClaimPolicy = { ...MEASURE, origins: ['owner'] };
/** A fact about the environment or the project, a step of a skill: the owner's words, or what was run and went well. */
const OBSERVED_FACT: ClaimPolicy = { ...MEASURE, origins: ['owner', 'observed'] };

const ABOUT_OWNER = /(?:^|[.;:\n]\s*|\bthe\s)(?:user|owner)(?:['’]s)?\b(?!\s*[_./-])/iu;

/** Wherever the change names the file of the owner, it would stand there. */
export function policyFor(
  { kind, target, change }: Pick<ProposalDraft, 'kind' | 'target' | 'change'>,
  { text, isGrant }: AddedText,
): ClaimPolicy {
  if (isGrant) return OWNER_FACT;
  if (kind === 'skill') return OBSERVED_FACT;
  return target === 'user' || change.target === 'user' || ABOUT_OWNER.test(text) ? OWNER_FACT : OBSERVED_FACT;
}
