// Owns the answers by rule to prompts that ask for JSON: the four modes of a scaffold call (`rlm.hermes.input.v1`), the baseline's one call
// (`rlm.vanilla_baseline.input.v1`) and a sub-call of `rlm ask` (`talaria.rlm.sub.v1`). Quotes, copies and counts.
// Invariant: total on any object; every text of a fact or a claim stands in the material of the prompt; nothing fits: no fact, and a gap says
// so; replies over chunks pass the strict reader. Seed 003: bounded JSON sub-calls.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { OUTPUT_VERSION } from '../envelope/output-schema.ts';
import { pickQuotes, type Quote } from './pick-quotes.ts';
import { fieldAt, objectsAt, textAt } from './read-fields.ts';
import { bestOf, type Question, rankTexts, readQuestion } from './read-question.ts';

export function answerHermes(input: JsonObject): string {
  return JSON.stringify(replyTo(input));
}

function replyTo(input: JsonObject): JsonObject {
  switch (fieldAt(input, 'mode')) {
    case 'decompose_ac':
      return answerDecomposition(input);
    case 'synthesize_parent':
      return answerSynthesis(input);
    case 'summarize_chunk':
      return answerLeaf(input, 'summarize_chunk');
    default:
      return answerLeaf(input, 'execute_atomic');
  }
}

/** What is asked, without the rules of the reply around it. */
function askedOf(input: JsonObject): Question {
  const instruction = textAt(input, 'objective', 'instruction');
  const named = /(?:^|\n)Question: ([^\n]{1,2000})/.exec(instruction)?.[1] ?? '';
  const statement = textAt(input, 'ac_node', 'statement');
  return readQuestion([named, statement, instruction].find((text) => text.trim() !== '') ?? '');
}

function idsOf(input: JsonObject, mode: string): JsonObject {
  return { mode, rlm_node_id: textAt(input, 'rlm_node', 'id'), ac_node_id: textAt(input, 'ac_node', 'id') };
}

const CONTROL = { requires_retry: false, suggested_next_mode: 'none', must_not_recurse: true };

/** How much of the question the best quotation shares, never near certainty. */
function confidenceOf(scored: readonly { readonly score: number }[]): number {
  const best = scored.reduce((most, { score }) => Math.max(most, score), 0);
  return Math.round(Math.min(GIVEN, best) * 100) / 100;
}

function gapOf(gap: string, impact: string, suggested_next_step = ''): JsonObject {
  return { gap, impact, suggested_next_step };
}

const ASK_ELSE = 'Ask with words of the text, or with a model.';

/** A rule cannot split a question, so it is atomic. */
function answerDecomposition(input: JsonObject): JsonObject {
  const atomic_rationale = 'What answers is a rule; it cannot split a question.';
  return {
    schema_version: OUTPUT_VERSION,
    ...idsOf(input, 'decompose_ac'),
    verdict: 'atomic',
    confidence: 1,
    result: { summary: 'The question stays whole.', details: {} },
    evidence_references: [],
    residual_gaps: [],
    artifacts: [{ type: 'decomposition', is_atomic: true, atomic_rationale, proposed_child_acs: [] }],
    control: CONTROL,
  };
}

/** Of a call over several chunks. */
const MOST_FACTS = 24;
const MOST_NAMED = 4;

function answerLeaf(input: JsonObject, mode: 'execute_atomic' | 'summarize_chunk'): JsonObject {
  const chunks = objectsAt(input, 'context', 'chunks');
  const ids = chunks.map((chunk) => textAt(chunk, 'chunk_id'));
  const quotes = quotesOf(askedOf(input), chunks)
    .toSorted((left, right) => right.score - left.score)
    .slice(0, MOST_FACTS);
  const named = `${ids.slice(0, MOST_NAMED).join(', ')}${ids.length > MOST_NAMED ? ` and ${ids.length - MOST_NAMED} more` : ''}`;
  const gap = ids.length === 0 ? 'No chunk was supplied' : `Nothing that fits the question in ${named}`;
  const observed_facts = quotes.map(({ text, tag, chunk_id: evidence_chunk_id }) =>
    tag === null ? { text, evidence_chunk_id } : { fact_id: tag, text, evidence_chunk_id },
  );
  return {
    schema_version: OUTPUT_VERSION,
    ...idsOf(input, mode),
    verdict: quotes.length > 0 ? 'passed' : 'partial',
    confidence: confidenceOf(quotes),
    result: { summary: `Passages quoted: ${quotes.length}.`, details: { observed_facts } },
    evidence_references: [],
    residual_gaps: quotes.length > 0 ? [] : [gapOf(gap, 'Nothing is quoted from there.', ASK_ELSE)],
    artifacts: [mode === 'execute_atomic' ? EXECUTION : summaryOf(input, ids)],
    control: CONTROL,
  };
}

const EXECUTION = {
  type: 'atomic_execution',
  deliverable: null,
  checks_performed: [],
  claims: [],
  completion_notes: 'by rule',
};

function summaryOf(input: JsonObject, source_chunk_ids: readonly string[]): JsonObject {
  return {
    type: 'chunk_summary',
    summary_id: `${textAt(input, 'call_context', 'call_id')}:summary`,
    source_chunk_ids,
    target_ac_id: textAt(input, 'ac_node', 'id'),
    facts: [],
    irrelevant_sections: [],
    token_estimate_after_summary: 0,
  };
}

