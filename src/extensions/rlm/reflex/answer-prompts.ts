// Owns the answers by rule to prompts that are JSON: the four modes of a scaffold call (`rlm.hermes.input.v1`), the baseline's one call
// (`rlm.vanilla_baseline.input.v1`), root and sub-call of `rlm ask` (`talaria.rlm.repl.v1`, `talaria.rlm.sub.v1`). Quotes, copies and counts.
// Invariant: total on any object; every text of a fact or a claim stands in the material of the prompt; nothing fits: no fact, and a gap says
// so; replies over chunks pass the strict reader. Seed 003: bounded JSON sub-calls.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { OUTPUT_VERSION } from '../envelope/output-schema.ts';
import { askCode } from './ask-code.ts';
import { distinct, pickQuotes, questionStems, rankTexts } from './pick-quotes.ts';

function fieldAt(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  return path.reduce(
    (at: JsonValue | undefined, key) => (isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined),
    value,
  );
}

/** Empty: there is no text. */
function textAt(value: JsonValue, ...path: readonly string[]): string {
  const found = fieldAt(value, path);
  return typeof found === 'string' ? found : '';
}

function objectsAt(value: JsonValue, ...path: readonly string[]): readonly JsonObject[] {
  const found = fieldAt(value, path);
  return Array.isArray(found) ? found.filter(isJsonObject) : [];
}

export function answerHermes(input: JsonObject): string {
  const mode = textAt(input, 'mode');
  if (mode === 'synthesize_parent') return JSON.stringify(answerSynthesis(input));
  return JSON.stringify(mode === 'decompose_ac' ? answerDecomposition(input) : answerLeaf(input));
}

/** What is asked, without the rules of the reply around it. */
function askedOf(input: JsonObject): string {
  const instruction = textAt(input, 'objective', 'instruction');
  const named = /(?:^|\n)Question: ([^\n]{1,2000})/.exec(instruction)?.[1] ?? '';
  return [named, textAt(input, 'ac_node', 'statement')].find((text) => text.trim() !== '') ?? instruction;
}

function replyTo(input: JsonObject, mode: string, fields: JsonObject): JsonObject {
  return {
    schema_version: OUTPUT_VERSION,
    mode,
    rlm_node_id: textAt(input, 'rlm_node', 'id'),
    ac_node_id: textAt(input, 'ac_node', 'id'),
    evidence_references: [],
    residual_gaps: [],
    control: { requires_retry: false, suggested_next_mode: 'none', must_not_recurse: true },
    ...fields,
  };
}

/** How much of the question the best quotation shares, never near certainty. */
function confidenceOf(scored: readonly { readonly score: number }[]): number {
  return Math.round(Math.min(GIVEN, Math.max(0, ...scored.map(({ score }) => score))) * 100) / 100;
}

function gapOf(gap: string, impact: string): JsonObject {
  return { gap, impact, suggested_next_step: 'Ask with words of the text, or with a model.' };
}

/** A rule cannot split a question, so it is atomic. */
function answerDecomposition(input: JsonObject): JsonObject {
  const atomic_rationale = 'What answers is a rule; it cannot split a question.';
  return replyTo(input, 'decompose_ac', {
    verdict: 'atomic',
    confidence: 1,
    result: { summary: 'The question stays whole.', details: {} },
    artifacts: [{ type: 'decomposition', is_atomic: true, atomic_rationale, proposed_child_acs: [] }],
  });
}

/** Of a call over several chunks. */
const MOST_FACTS = 24;

function answerLeaf(input: JsonObject): JsonObject {
  const mode = textAt(input, 'mode') === 'summarize_chunk' ? 'summarize_chunk' : 'execute_atomic';
  const chunks = objectsAt(input, 'context', 'chunks');
  const ids = chunks.map((chunk) => textAt(chunk, 'chunk_id'));
  const quotes = quotesOf(askedOf(input), chunks)
    .toSorted((left, right) => right.score - left.score)
    .slice(0, MOST_FACTS);
  const observed_facts = quotes.map(({ tag, score: _, ...fact }) => (tag === null ? fact : { fact_id: tag, ...fact }));
  const nothing = `Nothing fits the question in ${ids.slice(0, 4).join(', ')}${ids.length > 4 ? ' and the others' : ''}`;
  return replyTo(input, mode, {
    verdict: quotes.length > 0 ? 'passed' : 'partial',
    confidence: confidenceOf(quotes),
    result: { summary: `Passages quoted: ${quotes.length}.`, details: { observed_facts } },
    residual_gaps: quotes.length > 0 ? [] : [gapOf(nothing, 'Nothing is quoted from there.')],
    artifacts: [mode === 'execute_atomic' ? { type: 'atomic_execution', ...UNUSED } : summaryOf(input, ids)],
  });
}

const UNUSED = { deliverable: null, checks_performed: [], claims: [], completion_notes: '' };

function summaryOf(input: JsonObject, source_chunk_ids: readonly string[]): JsonObject {
  const summary_id = `${textAt(input, 'call_context', 'call_id')}:summary`;
  const target_ac_id = textAt(input, 'ac_node', 'id');
  const empty = { facts: [], irrelevant_sections: [], token_estimate_after_summary: 0 };
  return { type: 'chunk_summary', summary_id, source_chunk_ids, target_ac_id, ...empty };
}

