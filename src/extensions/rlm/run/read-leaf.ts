// Owns reading the reply of a leaf: what it reports, wherever it put it, checked against the chunks it was given, and whether it should be asked again;
// and of a plain second try its lines and sentences. Knows no tree. Invariant: total on any text; strictness and required fields only ask again, they
// never lose what was found; an echoed prompt, a reply that was cut off or that repeats the text gives nothing. Seed 003: bounded JSON sub-calls, fresh
// child evidence; notes 13.6, 15.2.

import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { sentencesOf } from '#base/text/sentences.ts';
import { extractJson } from '../guard/extract-json.ts';
import { chunkIdOf, FACT_LISTS, factIdsOf, type RejectedClaim } from '../guard/read-claims.ts';
import type { PriorPolicy } from '../memory/priors.ts';
import { type Asked, type EnvelopeProblem, outputSchema } from '../scaffold/envelope.ts';
import { type ReadReply, readReply } from '../scaffold/read-reply.ts';
import {
  type CheckedFact,
  type CheckedFacts,
  type ChunkText,
  type ClaimedFact,
  checkFacts,
  placeKey,
} from './fresh-facts.ts';
import { beforeEcho, repeats } from './plain-prompt.ts';

/** The first of these that is there is the quotation. */
const QUOTE_FIELDS: readonly string[] = ['text', 'quoted_evidence', 'quote', 'statement', 'claim'];
const MOST_CLAIMED = 400;

/** References are read when no list holds a fact: there a claim stands, not always a quotation. */
export function claimedFacts(reply: JsonObject): readonly ClaimedFact[] {
  const { result } = reply;
  const holders = isJsonObject(result) ? [result, result.details].filter(isJsonObject) : [];
  const lists = [...holders, reply].flatMap((holder) => FACT_LISTS.map((key) => holder[key]));
  const artifacts = listOf(reply.artifacts).filter(isJsonObject);
  const facts = [...lists, ...artifacts.map((one) => one.claims ?? one.facts)].flatMap(factsOf);
  const found = facts.length > 0 ? facts : factsOf(reply.evidence_references);
  return found.slice(0, MOST_CLAIMED);
}

function factsOf(value: JsonValue | undefined): readonly ClaimedFact[] {
  const list = isJsonObject(value) ? [value] : listOf(value);
  return list.flatMap((item) => {
    if (typeof item === 'string') return item.trim() === '' ? [] : claimed([item]);
    return isJsonObject(item) ? factOf(item) : [];
  });
}

function factOf(item: JsonObject): readonly ClaimedFact[] {
  const text = QUOTE_FIELDS.map((field) => item[field]).find((value) => typeof value === 'string' && value !== '');
  if (typeof text !== 'string') return [];
  const [cited] = listOf(item.evidence_chunk_ids);
  const chunk_id = chunkIdOf(item) ?? (typeof cited === 'string' ? cited : null);
  return [{ text, fact_id: factIdsOf(item)[0] ?? null, chunk_id }];
}

/** Bare quotations. */
function claimed(texts: readonly string[]): readonly ClaimedFact[] {
  return texts.map((text) => ({ text, fact_id: null, chunk_id: null }));
}

export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

const SHORTEST_LINE = 12;

/** Of a reply in prose: its lines without list marks and quotation marks; which of them stand in the chunk is for others to say. */
export function proseLines(reply: string): readonly string[] {
  const lines = reply.split(/\r\n|\n|\r/).map((line) => bareLine(line));
  return [...new Set(lines.filter(isLine))].slice(0, MOST_CLAIMED);
}

/** Long enough to be a quotation. */
function isLine(text: string): boolean {
  return text.length >= SHORTEST_LINE;
}

function bareLine(line: string): string {
  const inner = line.trim().replace(/^(?:[-*>•]|\d{1,3}[.)])\s+/, '');
  return /^["“„'`].*["”“'`]$/.test(inner) ? inner.slice(1, -1).trim() : inner;
}

const MOST = 12;

/** In the form in which what was wrong is told: to the model that is asked again, and in events. */
export function problemTexts(problems: readonly EnvelopeProblem[]): readonly string[] {
  return problems
    .slice(0, MOST)
    .map(({ code, path, detail }) => `${path === '' ? 'reply' : path}: ${detail} (${code})`);
}

export function rejectionTexts(rejected: readonly RejectedClaim[]): readonly string[] {
  return rejected.slice(0, MOST).map(({ reason, detail, claim }) => `${claim.surface}: ${detail} (${reason})`);
}

/** `list`: where the facts are asked for. */
export function strictForm(text: string, list: 'observed_facts' | 'retained_facts'): readonly string[] {
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) return ['the reply is not one bare JSON object (invalid_json)'];
  const { result } = parsed.value;
  if (!isJsonObject(result)) return ['result: is not an object (field_type)'];
  const known: readonly string[] = Object.keys(outputSchema.shape);
  const asked: readonly string[] = ['summary', 'details', list];
  const others = Object.keys(parsed.value).filter((key) => !known.includes(key));
  const inResult = Object.keys(result).filter((key) => !asked.includes(key));
  const keys = [...others, ...inResult.map((key) => `result.${key}`)];
  return keys.map((key) => `${key.slice(0, 80)}: is not asked for (field_not_allowed)`);
}

