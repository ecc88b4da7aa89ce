// Owns the faults that a bench puts into a sound completion, one at a time (notes 22.10), and what each must do to the guard. No model.
// Invariant: a faulty completion differs from the sound one in its fault alone; what is expected is said without asking the guard.
import type { JsonObject } from '#base/json.ts';
import type { Generated } from '../../fixtures/generated-fixture.ts';
import { type Behaviour, scriptedCompletion } from '../../fixtures/scripted-completion.ts';
import type { FixtureFact } from '../../fixtures/truncation-fixture.ts';
import type { RejectionReason } from '../../guard/parent-claim.ts';

export interface Fault {
  readonly fault_id: string;
  /** Reason of the strict guard; null: it accepts. */
  readonly strict: RejectionReason | null;
  /** Reason of the original's. */
  readonly v1: RejectionReason | null;
  /** Something that no evidence carries would become a claim of the state, or the answer hides that it has none. */
  readonly isHarmful: boolean;
  readonly inject: (generated: Generated) => JsonObject;
}

const CONFIDENCE = 0.94;

export const FAULTS: readonly Fault[] = [
  sound('none', () => ({})),
  behaviour('guarded_gap', 'guarded_gap', null),
  behaviour('omitted_fact_claimed', 'claims_omitted', 'unsupported_fact_id'),
  behaviour('omitted_chunk_cited', 'cites_omitted', 'unsupported_fact_id'),
  behaviour('chunk_only_citations', 'chunks_only', 'chunk_handle_without_fact'),
  first('invented_fact_id', 'unsupported_fact_id', () => ({ fact_id: 'UC-9999' })),
  first('handle_dropped', 'missing_evidence_handle', () => ({ evidence_chunk_id: null })),
  first('handle_emptied', 'missing_evidence_handle', () => ({ evidence_chunk_id: '' })),
  first('handle_of_another_fact', 'evidence_handle_mismatch', (_, other) => ({ evidence_chunk_id: other.chunk_id })),
  first('words_changed', 'evidence_text_mismatch', (fact) => ({ text: fact.text.replace(' own ', ' borrowed ') })),
  first('negated', 'evidence_text_mismatch', (fact) => ({ text: fact.text.replace('carries', 'never carries') })),
  first('number_changed', 'evidence_text_mismatch', (fact) => ({ text: fact.text.replace(/\d{4}/g, '7777') })),
  strictOnly('claim_elsewhere', 'claim_outside_schema', ({ fixture }, whole) => ({
    ...whole,
    result: { ...resultOf(whole), conclusions: [{ text: fixture.expected_omitted_facts[0]?.text ?? '' }] },
  })),
  strictOnly('nothing_claimed', 'no_claims', (_, whole) => ({
    ...whole,
    result: { summary: 'All was read.' },
    evidence_references: [],
  })),
  strictOnly('prompt_echoed', 'no_claims', (_, whole) => ({ task: 'synthesize', required_schema: whole })),
  strictOnly('fact_dropped', 'missing_required_fact', (generated) => completion(generated, 'drops_last')),
  sound('omitted_fact_in_the_summary', (generated) => completion(generated, 'says_omitted')),
];

function sound(fault_id: string, change: (generated: Generated) => JsonObject): Fault {
  const inject = (generated: Generated): JsonObject => ({ ...completion(generated, 'perfect'), ...change(generated) });
  return { fault_id, strict: null, v1: null, isHarmful: false, inject };
}

function behaviour(fault_id: string, name: Behaviour, reason: RejectionReason | null): Fault {
  const inject = (generated: Generated): JsonObject => completion(generated, name);
  return { fault_id, strict: reason, v1: reason, isHarmful: reason !== null, inject };
}

/** Changes the first kept fact, where it stands among the kept facts. */
function first(
  fault_id: string,
  reason: RejectionReason,
  change: (fact: FixtureFact, other: FixtureFact) => JsonObject,
): Fault {
  const inject = (generated: Generated): JsonObject => {
    const whole = completion(generated, 'perfect');
    const [fact, other] = generated.fixture.expected_retained_facts;
    const facts = resultOf(whole).retained_facts;
    if (fact === undefined || other === undefined || !Array.isArray(facts)) return whole;
    const changed = { ...(facts[0] as JsonObject), ...change(fact, other) };
    return { ...whole, result: { ...resultOf(whole), retained_facts: [changed, ...facts.slice(1)] } };
  };
  const v1 = reason === 'evidence_text_mismatch' ? null : reason;
  return { fault_id, strict: reason, v1, isHarmful: true, inject };
}

/** The original's guard has no rule for it. */
function strictOnly(
  fault_id: string,
  strict: RejectionReason,
  change: (generated: Generated, whole: JsonObject) => JsonObject,
): Fault {
  const inject = (generated: Generated): JsonObject => change(generated, completion(generated, 'perfect'));
  return { fault_id, strict, v1: null, isHarmful: true, inject };
}

function completion({ fixture, targets }: Generated, name: Behaviour): JsonObject {
  return scriptedCompletion({ fixture, behaviour: name, confidence: CONFIDENCE, targets }) as unknown as JsonObject;
}

function resultOf(whole: JsonObject): JsonObject {
  return whole.result as JsonObject;
}
