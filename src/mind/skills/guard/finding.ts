// Owns what a scan says: findings and the verdict drawn from them. Knows no rule and no file system.
// Invariant: the verdict follows from the severities alone: critical is dangerous, high is caution, all else is safe
// (core notes 2.8).

export type Severity = 'critical' | 'high' | 'medium' | 'low';

export type ThreatClass =
  | 'shell_injection'
  | 'credential_access'
  | 'exfiltration'
  | 'path_traversal'
  | 'persistence'
  | 'obfuscation'
  | 'prompt_injection'
  | 'lure'
  | 'supply_chain'
  | 'takeover'
  | 'destructive'
  | 'privilege_escalation'
  | 'agent_config'
  | 'structure';

export interface Finding {
  /** `class/name`, stable: users silence and reports count by it. */
  readonly rule: string;
  readonly threat: ThreatClass;
  readonly severity: Severity;
  /** As given; `archive.zip!inner/file` for what was found inside an archive. */
  readonly path: string;
  /** 1-based; 0 where the finding is about the file as a whole. */
  readonly line: number;
  /** At most 160 characters of the place, invisible characters spelled out. */
  readonly excerpt: string;
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

const FINDING_LIMIT = 200;

/** Worst first, one finding a rule and place, at most 200; the verdict is drawn before the cut. */
export function scanReport(findings: readonly Finding[]): ScanReport {
  const seen = new Set<string>();
  const single = findings.filter((finding) => {
    const key = `${finding.rule}\n${finding.path}\n${finding.line}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  single.sort((a, b) => ORDER[a.severity] - ORDER[b.severity] || a.path.localeCompare(b.path, 'en') || a.line - b.line);
  return { verdict: verdictOf(single), findings: single.slice(0, FINDING_LIMIT) };
}

function verdictOf(findings: readonly Finding[]): Verdict {
  if (findings.some(({ severity }) => severity === 'critical')) return 'dangerous';
  return findings.some(({ severity }) => severity === 'high') ? 'caution' : 'safe';
}

/** One step less, for what stands in a quotation, a warning or the skill's own trade. */
export function lowered(severity: Severity): Severity {
  return severity === 'critical' ? 'high' : severity === 'high' ? 'medium' : 'low';
}

export function raised(severity: Severity): Severity {
  return severity === 'low' ? 'medium' : severity === 'medium' ? 'high' : 'critical';
}
