// Owns the question whether a text may become memory, or be shown to a model as one: keys, invisible characters, and text that can do
// something, or speaks to the agent instead of stating a fact. Knows no file. Invariant: linear, pure, and no answer repeats a secret.

import { type Ok, ok, type Refusal, refuse } from '#base/result.ts';
import { findSecrets } from '#base/secrets.ts';
import { findUnseen } from '#base/text/unseen.ts';
import type { Capability } from './finding.ts';
import type { Rule } from './rule.ts';
import { skillRules } from './scan-skill.ts';
import { type RuleIndex, ruleIndex, scanText } from './scan-text.ts';
import { memoryRules } from './words.rules.ts';

type RuleReason = 'prompt_injection' | 'exfiltration' | 'rule_change';

export type ThreatReason = RuleReason | 'secret' | 'invisible_text';

export interface Threat extends Refusal<ThreatReason> {
  /** The rule or shape that matched. */
  readonly rule: string;
}

/** Longer texts are judged by this much; a memory entry is far below. */
const MAX_SCANNED = 20_000;
let index: RuleIndex | undefined;
/** Which packages the owner runs is a fact like others. */
const isMeant = ({ id }: Rule) => id !== 'prerequisite/package-runner';
/** An entry is about the owner's life and work, not about one subject. */
const CONTEXT = { header: '', isSubject: () => false };

const WHY: Readonly<Record<RuleReason, string>> = {
  prompt_injection: 'it reads like an instruction to the agent, not like a fact',
  exfiltration: 'it would send data out or run a command for somebody else',
  rule_change: "it tries to change the agent's own rules",
};

const RULE_CHANGES: readonly Capability[] = ['settings', 'persistence'];
const INJECTIONS: readonly Capability[] = ['wording', 'hidden', 'obfuscation'];

/** `ok`, or why the text is refused; the detail can be shown to the model and to the owner. */
export function scanMemoryText(text: string): Ok<true> | Threat {
  const secret = findSecrets(text)[0];
  if (secret) {
    const detail = `Refused: the text holds something shaped like a ${secret.kind.replaceAll('-', ' ')}. Keep where the secret is kept, not the secret.`;
    return { ...refuse('secret', detail), rule: secret.kind };
  }
  const invisible = findUnseen(text);
  if (invisible) {
    const detail = `Refused: invisible character ${invisible}. Write the text again in plain characters.`;
    return { ...refuse('invisible_text', detail), rule: 'invisible-character' };
  }
  index ??= ruleIndex([...skillRules().filter(isMeant), ...memoryRules()]);
  const found = scanText('entry', text.slice(0, MAX_SCANNED), CONTEXT, index).filter(({ severity }) =>
    isClear(severity),
  );
  const deed = found.find(({ capability }) => !INJECTIONS.includes(capability)) ?? found[0];
  if (!deed) return ok(true);
  const reason = reasonOf(deed.capability);
  const detail = `Refused (${deed.rule}): ${WHY[reason]}. If there is a fact in it, state only the fact.`;
  return { ...refuse(reason, detail), rule: deed.rule };
}

const isClear = (severity: string): boolean => severity === 'critical' || severity === 'high';

function reasonOf(capability: Capability): RuleReason {
  if (RULE_CHANGES.includes(capability)) return 'rule_change';
  return INJECTIONS.includes(capability) ? 'prompt_injection' : 'exfiltration';
}
