// Owns the Approver seam (may this call run?) and the Asker seam (a question to the owner in mid-turn).
// Implemented by the terminal, by `deny` for places where nobody can answer, and scripted. Knows no tool.
import type { Result } from '#base/result.ts';

/**
 * How far an effect goes: no farther than the session's folder, to others over the network, or beyond both (the home, other folders, servers
 * of this machine, settings, what steers later runs, what cannot be told). A run that approves all (`--yes`) approves the first two; what goes beyond is the owner's own answer.
 */
export type Reach = 'folder' | 'network' | 'beyond';

export interface ApprovalRequest {
  readonly callId: string;
  readonly tool: string;
  /** What would run, in full: the command, the path. */
  readonly preview: string;
  /** Why it needs an answer, e.g. `deletes files recursively`. */
  readonly reason: string;
  /** Under what the answer may be remembered; empty: it may not. */
  readonly key: string;
  /** Absent: beyond. */
  readonly reach?: Reach;
}

export type ApprovalDecision = 'once' | 'session' | 'always' | 'deny';

export interface ApprovalAnswer {
  readonly decision: ApprovalDecision;
  /** Shown to the model when denied, e.g. `nobody is there to approve it`. */
  readonly reason?: string;
}

/** Contract: resolves once, also to `deny` when nobody can answer; rejects only with the signal's reason. Never decides by itself to allow. */
export interface Approver {
  /** Nobody sits there: what it says is settled beforehand. */
  readonly isUnattended?: true;
  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>;
}

export interface Question {
  readonly question: string;
  /** Numbered from 1 on every surface; empty when any text will do. */
  readonly choices: readonly string[];
}

/** Contract: the answer is the owner's own words or the text of a choice; refusal `nobody-there` where no person can answer. */
export interface Asker {
  ask(question: Question, signal: AbortSignal): Promise<Result<string, 'nobody-there'>>;
}

/** For surfaces without a person: everything that needs an answer is denied with the reason and the way out. */
export const denyingApprover: Approver = {
  isUnattended: true,
  approve: async ({ reach = 'beyond' }) => ({
    decision: 'deny',
    reason:
      reach === 'beyond'
        ? 'it needs a yes at a terminal, and nobody can answer here'
        : 'it needs an approval and nobody can answer here; run it at a terminal, or start with --yes',
  }),
};

export const absentAsker: Asker = {
  ask: async () => ({
    ok: false,
    reason: 'nobody-there',
    detail: 'No person can answer here; decide with what is known, or say what is missing.',
  }),
};