/** What a reply says of itself. */
export interface Said {
  readonly summary: string;
  readonly verdict: string | null;
  readonly confidence: number | null;
  readonly gaps: readonly string[];
}

const UNSAID: Said = { summary: '', verdict: null, confidence: null, gaps: [] };

export function saidOf(read: ReadReply): Said {
  if (!read.ok) return UNSAID;
  const { result, verdict, confidence, residual_gaps } = read.value;
  return { summary: result.summary, verdict, confidence, gaps: residual_gaps.map(({ gap }) => gap) };
}

export interface LeafReading extends CheckedFacts, Said {
  /** `contract`: as asked; `salvaged`: JSON of another form; `prose`: lines of a text; `nothing`: no reply at all. */
  readonly form: 'contract' | 'salvaged' | 'prose' | 'nothing';
  /** Why it should be asked again; empty: it need not. */
  readonly problems: readonly string[];
}

export function readLeaf(text: string, asked: Asked, chunks: readonly ChunkText[], policy: PriorPolicy): LeafReading {
  const lenient = readReply(text, asked);
  if (!lenient.ok) return readOther(text, chunks, problemTexts(lenient.problems));
  const { value, raw } = lenient;
  const offered = claimedFacts(raw);
  const checked = checkFacts(offered, chunks);
  const problems = [
    ...(checked.facts.length === 0 && checked.refused.length > 0 ? [NONE_STANDS] : []),
    ...(policy.output_schema === 'strict' ? strictForm(text, 'observed_facts') : []),
    ...missingFields(offered, policy),
    ...(value.verdict === 'retryable' || value.control.requires_retry ? ['the reply asks to be asked again'] : []),
  ];
  return { ...checked, ...saidOf(lenient), form: 'contract', problems };
}

const NONE_STANDS = 'result.observed_facts: no text of a fact stands in its chunk word for word';

/** Nothing of the reply could be used, though it reported something or had no form: the envelope was too much for who answered. */
export function isOfNoUse({ form, facts, refused }: LeafReading): boolean {
  return facts.length === 0 && (form !== 'contract' || refused.length > 0);
}

function missingFields(offered: readonly ClaimedFact[], policy: PriorPolicy): readonly string[] {
  return policy.required_fact_fields.flatMap((field) => {
    const lacks = offered.some((fact) => (field === 'fact_id' ? fact.fact_id : fact.chunk_id) === null);
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
  // Also with braces in it that are no JSON.
  const isProse = extracted.ok
    ? object !== null && !looksAsked(object)
    : extracted.reason === 'no_json' || extracted.reason === 'invalid_json';
  const { facts } = checkFacts(claimed(isProse ? proseLines(text) : []), chunks);
  // What else stands in a text is no quotation that anybody offered.
  if (facts.length > 0) return { facts, refused: [], ...UNSAID, form: 'prose', problems: [] };
  return nothing(problems);
}

function isEcho(value: JsonObject): boolean {
  return value.call_context !== undefined || value.output_contract !== undefined;
}

/** An object with a field of a reply is meant as one. */
function looksAsked(value: JsonObject): boolean {
  return ['verdict', 'result', 'observed_facts', 'evidence_references'].some((key) => value[key] !== undefined);
}

/** Of one reply; a copy has no more to say than that. */
const MOST_QUOTED = 12;

/** Lines, and the sentences of lines that do not stand as a whole. */
export function readPlain(reply: string, chunks: readonly ChunkText[]): LeafReading {
  const lines = checkFacts(claimed(proseLines(beforeEcho(reply))), chunks);
  const several = lines.refused.map(({ text }) => sentencesOf(text, 'said')).filter(({ length }) => length > 1);
  const parts = checkFacts(claimed(several.flat().filter(isLine)), chunks);
  const standing = new Map<string, CheckedFact>();
  for (const fact of [...lines.facts, ...parts.facts])
    if (!standing.has(placeKey(fact))) standing.set(placeKey(fact), fact);
  const facts = [...standing.values()];
  if (facts.length === 0) return nothing(['no line of the reply stands in the text']);
  const quoted = facts.map(({ text }) => text);
  const texts = chunks.map(({ text }) => text);
  if (repeats(quoted, texts)) return nothing(['the reply repeats the text instead of choosing from it']);
  return { ...UNSAID, refused: [], facts: facts.slice(0, MOST_QUOTED), form: 'prose', problems: [] };
}

function nothing(problems: readonly string[]): LeafReading {
  return { ...UNSAID, refused: [], facts: [], form: 'nothing', problems };
}
