// Owns what a check of a run finds, as plain data. Codes are stable; `where` names event, call, node, claim or handle.

export type ProblemCode =
  | 'seq-gap'
  | 'event-id'
  | 'event-of-other-run'
  | 'event-type-unknown'
  | 'causal-parent-missing'
  | 'causal-parent-late'
  | 'start-missing'
  | 'request-hash'
  | 'finish-missing'
  | 'event-after-finish'
  | 'state-unlikely'
  | 'call-not-started'
  | 'call-not-completed'
  | 'call-started-twice'
  | 'call-without-record'
  | 'call-disagrees'
  | 'call-twice'
  | 'call-of-other-run'
  | 'call-outcome'
  | 'parent-call-missing'
  | 'parent-trace'
  | 'call-depth'
  | 'child-list-disagrees'
  | 'child-record-missing'
  | 'child-tree'
  | 'prompt-hash'
  | 'response-hash'
  | 'system-prompt-hash'
  | 'node-unknown'
  | 'node-not-terminal'
  | 'node-terminal-twice'
  | 'outcome-missing'
  | 'outcome-hash'
  | 'outcome-of-other-run'
  | 'outcome-state'
  | 'outcome-shape'
  | 'totals'
  | 'text-missing'
  | 'text-hash'
  | 'quote-not-in-chunk'
  | 'evidence-call'
  | 'claim-without-evidence'
  | 'claim-not-said'
  | 'verdict-unfounded'
  | 'handle-missing'
  | 'handle-hash'
  | 'handle-wrong';

export interface Problem {
  readonly code: ProblemCode;
  readonly where: string;
  /** One sentence. */
  readonly detail: string;
}

export function problem(code: ProblemCode, where: string, detail: string): Problem {
  return { code, where, detail };
}
