// Owns the names of what a text can do, each with the sentence that the owner reads. Data; knows no rule.

/** In the order in which they are shown. */
export const CAPABILITIES = {
  takeover: 'lets somebody else steer this machine',
  network: 'sends things to a host that is no part of its task',
  secrets: 'reads keys, passwords or private stores',
  'remote-code': 'runs code or orders that come from elsewhere',
  prerequisite: 'wants a program or package of a stranger on this machine',
  obfuscation: 'hides what its code does',
  hidden: 'holds text that people do not see',
  settings: "changes the agent's own rules, memory or approvals",
  persistence: 'starts again by itself after it has ended',
  shields: 'switches protections of this machine off',
  privilege: 'takes more rights on this machine',
  destructive: 'deletes or locks files beyond its own',
  traversal: 'reaches files outside of its folder',
  wording: 'speaks to the agent in a way that skills need not',
  structure: 'has a form that skills seldom have',
} as const;

export type Capability = keyof typeof CAPABILITIES;

/** The sentences of what was found, each once, worst first; `note` findings (medium and below) are left out. */
export function capabilityLines(findings: readonly { readonly capability: Capability; readonly severity: string }[]) {
  const clear = findings.filter(({ severity }) => severity === 'critical' || severity === 'high');
  return [...new Set(clear.map(({ capability }) => CAPABILITIES[capability]))];
}