function quotesOf(
  question: Question,
  chunks: readonly JsonObject[],
): readonly (Quote & { readonly chunk_id: string })[] {
  return chunks.flatMap((chunk) => {
    const chunk_id = textAt(chunk, 'chunk_id');
    const quotes = chunk_id === '' ? [] : pickQuotes(question, textAt(chunk, 'content'));
    return quotes.map((quote) => ({ ...quote, chunk_id }));
  });
}

/** The facts of the children that fit the question best, copied with their ids and chunks. */
function answerSynthesis(input: JsonObject): JsonObject {
  const children = objectsAt(input, 'context', 'child_results');
  const facts = children.flatMap((child) => readFacts(child, 'result_payload', 'reported_result', 'observed_facts'));
  const fitting = fitFacts(askedOf(input), facts);
  const silent = children.filter((child) => textAt(child, 'completion_status') !== 'completed');
  const gaps = [
    ...silent.map((child) => gapOf(`${textAt(child, 'call_id')} gave no reply.`, 'Its part is not read.')),
    ...(fitting.length > 0
      ? []
      : [gapOf('No child reported a fact that fits the question.', 'Nothing is claimed.', ASK_ELSE)]),
  ];
  return {
    ...idsOf(input, 'synthesize_parent'),
    verdict: gaps.length === 0 ? 'passed' : 'partial',
    confidence: confidenceOf(fitting),
    ...claimsOf(fitting, facts.length),
    residual_gaps: gaps,
  };
}

interface GivenFact {
  readonly fact_id: string;
  readonly text: string;
  readonly chunk_id: string;
}

function readFacts(value: JsonObject, ...path: readonly string[]): readonly GivenFact[] {
  return objectsAt(value, ...path).flatMap((item) => {
    const [fact_id, text] = [textAt(item, 'fact_id'), textAt(item, 'text')];
    const chunk_id = textAt(item, 'evidence_chunk_id') || textAt(item, 'chunk_id');
    return fact_id === '' || text === '' || chunk_id === '' ? [] : [{ fact_id, text, chunk_id }];
  });
}

type FittingFact = GivenFact & { readonly score: number };

/** A fact that is given is there, whatever was asked. */
const GIVEN = 0.8;
const MOST_FITTING = 16;
const MOST_OF_ALL = 60;
/** Of the best score. */
const NEAR = 0.5;

/** Each text and each id once; a question without words to look for keeps all of them, up to the bound. */
function fitFacts(question: Question, facts: readonly GivenFact[]): readonly FittingFact[] {
  const seen = new Set<string>();
  const once = facts.filter(({ fact_id, text }) => {
    const folded = `text ${text.replace(/\s+/g, ' ').toLowerCase()}`;
    if (seen.has(folded) || seen.has(`id ${fact_id}`)) return false;
    seen.add(folded).add(`id ${fact_id}`);
    return true;
  });
  if (question.stems.length === 0) return once.slice(0, MOST_OF_ALL).map((fact) => ({ ...fact, score: GIVEN }));
  const best = bestOf(rankTexts(question, once), { near: NEAR, most: MOST_FITTING });
  return best.flatMap(({ at, score }) => once.slice(at, at + 1).map((fact) => ({ ...fact, score })));
}

/** Retained facts, references that quote them, and a summary that only counts; `reported`: of how many they were chosen. */
function claimsOf(facts: readonly FittingFact[], reported: number) {
  const chunks = new Set(facts.map(({ chunk_id }) => chunk_id)).size;
  return {
    result: {
      summary: `${facts.length} of ${reported} reported facts fit the question, from ${chunks} ${chunks === 1 ? 'chunk' : 'chunks'}.`,
      retained_facts: facts.map(({ fact_id, text, chunk_id }) => ({ fact_id, text, evidence_chunk_id: chunk_id })),
    },
    evidence_references: facts.map(({ fact_id, text, chunk_id }) => ({
      chunk_id,
      supports_fact_ids: [fact_id],
      quoted_evidence: text,
    })),
  };
}

/** Facts that are given, else tagged lines of the chunks; nothing of an omitted chunk is named. */
export function answerVanilla(input: JsonObject): string {
  const question = askedOf(input);
  const given = readFacts(input, 'context', 'retained_facts');
  const read = quotesOf(question, objectsAt(input, 'context', 'retained_chunks')).flatMap(({ tag, text, chunk_id }) =>
    tag === null ? [] : [{ fact_id: tag, text, chunk_id }],
  );
  const facts = given.length > 0 ? given : read;
  const fitting = fitFacts(question, facts);
  const { result, evidence_references } = claimsOf(fitting, facts.length);
  const omitted = fieldAt(input, 'context', 'omitted_chunk_ids');
  const beyond = Array.isArray(omitted) ? omitted.length : 0;
  const boundary = fieldAt(input, 'context', 'truncation_boundary');
  const unknown = `${beyond} chunks were omitted; what they hold is unknown and not claimed.`;
  return JSON.stringify({
    mode: 'vanilla_single_pass',
    verdict: fitting.length > 0 && beyond === 0 ? 'passed' : 'partial',
    confidence: confidenceOf(fitting),
    result: { ...result, truncation_report: isJsonObject(boundary) ? boundary : {} },
    evidence_references,
    residual_gaps: beyond === 0 ? [] : [gapOf(unknown, 'The answer ends where the supplied chunks end.')],
  });
}

/** The passages of the piece that fit the question, as claims. */
export function answerSub(input: JsonObject): string {
  const quotes = pickQuotes(readQuestion(textAt(input, 'question')), textAt(input, 'piece'));
  const claims = quotes.map(({ text }) => ({ text }));
  return JSON.stringify({ answer: quotes.map(({ text }) => text).join('\n'), claims });
}
