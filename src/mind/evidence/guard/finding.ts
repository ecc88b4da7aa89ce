// Owns what a scan says: findings, the verdict drawn from them, and what a text can do in the words that the owner reads. Knows no rule and no file
// system. Invariants: the verdict follows from the findings alone; what is plainly meant to harm is dangerous, two capabilities together are
// dangerous, one alone is caution; wording alone is never more than caution (core notes 2.8).

/** `critical`: no innocent reading; `high`: one capability; `medium`: counts beside another one only; `low`: talk of it. */
export type Severity = 'critical' | 'high' | 'medium' | 'low';

export interface Finding {
  /** `capability/name`, stable: users silence and reports count by it. */
  readonly rule: string;
  readonly capability: Capability;
  readonly severity: Severity;
  /** As given; `archive.zip!inner/file` for what was found inside an archive. */
  readonly path: string;
  /** 1-based; 0 where the finding is about the file as a whole. */
  readonly line: number;
  /** At most 160 characters of the place, invisible characters spelled out. */
  readonly excerpt: string;
  /** It stands in talk of such things, or is the skill's trade: by itself it counts, beside another it does not. */
  readonly isTalk?: true;
}

export type Verdict = 'safe' | 'caution' | 'dangerous';

export interface ScanReport {
  readonly verdict: Verdict;
  readonly findings: readonly Finding[];
}

/** One text file of a skill; `path` is relative to the skill's folder. */
export interface SkillText {
  readonly path: string;
  readonly text: string;
}

const ORDER: Readonly<Record<Severity, number>> = { critical: 0, high: 1, medium: 2, low: 3 };
const STEPS: readonly Severity[] = ['critical', 'high', 'medium', 'low'];
const FINDING_LIMIT = 200;
/** Lines between which two capabilities count as one deed. */
const NEAR = 40;

/** Worst first, one finding a rule and place, at most 200; the verdict is drawn before the cut. */
export function scanReport(findings: readonly Finding[]): ScanReport {
  const single = [...new Map(findings.map((one) => [`${one.rule}\n${one.path}\n${one.line}`, one])).values()];
  single.sort((a, b) => ORDER[a.severity] - ORDER[b.severity] || a.path.localeCompare(b.path, 'en') || a.line - b.line);
  return { verdict: verdictOf(single), findings: single.slice(0, FINDING_LIMIT) };
}

function verdictOf(findings: readonly Finding[]): Verdict {
  if (findings.some(({ severity }) => severity === 'critical')) return 'dangerous';
  const high = findings.filter(({ severity }) => severity === 'high');
  if (high.length === 0) return 'safe';
  return isTogether(high, findings) ? 'dangerous' : 'caution';
}

const UNWEIGHED: ReadonlySet<Capability> = new Set(['wording', 'structure']);

/** Whether a second capability stands beside the first: a clear one, or a way out of the machine or to stay on it. */
function isTogether(high: readonly Finding[], findings: readonly Finding[]): boolean {
  const weighed = findings.filter(({ capability, isTalk }) => !UNWEIGHED.has(capability) && isTalk !== true);
  const ways = weighed.filter(({ severity, capability }) => severity === 'high' || isWayOut(severity, capability));
  return high.slice(0, FINDING_LIMIT).some((one) => {
    if (one.capability === 'structure' || one.isTalk === true) return false;
    return ways.some((other) => other.capability !== one.capability && isNear(one, other));
  });
}

function isWayOut(severity: Severity, capability: Capability): boolean {
  return severity === 'medium' && (capability === 'network' || capability === 'persistence');
}

function isNear(a: Finding, b: Finding): boolean {
  return a.path === b.path && Math.abs(a.line - b.line) <= NEAR;
}

/** Some steps less for talk of it and for a skill's own trade, or more (negative) for what was hidden. */
export function lowered(severity: Severity, steps: number): Severity {
  return STEPS[Math.max(0, Math.min(3, ORDER[severity] + steps))] ?? severity;
}

export type GuardDecision = 'allow' | 'ask' | 'refuse';
export type GuardSource = 'builtin' | 'trusted' | 'community' | 'agent' | 'owner' | 'external';

const POLICY: Readonly<Record<GuardSource, Readonly<Record<Verdict, GuardDecision>>>> = {
  builtin: { safe: 'allow', caution: 'allow', dangerous: 'allow' },
  trusted: { safe: 'allow', caution: 'allow', dangerous: 'refuse' },
  community: { safe: 'allow', caution: 'ask', dangerous: 'refuse' },
  external: { safe: 'allow', caution: 'ask', dangerous: 'refuse' },
  agent: { safe: 'allow', caution: 'allow', dangerous: 'ask' },
  owner: { safe: 'allow', caution: 'allow', dangerous: 'ask' },
};

/**
 * What may happen with a scanned skill, by where it comes from (core notes 2.8, row 14 of its section 3): a publisher's word covers doubt,
 * not danger; a stranger's caution needs the owner's yes, his danger is never lifted; what the agent or the owner wrote is asked about when
 * dangerous. `ask` without anybody to ask is a refusal; that is for the caller to know.
 */
export function guardDecision(report: ScanReport, source: GuardSource): GuardDecision {
  return POLICY[source][report.verdict];
}

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