function quotesOf(question: string, chunks: readonly JsonObject[]) {
  return chunks.flatMap((chunk) => {
    const evidence_chunk_id = textAt(chunk, 'chunk_id');
    return pickQuotes(question, textAt(chunk, 'content')).map((one) => ({ ...one, evidence_chunk_id }));
  });
}

/** The facts of the children that fit the question best, copied with their ids and chunks. */
function answerSynthesis(input: JsonObject): JsonObject {
  const children = objectsAt(input, 'context', 'child_results');
  const facts = children.flatMap((child) => readFacts(child, 'result_payload', 'reported_result', 'observed_facts'));
  const { confidence, ...claims } = claimsOf(askedOf(input), facts);
  const silent = children.filter((child) => textAt(child, 'completion_status') !== 'completed');
  const gaps = silent.map((child) => gapOf(`${textAt(child, 'call_id')} gave no reply.`, 'Its part is not read.'));
  if (confidence === 0) gaps.push(gapOf('No reported fact fits the question.', 'Nothing is claimed.'));
  const verdict = gaps.length === 0 ? 'passed' : 'partial';
  return { mode: 'synthesize_parent', verdict, confidence, ...claims, residual_gaps: gaps };
}

interface GivenFact {
  readonly fact_id: string;
  readonly text: string;
  readonly evidence_chunk_id: string;
}

function readFacts(value: JsonObject, ...path: readonly string[]): readonly GivenFact[] {
  return objectsAt(value, ...path).flatMap((item) => {
    const [fact_id, text] = [textAt(item, 'fact_id'), textAt(item, 'text')];
    const evidence_chunk_id = textAt(item, 'evidence_chunk_id') || textAt(item, 'chunk_id');
    return fact_id === '' || text === '' || evidence_chunk_id === '' ? [] : [{ fact_id, text, evidence_chunk_id }];
  });
}

/** A fact that is given is there, whatever was asked. */
const GIVEN = 0.8;
const MOST_OF_ALL = 60;

/** What fits, each text once (without words to look for all, up to the bound), references that quote it, a summary that counts. */
function claimsOf(question: string, facts: readonly GivenFact[]) {
  const stems = questionStems(question);
  const all = distinct(facts).map((fact) => ({ ...fact, score: GIVEN }));
  const fitting = stems.length === 0 ? all.slice(0, MOST_OF_ALL) : rankTexts(stems, all, { near: 0.5, most: 16 });
  const chunks = new Set(fitting.map((fact) => fact.evidence_chunk_id)).size;
  const summary = `${fitting.length} of ${facts.length} reported facts fit the question, from ${chunks} ${chunks === 1 ? 'chunk' : 'chunks'}.`;
  return {
    confidence: confidenceOf(fitting),
    result: { summary, retained_facts: fitting.map(({ score: _, ...fact }): JsonObject => fact) },
    evidence_references: fitting.map(({ fact_id, text, evidence_chunk_id }) => ({
      chunk_id: evidence_chunk_id,
      supports_fact_ids: [fact_id],
      quoted_evidence: text,
    })),
  };
}

/** Facts that are given, else tagged lines of the chunks; nothing of an omitted chunk is named. */
export function answerVanilla(input: JsonObject): string {
  const question = askedOf(input);
  const given = readFacts(input, 'context', 'retained_facts');
  const read = quotesOf(question, objectsAt(input, 'context', 'retained_chunks')).flatMap(({ tag, ...fact }) =>
    tag === null ? [] : [{ fact_id: tag, ...fact }],
  );
  const { confidence, result, evidence_references } = claimsOf(question, given.length > 0 ? given : read);
  const omitted = fieldAt(input, ['context', 'omitted_chunk_ids']);
  const beyond = Array.isArray(omitted) ? omitted.length : 0;
  const boundary = fieldAt(input, ['context', 'truncation_boundary']);
  const unknown = `${beyond} chunks were omitted; what they hold is unknown and not claimed.`;
  return JSON.stringify({
    mode: 'vanilla_single_pass',
    verdict: confidence > 0 && beyond === 0 ? 'passed' : 'partial',
    confidence,
    result: { ...result, truncation_report: isJsonObject(boundary) ? boundary : {} },
    evidence_references,
    residual_gaps: beyond === 0 ? [] : [gapOf(unknown, 'The answer ends where the supplied chunks end.')],
  });
}

/** The passages of the piece that fit the question, as claims. */
export function answerSub(input: JsonObject): string {
  const claims = pickQuotes(textAt(input, 'question'), textAt(input, 'piece')).map(({ text }) => ({ text }));
  return JSON.stringify({ answer: claims.map(({ text }) => text).join('\n'), claims });
}

/** Code; when no code runs any more, what handles hold whole. */
export function answerRoot(input: JsonObject): string {
  if (textAt(input, 'task') === 'final_answer') {
    const whole = objectsAt(input, 'handles').filter(
      (one) => one.kind === 'child' && !textAt(one, 'text').endsWith('…'),
    );
    return JSON.stringify({
      answer: whole.slice(-6).map((one) => ({ text: textAt(one, 'text'), handles: [textAt(one, 'id')] })),
    });
  }
  const failed = objectsAt(input, 'history').some((step) => textAt(step, 'failure') !== '');
  return ['```js', askCode(textAt(input, 'question'), failed), '```'].join('\n');
}
