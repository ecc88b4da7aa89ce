// Owns the words in which a page says codes: verdicts, reasons, states, events. Data only. Invariant: a code that is not known is shown
// as it is; what passed a gate is called cited, since the gate proves that the source says it, and no more.

import type { AskVerdict } from '../../ask/ask-outcome.ts';
import type { RejectionReason } from '../../guard/parent-claim.ts';
import type { RunVerdict } from '../../run/run-outcome.ts';
import type { RunEventType } from '../../trace/run-event.ts';

export type Tone = 'good' | 'bad' | 'mixed';

export interface VerdictWords {
  readonly title: string;
  readonly says: string;
  readonly tone: Tone;
}

const RUN_VERDICTS: Readonly<Record<RunVerdict, VerdictWords>> = {
  accepted: { title: 'Accepted', says: 'Every claim of the synthesis is cited: its source says it.', tone: 'good' },
  refused: { title: 'Refused', says: 'The synthesis did not pass the gate; none of its claims counts.', tone: 'bad' },
  no_evidence: { title: 'No evidence', says: 'No call quoted anything that its chunk holds.', tone: 'mixed' },
  failed: { title: 'Failed', says: 'The run ended before there was a synthesis to judge.', tone: 'bad' },
  cancelled: { title: 'Cancelled', says: 'The run was ended from outside; nothing was accepted.', tone: 'mixed' },
  dry_run: { title: 'Dry run', says: 'Planned only: no model was asked.', tone: 'mixed' },
};

const ASK_VERDICTS: Readonly<Record<AskVerdict, VerdictWords>> = {
  answered: {
    title: 'Answered',
    says: 'What is quoted stands whole in the source; what a model read is marked so.',
    tone: 'good',
  },
  unsupported: {
    title: 'Not supported',
    says: 'There is an answer, and no sentence of it is quoted or supported.',
    tone: 'bad',
  },
  no_answer: { title: 'No answer', says: 'The model never finished an answer.', tone: 'mixed' },
  failed: { title: 'Failed', says: 'The run ended before there was an answer.', tone: 'bad' },
  cancelled: { title: 'Cancelled', says: 'The run was ended from outside.', tone: 'mixed' },
};

export function verdictWords(kind: 'run' | 'ask', verdict: string): VerdictWords {
  const known: Readonly<Record<string, VerdictWords>> = kind === 'run' ? RUN_VERDICTS : ASK_VERDICTS;
  return own(known, verdict) ?? { title: verdict, says: '', tone: 'mixed' };
}

const REASONS: Readonly<Record<RejectionReason, string>> = {
  chunk_handle_without_fact: 'a chunk is cited without any fact',
  unsupported_fact_id: 'no call of this run reported such a fact',
  missing_evidence_handle: 'the claim does not say where its fact stands',
  evidence_handle_mismatch: 'the fact stands elsewhere than the claim says',
  evidence_text_mismatch: 'the claim says something else than its evidence',
  claim_outside_schema: 'something is claimed where no claim may stand',
  missing_required_fact: 'a fact that had to be named is not',
  no_claims: 'nothing is claimed that could be checked',
};

const OTHER_REASONS: Readonly<Record<string, string>> = {
  max_chunks: 'beyond the number of chunks',
  max_bytes: 'beyond the number of bytes',
  budget_calls: 'the calls were used up',
  budget_tokens: 'the tokens were used up',
  budget_cost: 'the money was used up',
  budget_time: 'the time was used up',
};

/** Null: the code speaks for itself. */
export function reasonWords(reason: string): string | null {
  return own(REASONS as Readonly<Record<string, string>>, reason) ?? own(OTHER_REASONS, reason) ?? null;
}

const EVENTS: Readonly<Record<RunEventType, string>> = {
  'rlm.run.started': 'run started',
  'rlm.node.scheduled': 'node queued',
  'rlm.context.bound': 'context bound',
  'rlm.hermes.call.started': 'call started',
  'rlm.hermes.call.completed': 'call answered',
  'rlm.hermes.response.validated': 'reply judged',
  'rlm.state.committed': 'state committed',
  'rlm.node.terminal': 'node ended',
  'rlm.run.finished': 'run finished',
};

export function eventWords(type: string): string {
  return own(EVENTS as Readonly<Record<string, string>>, type) ?? type;
}

const MODES: Readonly<Record<string, string>> = {
  decompose_ac: 'take the question apart',
  execute_atomic: 'read a part',
  summarize_chunk: 'read a chunk',
  synthesize_parent: 'put the findings together',
  repl_root: 'write code',
  repl_sub: 'read a piece',
  judge: 'read what the answer cites',
  vanilla_single_pass: 'answer in one pass',
  rate_ambiguity: 'rate the question',
};

export function modeWords(mode: string): string {
  return own(MODES, mode) ?? mode;
}

export function stateTone(state: string): Tone {
  if (state === 'failed') return 'bad';
  return state.endsWith('_complete') || state === 'decomposed' || state === 'completed' ? 'good' : 'mixed';
}

/** `atomic_complete` → `atomic complete`. */
export function stateWords(state: string): string {
  return state.replaceAll('_', ' ');
}

function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
