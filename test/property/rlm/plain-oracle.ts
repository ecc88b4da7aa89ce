/** The rules once more, as simply as they can be said and without any code of the room: what v1 decides, and what strict must never accept. */
import type { ManifestEntry } from '#extensions/rlm/guard/manifest.ts';
import type { ParentClaim } from '#extensions/rlm/guard/read-claims.ts';

type Loose = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const LISTS = ['retained_facts', 'observed_facts', 'facts', 'retained_evidence', 'observed_evidence'];
const TEXTS = ['quoted_evidence', 'text', 'statement', 'claim', 'summary'];

export function plainClaims(parent: unknown): readonly ParentClaim[] {
  if (!isObject(parent)) return [];
  const result = isObject(parent.result) ? parent.result : {};
  const surfaces: (readonly [string, unknown])[] = LISTS.map((key) => [`result.${key}`, result[key]]);
  if (typeof result.fact_id === 'string') surfaces.push(['result', result]);
  surfaces.push(['evidence_references', parent.evidence_references]);
  return surfaces.flatMap(([surface, value]) =>
    (Array.isArray(value) ? value : [value]).filter(isObject).flatMap((one) => claimsOf(one, surface)),
  );
}

function claimsOf(one: Loose, surface: string): readonly ParentClaim[] {
  const lists = [one.fact_ids, one.supports_fact_ids, one.supported_fact_ids].flatMap(listOf);
  const facts = [...new Set([one.fact_id, one.supports_fact_id, ...lists].filter(isName))];
  const chunk_id = [one.chunk_id, one.evidence_chunk_id, one.source_chunk_id].find(isName) ?? null;
  const text = TEXTS.map((key) => one[key])
    .filter(isName)
    .join('\n');
  if (facts.length > 0) return facts.map((fact_id) => ({ fact_id, chunk_id, surface, text }));
  return chunk_id === null ? [] : [{ fact_id: null, chunk_id, surface, text }];
}

/** For each claim its reason, `ok` when there is none; the facts are distinct. */
export function plainVerdicts(parent: unknown, entries: readonly ManifestEntry[]): readonly string[] {
  return plainClaims(parent).map(({ fact_id, chunk_id }) => {
    if (fact_id === null) return 'chunk_handle_without_fact';
    const entry = entries.find((one) => one.fact_id === fact_id);
    if (!entry) return 'unsupported_fact_id';
    if (chunk_id === null) return 'missing_evidence_handle';
    return chunk_id === entry.chunk_id ? 'ok' : 'evidence_handle_mismatch';
  });
}

/** Why an accepted parent should not have been, or undefined. */
export function faultOf(
  parent: unknown,
  entries: readonly ManifestEntry[],
  required: readonly string[],
): string | undefined {
  const claims = plainClaims(parent);
  if (claims.length === 0) return 'no claim';
  if (plainVerdicts(parent, entries).some((verdict) => verdict !== 'ok')) return 'a claim without its handle';
  if (required.some((fact) => !claims.some(({ fact_id }) => fact_id === fact))) return 'a required fact is dropped';
  const unsaid = claims.find((claim) => claim.surface !== 'result' && !isSupported(claim, entries));
  if (unsaid) return `words that no evidence says: ${unsaid.text}`;
  return hiddenText(parent);
}

const TURNING = [' not ', ' never ', ' at least '];

/** Each line of the claim stands in the evidence with what turns or limits it, or the evidence in it; and no number is its own. */
function isSupported({ fact_id, text }: ParentClaim, entries: readonly ManifestEntry[]): boolean {
  const source = flat(`${entries.find((one) => one.fact_id === fact_id)?.text ?? ''}`);
  const bare = source.replace(`fact:${flat(fact_id ?? '')} `, '');
  const line = flat(text).replaceAll(`fact:${flat(fact_id ?? '')}`, ' ');
  const numbers: readonly string[] = line.match(/\d+/g) ?? [];
  const known: readonly string[] = `${source} ${fact_id}`.match(/\d+/g) ?? [];
  if (numbers.some((number) => !known.includes(number))) return false;
  const lines = text.split('\n').map(flat);
  const words = lines.filter((one) => one !== '' && !flat(`fact:${fact_id}`).includes(one));
  const turns = TURNING.filter((turn) => ` ${bare} `.includes(turn));
  if (turns.some((turn) => words.some((one) => !` ${one} `.includes(turn)))) return false;
  return lines.every(
    (one) => source.includes(one) || one.includes(bare) || source.includes(one.replace(/^fact:\S+ ?/, '')),
  );
}

function flat(text: string): string {
  return text.toLowerCase().replace(/["“”]/g, '').replace(/\s+/g, ' ').trim();
}

const PROSE = ['summary', 'truncation_report', 'residual_gaps', 'mode', 'verdict', 'confidence', ...LISTS];
const CLAIM_KEYS = [
  'fact_id',
  'supports_fact_id',
  'fact_ids',
  'supports_fact_ids',
  'supported_fact_ids',
  'chunk_id',
  'evidence_chunk_id',
  'source_chunk_id',
  ...TEXTS,
];

function saysSomething(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((item) => saysSomething(item) || (isName(item) && item.trim() !== ''));
  return isObject(value) && Object.keys(value).length > 0;
}

function hiddenText(parent: unknown): string | undefined {
  const result = isObject(parent) ? parent.result : undefined;
  if (Array.isArray(result) && saysSomething(result)) return 'a list of texts as result';
  if (!isObject(result)) return undefined;
  const allowed = typeof result.fact_id === 'string' ? [...PROSE, ...CLAIM_KEYS] : PROSE;
  return Object.keys(result).find((key) => {
    const value = result[key];
    return !allowed.includes(key) && saysSomething(value);
  });
}
