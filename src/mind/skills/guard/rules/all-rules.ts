// Owns the list of all rules. Knows none of them.
import { AGENT_CONFIG_RULES } from './agent-config.ts';
import { LOYALTY_RULES } from './behaviour/loyalty.ts';
import { PASSAGE_RULES } from './behaviour/passages.ts';
import { PATH_FLOW_RULES } from './behaviour/path-flows.ts';
import { PROGRAM_RUN_RULES } from './behaviour/program-runs.ts';
import { PROGRAM_TAKE_RULES } from './behaviour/program-takes.ts';
import { SECRET_HANDLING_RULES } from './behaviour/secret-handling.ts';
import { SIGN_RULES } from './behaviour/signs.ts';
import { STRANGE_LURE_RULES } from './behaviour/strange-lures.ts';
import { STRANGE_SOURCE_RULES } from './behaviour/strange-sources.ts';
import { CREDENTIAL_RULES } from './credentials.ts';
import { EXFILTRATION_RULES } from './exfiltration.ts';
import { INJECTION_RULES } from './injection.ts';
import { INJECTION_LANGUAGE_RULES } from './injection-languages.ts';
import { LURE_RULES } from './lure.ts';
import { DESTRUCTIVE_RULES } from './machine/destructive.ts';
import { PERSISTENCE_RULES } from './machine/persistence.ts';
import { PRIVILEGE_RULES } from './machine/privilege-escalation.ts';
import { TAKEOVER_RULES } from './machine/takeover.ts';
import { OBFUSCATION_RULES } from './obfuscation.ts';
import { PATH_TRAVERSAL_RULES } from './path-traversal.ts';
import type { Rule } from './rule.ts';
import { SHELL_INJECTION_RULES } from './shell-injection.ts';
import { SUPPLY_CHAIN_RULES } from './supply-chain.ts';

const RULES: readonly Rule[] = [
  ...SHELL_INJECTION_RULES,
  ...CREDENTIAL_RULES,
  ...EXFILTRATION_RULES,
  ...PATH_TRAVERSAL_RULES,
  ...PERSISTENCE_RULES,
  ...OBFUSCATION_RULES,
  ...INJECTION_RULES,
  ...INJECTION_LANGUAGE_RULES,
  ...LURE_RULES,
  ...SUPPLY_CHAIN_RULES,
  ...TAKEOVER_RULES,
  ...DESTRUCTIVE_RULES,
  ...PRIVILEGE_RULES,
  ...AGENT_CONFIG_RULES,
  ...SIGN_RULES,
  ...LOYALTY_RULES,
  ...PASSAGE_RULES,
  ...PATH_FLOW_RULES,
  ...PROGRAM_RUN_RULES,
  ...PROGRAM_TAKE_RULES,
  ...SECRET_HANDLING_RULES,
  ...STRANGE_LURE_RULES,
  ...STRANGE_SOURCE_RULES,
];

const readsWholes = ({ kinds = [] }: Rule): boolean => kinds.includes('passage') || kinds.includes('program');

/** Rules over units: paragraphs, list items, commands. */
export const ALL_RULES = RULES.filter(({ kinds = ['prose'] }) =>
  kinds.some((kind) => !/^(?:passage|program)$/.test(kind)),
);

/** Rules over wholes: the code of a file or fence, the prose of a section. */
export const WHOLE_RULES = RULES.filter(readsWholes);
