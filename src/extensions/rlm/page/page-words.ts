// Owns the words in which a page and a terminal say codes: verdicts, reasons, what a call is for. Data only. Invariant: a code that is not known is
// shown as it is; what passed a gate is called cited, since the gate proves that the source says it, and no more.
import type { RejectionReason } from '../guard/read-claims.ts';
import type { AskVerdict, RunVerdict } from '../outcome.ts';

export type Tone = 'good' | 'bad' | 'mixed';

type VerdictWords = readonly [title: string, says: string, tone: Tone];

const RUN_VERDICTS: Readonly<Record<RunVerdict, VerdictWords>> = {
  accepted: ['Accepted', 'Every claim of the synthesis is cited: its source says it.', 'good'],
  refused: ['Refused', 'The synthesis did not pass the gate; none of its claims counts.', 'bad'],
  no_evidence: ['No evidence', 'No call quoted anything that its chunk holds.', 'mixed'],
  failed: ['Failed', 'The run ended before there was a synthesis to judge.', 'bad'],
  cancelled: ['Cancelled', 'The run was ended from outside; nothing was accepted.', 'mixed'],
  dry_run: ['Dry run', 'Planned only: no model was asked.', 'mixed'],
};

const ASK_VERDICTS: Readonly<Record<AskVerdict, VerdictWords>> = {
  answered: ['Answered', 'What is quoted stands whole in the source; what a model read is marked so.', 'good'],
  unsupported: ['Not supported', 'There is an answer, and no sentence of it is quoted or supported.', 'bad'],
  no_answer: ['No answer', 'The model never finished an answer.', 'mixed'],
  failed: ['Failed', 'The run ended before there was an answer.', 'bad'],
  cancelled: ['Cancelled', 'The run was ended from outside.', 'mixed'],
};

export function verdictWords(kind: 'run' | 'ask', verdict: string): VerdictWords {
  const known: Readonly<Record<string, VerdictWords>> = kind === 'run' ? RUN_VERDICTS : ASK_VERDICTS;
  return own(known, verdict) ?? [verdict, '', 'mixed'];
}

const GATE_REASONS: Readonly<Record<RejectionReason, string>> = {
  chunk_handle_without_fact: 'a chunk is cited without any fact',
  unsupported_fact_id: 'no call of this run reported such a fact',
  missing_evidence_handle: 'the claim does not say where its fact stands',
  evidence_handle_mismatch: 'the fact stands elsewhere than the claim says',
  evidence_text_mismatch: 'the claim says something else than its evidence',
  claim_outside_schema: 'something is claimed where no claim may stand',
  missing_required_fact: 'a fact that had to be named is not',
  no_claims: 'nothing is claimed that could be checked',
};

const REASONS: Readonly<Record<string, string>> = {
  ...GATE_REASONS,
  max_chunks: 'beyond the number of chunks',
};

/** Null: the code speaks for itself. */
export function reasonWords(reason: string): string | null {
  return own(REASONS, reason) ?? null;
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

function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
