// Owns what stands before a subject and takes its sentence back: a condition, a report of what somebody else said, a denial. English. Pure.
import type { Antecedent, Speaker } from './speaker.ts';
import { subjectOf } from './subject-of.ts';
import { verbFrame } from './verb-frame.ts';

const CONDITION =
  /\b(?:if|whether|unless|when|whenever|in case|suppose|supposing|imagine|pretend|assume|assuming|until|once|should|who|what|whatever|how|why|(?<=\w )where|than|lest|as though|provided|had|were|wish|hope|like|glad|happy|so that|time|moment|day|days|thing|things|everything|all|stuff|people|only|reason|way|place|because of)$/i;
const REPORT =
  /^(.*?)\b(?:says?|said|saying|tells?|told|telling|thinks?|thought|claims?|claimed|believes?|believed|asks?|asked|wonders?|wrote|writes?|insists?|mentions?|mentioned|hears?|heard|reports?|reported|according|quotes?|quoting|repeat|answer|reply|respond|output|print|assumes?|guess(?:es)?|suggests?|knows?|hopes?|means?|example|e\.g|pretends?|imagines?)\b/i;
const DENIAL = /\b(?:not|never|nobody|no one|none|hardly|neither|doubt|untrue|false)\b/i;

export interface LeadIn {
  /** Somebody else says so, or it is only a condition. */
  readonly isVoid: boolean;
  readonly isDenied: boolean;
}

/**
 * @param lead what stands before the subject in its clause
 * @param sentence all that stands before the subject
 */
export function readLeadIn(
  lead: string,
  sentence: string,
  about: { speaker: Speaker; antecedent: Antecedent },
): LeadIn {
  return { isVoid: CONDITION.test(lead) || isReported(sentence, about), isDenied: DENIAL.test(lead) };
}

function isReported(sentence: string, { speaker, antecedent }: { speaker: Speaker; antecedent: Antecedent }): boolean {
  const reporter = REPORT.exec(sentence)?.[1];
  if (reporter === undefined) return false;
  return subjectOf(verbFrame(reporter).before, speaker, antecedent).subject !== 'peer';
}
