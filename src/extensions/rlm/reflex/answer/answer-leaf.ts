// Owns the answer by rule to a call over chunks: what of them fits the question, quoted, each with the chunk in which it stands.
// Invariant: a quote stands in its chunk; nothing fits: no fact, and a gap says so. The reply passes the strict reader.
import type { JsonObject } from '#base/json.ts';
import { OUTPUT_VERSION } from '../../envelope/output-schema.ts';
import { pickQuotes, type Quote } from '../rank/pick-quotes.ts';
import { askedOf } from '../read/asked-of.ts';
import { objectsAt, textAt } from '../read/read-fields.ts';
import { readQuestion } from '../read/read-question.ts';
import { confidenceOf } from './confidence.ts';

interface ChunkQuote extends Quote {
  readonly chunk_id: string;
}

/** Of a call over several chunks. */
const MOST_FACTS = 24;

export function answerLeaf(input: JsonObject, mode: 'execute_atomic' | 'summarize_chunk'): JsonObject {
  const question = readQuestion(askedOf(input));
  const chunks = objectsAt(input, 'context', 'chunks');
  const quotes = chunks
    .flatMap((chunk): readonly ChunkQuote[] => {
      const chunk_id = textAt(chunk, 'chunk_id');
      if (chunk_id === '') return [];
      return pickQuotes(question, textAt(chunk, 'content')).map((quote) => ({ ...quote, chunk_id }));
    })
    .toSorted((left, right) => right.score - left.score)
    .slice(0, MOST_FACTS);
  const facts = quotes.map(({ text, tag, chunk_id }) => ({
    ...(tag === null ? {} : { fact_id: tag }),
    text,
    evidence_chunk_id: chunk_id,
  }));
  return {
    schema_version: OUTPUT_VERSION,
    mode,
    rlm_node_id: textAt(input, 'rlm_node', 'id'),
    ac_node_id: textAt(input, 'ac_node', 'id'),
    verdict: facts.length > 0 ? 'passed' : 'partial',
    confidence: confidenceOf(quotes.map(({ score }) => score)),
    result: { summary: summaryOf(facts.length), details: { observed_facts: facts } },
    evidence_references: [],
    residual_gaps: facts.length > 0 ? [] : [nothingFits(chunks)],
    artifacts: [artifactOf(input, mode)],
    control: { requires_retry: false, suggested_next_mode: 'none', must_not_recurse: true },
  };
}

const MOST_NAMED = 4;

function nothingFits(chunks: readonly JsonObject[]): JsonObject {
  const ids = chunks.slice(0, MOST_NAMED).map((chunk) => textAt(chunk, 'chunk_id'));
  const more = chunks.length > MOST_NAMED ? ` and ${chunks.length - MOST_NAMED} more` : '';
  return {
    gap: ids.length === 0 ? 'No chunk was supplied' : `Nothing that fits the question in ${ids.join(', ')}${more}`,
    impact: 'Nothing is quoted from there.',
    suggested_next_step: 'Ask with words of the text, or with a model.',
  };
}

function summaryOf(count: number): string {
  if (count === 0) return 'Nothing is quoted.';
  return count === 1 ? 'One passage is quoted.' : `${count} passages are quoted.`;
}

function artifactOf(input: JsonObject, mode: 'execute_atomic' | 'summarize_chunk'): JsonObject {
  if (mode === 'execute_atomic')
    return {
      type: 'atomic_execution',
      deliverable: null,
      checks_performed: [],
      claims: [],
      completion_notes: 'by rule',
    };
  const ids = objectsAt(input, 'context', 'chunks').map((chunk) => textAt(chunk, 'chunk_id'));
  return {
    type: 'chunk_summary',
    summary_id: `${textAt(input, 'call_context', 'call_id')}:summary`,
    source_chunk_ids: ids,
    target_ac_id: textAt(input, 'ac_node', 'id'),
    facts: [],
    irrelevant_sections: [],
    token_estimate_after_summary: 0,
  };
}
