// Owns checking a proposal against the evidence (seed 002; curator notes 13, verify). Pure; the proposal is data of unknown origin.
// Invariant: a flag counts only when it is literally what it must be; an action with a destructive word fails, whole words only.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { EvidenceReport } from '../report/evidence.ts';

export interface ProposalVerdict {
  readonly schema_version: '0.2';
  readonly passed: boolean;
  readonly checks: Readonly<Record<string, boolean>>;
  /** Names of the checks that failed. */
  readonly failures: readonly string[];
  readonly policy: string;
}

const DESTRUCTIVE = new Set(['delete', 'remove', 'archive', 'rename', 'merge', 'prune']);

export function verifyProposal(
  proposal: JsonValue,
  report: Pick<EvidenceReport, 'summary' | 'skill_evidence' | 'filters'>,
): ProposalVerdict {
  const fields: JsonObject = isJsonObject(proposal) ? proposal : {};
  const { skill } = report.filters;
  const checks: Record<string, boolean> = {
    dry_run: fields.dry_run === true,
    grounded_in_evidence: countOf(fields.grounding_event_count) > 0 && evidenceCount(report) > 0,
    ...(skill === null ? {} : { skill_matches_report: fields.skill_name === skill }),
    non_destructive: !hasDestructiveAction(fields.proposed_actions),
    approval_required: fields.requires_human_approval === true,
    mutation_blocked_by_default: fields.mutation_allowed === false,
  };
  const failures = Object.keys(checks).filter((name) => checks[name] === false);
  return {
    schema_version: '0.2',
    passed: failures.length === 0,
    checks,
    failures,
    policy: 'A proposal that passes may be reviewed; applying it needs approval and the guarded apply.',
  };
}

function evidenceCount({ skill_evidence: rows, summary }: Pick<EvidenceReport, 'summary' | 'skill_evidence'>): number {
  return Math.max(rows.length, summary.skill_events + summary.error_events);
}

function countOf(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0;
}

function hasDestructiveAction(actions: JsonValue | undefined): boolean {
  if (!Array.isArray(actions)) return false;
  return actions.some((action: JsonValue) => {
    if (!isJsonObject(action)) return false;
    const words = `${String(action.kind ?? '')} ${String(action.description ?? '')}`.toLowerCase();
    return words.split(/[^\p{L}\p{N}]+/u).some((word) => DESTRUCTIVE.has(word));
  });
}

/** The text form: one line a check. */
export function proposalVerdictText({ passed, checks, policy }: ProposalVerdict): string {
  const lines = Object.entries(checks).map(([name, held]) => `${held ? '✓' : '✗'} ${name}`);
  return [passed ? 'The proposal passes.' : 'The proposal does not pass.', ...lines, '', policy].join('\n');
}
