// Owns reading the reply of a leaf: what it reports, checked against the chunks it was given, and whether it should be asked again.
// Knows no tree. Invariant: total on any text; strictness and required fields only ask again, they never lose what was found; an echoed
// prompt and a reply that was cut off give nothing. Seed 003: bounded JSON sub-calls; notes 13.6, 15.2.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Asked } from '../../envelope/asked.ts';
import { readReply } from '../../envelope/read-output.ts';
import type { PriorPolicy } from '../../memory/prior-policy.ts';
import { extractJson } from '../../text/extract-json.ts';
import { type CheckedFacts, type ChunkText, checkFacts } from '../fresh-facts.ts';
import { type ClaimedFact, claimedFacts, proseLines } from './claimed-facts.ts';
import { problemTexts } from './problem-texts.ts';
import { strictForm } from './strict-form.ts';

export interface LeafReading extends CheckedFacts {
  /** `contract`: as asked; `salvaged`: JSON of another form; `prose`: lines of a text; `nothing`: no reply at all. */
  readonly form: 'contract' | 'salvaged' | 'prose' | 'nothing';
  readonly summary: string;
  readonly verdict: string | null;
  readonly confidence: number | null;
  readonly gaps: readonly string[];
  /** Why it should be asked again; empty: it need not. */
  readonly problems: readonly string[];
}

export interface LeafTask {
  readonly asked: Asked;
  readonly chunks: readonly ChunkText[];
  readonly policy: PriorPolicy;
}

export function readLeaf(text: string, { asked, chunks, policy }: LeafTask): LeafReading {
  const lenient = readReply(text, asked, { level: 'lenient' });
  if (!lenient.ok) return readOther(text, chunks, problemTexts(lenient.problems));
  const { value, raw } = lenient;
  const claimed = claimedFacts(raw);
  const checked = checkFacts(claimed, chunks);
  const problems = [
    ...(checked.facts.length === 0 && checked.refused.length > 0 ? [NONE_STANDS] : []),
    ...(policy.output_schema === 'strict' ? strictForm(text, 'observed_facts') : []),
    ...missingFields(claimed, policy),
    ...(value.verdict === 'retryable' || value.control.requires_retry ? ['the reply asks to be asked again'] : []),
  ];
  return {
    ...checked,
    form: 'contract',
    summary: value.result.summary,
    verdict: value.verdict,
    confidence: value.confidence,
    gaps: value.residual_gaps.map(({ gap }) => gap),
    problems,
  };
}

const NONE_STANDS = 'result.observed_facts: no text of a fact stands in its chunk word for word';

/** Nothing of the reply could be used, though it reported something or had no form: the envelope was too much for who answered. */
export function isOfNoUse({ form, facts, refused }: LeafReading): boolean {
  return facts.length === 0 && (form !== 'contract' || refused.length > 0);
}

function missingFields(claimed: readonly ClaimedFact[], policy: PriorPolicy): readonly string[] {
  return policy.required_fact_fields.flatMap((field) => {
    const lacks = claimed.some((fact) => (field === 'fact_id' ? fact.fact_id : fact.chunk_id) === null);
    return lacks ? [`result.observed_facts: a fact has no ${field}`] : [];
  });
}

function readOther(text: string, chunks: readonly ChunkText[], problems: readonly string[]): LeafReading {
  const extracted = extractJson(text);
  const object = extracted.ok && isJsonObject(extracted.value) && !isEcho(extracted.value) ? extracted.value : null;
  if (object !== null) {
    const salvaged = checkFacts(claimedFacts(object), chunks);
    if (salvaged.facts.length > 0) return { ...salvaged, ...UNSAID, form: 'salvaged', problems };
  }
  const isProse = extracted.ok ? object !== null && !looksAsked(object) : extracted.reason === 'no_json';
  const lines = isProse || isBrokenProse(extracted) ? proseLines(text) : [];
  const claimed = lines.map((line) => ({ text: line, fact_id: null, chunk_id: null }));
  const { facts } = checkFacts(claimed, chunks);
  // What else stands in a text is no quotation that anybody offered.
  if (facts.length > 0) return { facts, refused: [], ...UNSAID, form: 'prose', problems: [] };
  return { facts: [], refused: [], ...UNSAID, form: 'nothing', problems };
}

const UNSAID = { summary: '', verdict: null, confidence: null, gaps: [] } as const;

/** Braces in a text, which are no JSON. */
function isBrokenProse(extracted: ReturnType<typeof extractJson>): boolean {
  return !extracted.ok && extracted.reason === 'invalid_json';
}

function isEcho(value: JsonObject): boolean {
  return value.call_context !== undefined || value.output_contract !== undefined;
}

/** An object with a field of a reply is meant as one. */
function looksAsked(value: JsonObject): boolean {
  return ['verdict', 'result', 'observed_facts', 'evidence_references'].some((key) => value[key] !== undefined);
}
