// Owns the question whether a text may become memory: keys, invisible characters, and text that speaks to the agent instead of
// stating a fact. Knows no file; the rules are data beside it. Invariant: linear, pure, and no answer repeats a secret.

import { type Ok, ok, type Refusal, refuse } from '#base/result.ts';
import { findSecrets } from '#base/secrets.ts';
import { EXFILTRATION_RULES } from './exfiltration-rules.ts';
import { foldText, hiddenTexts, squeezeText } from './fold-text.ts';
import { INJECTION_RULES } from './injection-rules.ts';
import { findInvisible } from './invisible-text.ts';
import { RULE_CHANGE_RULES } from './rule-change-rules.ts';
import { SENTENCE_RULES } from './sentence-rules.ts';
import type { RuleReason, ThreatRule } from './threat-rule.ts';

export type ThreatReason = RuleReason | 'secret' | 'invisible_text';

export interface Threat extends Refusal<ThreatReason> {
  /** The rule or shape that matched. */
  readonly rule: string;
}

/** Longer texts are judged by this much; a memory entry is far below. */
const MAX_SCANNED = 20_000;

const THREAT_RULES: readonly ThreatRule[] = [
  ...INJECTION_RULES,
  ...RULE_CHANGE_RULES,
  ...EXFILTRATION_RULES,
  ...SENTENCE_RULES,
];

const WHY: Readonly<Record<RuleReason, string>> = {
  prompt_injection: 'it reads like an instruction to the agent, not like a fact',
  exfiltration: 'it would send data out or run a command for somebody else',
  rule_change: "it tries to change the agent's own rules",
};

/** `ok`, or why the text is refused; the detail can be shown to the model and to the owner. */
export function scanMemoryText(text: string): Ok<true> | Threat {
  const secret = findSecrets(text)[0];
  if (secret) {
    const detail = `Refused: the text holds something shaped like a ${secret.kind.replaceAll('-', ' ')}. Keep where the secret is kept, not the secret.`;
    return { ...refuse('secret', detail), rule: secret.kind };
  }
  const invisible = findInvisible(text);
  if (invisible) {
    const detail = `Refused: invisible character ${invisible}. Write the text again in plain characters.`;
    return { ...refuse('invisible_text', detail), rule: 'invisible-character' };
  }
  const rule = matchRule(text) ?? hiddenTexts(text).map(matchRule).find(Boolean);
  if (!rule) return ok(true);
  const detail = `Refused (${rule.id}): ${WHY[rule.reason]}. If there is a fact in it, state only the fact.`;
  return { ...refuse(rule.reason, detail), rule: rule.id };
}

function matchRule(text: string): ThreatRule | undefined {
  const raw = text.slice(0, MAX_SCANNED);
  const folded = foldText(raw);
  const sentences = raw.split(/\n|(?<=[.!?;])\s/).map(foldText);
  const forms = { raw: [raw], folded: [folded], sentence: sentences, squeezed: [squeezeText(folded)] };
  return THREAT_RULES.find(({ on, patterns }) =>
    forms[on].some((form) => patterns.every((pattern) => pattern.test(form))),
  );
}
