// Owns the evidence that a parent may cite, one entry for each fact that a child reported: how it is made from a fixture or from the entries of
// a run, how it is found by fact and chunk, and whether its text says what a claim says: whole sentences of it, lines or items, no word weighed.
// Knows no verdict.
// Invariant: a built manifest is frozen, so that its index can be kept; what lacks a fact id, a chunk id or a text is no
// entry; `v1` sees one chunk a fact, the last; strict sees every pair, and the texts of each.
// Seed 003, notes 2.1.
import { TalariaError } from '#base/errors.ts';
import { isJsonObject } from '#base/json.ts';
import { foldText } from '#base/text/fold.ts';
import { WholeQuotes } from '#base/text/quotes.ts';

export interface ManifestEntry {
  readonly fact_id: string;
  readonly chunk_id: string;
  /** What the child said, or the line that it read; may begin with `FACT:<id> `. */
  readonly text: string;
  readonly child_call_id: string | null;
}

interface Manifest {
  /** In the order given; of entries for one fact the last counts in `v1`, all of them in strict mode. */
  readonly entries: readonly ManifestEntry[];
  /** Facts that a parent must name; strict mode only. */
  readonly required: readonly string[];
}

/** What may stand where a manifest is asked for: one that was built, or the entries as they are. */
export type ManifestInput = Manifest | EntriesInput | readonly unknown[];

interface EntriesInput {
  readonly entries: readonly unknown[];
  readonly required?: readonly string[];
}

/** Of a fixture (notes 6.1 and 10.1) only this is read. */
export interface FixtureInput {
  readonly expected_retained_facts?: unknown;
}

/**
 * A fixture's retained facts become entries with the call ids `child_0001`…, counted by position, and all are required. Entries given
 * as such keep their call ids and their order; required is what is listed.
 * @throws TalariaError `rlm-manifest-invalid` when it is given something else than a fixture or entries
 */
export function buildManifest(source: FixtureInput | EntriesInput): Manifest {
  if (!isJsonObject(source)) throw invalid('A manifest is built from a fixture or from { entries, required? }.');
  const isFixture = !('entries' in source);
  const given: unknown = isFixture ? (source.expected_retained_facts ?? []) : source.entries;
  if (!Array.isArray(given)) throw invalid(`${isFixture ? 'expected_retained_facts' : 'entries'} must be a list.`);
  const entries = given.flatMap((item: unknown, at) => readEntry(item, isFixture ? at + 1 : null));
  const required: unknown = isFixture ? entries.map(({ fact_id }) => fact_id) : (source.required ?? []);
  if (!Array.isArray(required) || !required.every((id) => typeof id === 'string'))
    throw invalid('required must be a list of fact ids.');
  const manifest = Object.freeze({
    entries: Object.freeze(entries),
    required: Object.freeze([...new Set<string>(required)]),
  });
  indexes.set(manifest, new ManifestIndex(manifest));
  return manifest;
}

/** @param position of a fixture's fact, from 1: it names the call */
function readEntry(value: unknown, position: number | null): readonly ManifestEntry[] {
  if (!isJsonObject(value)) return [];
  const { fact_id, chunk_id, text, child_call_id } = value;
  if (typeof fact_id !== 'string' || typeof chunk_id !== 'string' || typeof text !== 'string') return [];
  const own = typeof child_call_id === 'string' ? child_call_id : null;
  const call = position === null ? own : `child_${String(position).padStart(4, '0')}`;
  return [Object.freeze({ fact_id, chunk_id, text, child_call_id: call })];
}

const indexes = new WeakMap<Manifest, ManifestIndex>();

/** The index of a manifest; that of a built one is made once. */
export function indexOf(manifest: ManifestInput): ManifestIndex {
  const known = indexes.get(manifest as Manifest);
  if (known) return known;
  const built = Array.isArray(manifest)
    ? buildManifest({ entries: manifest })
    : buildManifest(manifest as EntriesInput);
  return indexes.get(built) ?? new ManifestIndex(built);
}

function invalid(message: string): TalariaError {
  return new TalariaError(message, { code: 'rlm-manifest-invalid' });
}

export class ManifestIndex {
  readonly manifest: Manifest;
  /** In the order of the entries, each once. */
  readonly factIds: readonly string[];
  readonly chunkIds: readonly string[];
  readonly #lastChunk = new Map<string, string>();
  #pairs: ReadonlyMap<string, ReadonlyMap<string, readonly EvidenceWords[]>> | undefined;

  constructor(manifest: Manifest) {
    this.manifest = manifest;
    for (const { fact_id, chunk_id } of manifest.entries) this.#lastChunk.set(fact_id, chunk_id);
    this.factIds = [...this.#lastChunk.keys()];
    this.chunkIds = [...new Set(manifest.entries.map(({ chunk_id }) => chunk_id))];
  }

  /** The one chunk that `v1` admits for a fact. */
  lastChunk(factId: string): string | undefined {
    return this.#lastChunk.get(factId);
  }

  /** Chunk → what the evidence for the fact says there. */
  chunksOf(factId: string): ReadonlyMap<string, readonly EvidenceWords[]> | undefined {
    this.#pairs ??= pairsOf(this.manifest.entries);
    return this.#pairs.get(factId);
  }

  /** Does any evidence say these words, or are they the name of a fact or a chunk? */
  isSaidAnywhere(text: string): boolean {
    if (this.#lastChunk.has(text) || this.chunkIds.includes(text)) return true;
    return this.factIds.some((fact) => [...(this.chunksOf(fact)?.values() ?? [])].flat().some((one) => one.says(text)));
  }
}

function pairsOf(
  entries: readonly ManifestEntry[],
): ReadonlyMap<string, ReadonlyMap<string, readonly EvidenceWords[]>> {
  const pairs = new Map<string, Map<string, EvidenceWords[]>>();
  for (const { fact_id, chunk_id, text } of entries) {
    const chunks = pairs.get(fact_id) ?? new Map<string, EvidenceWords[]>();
    pairs.set(fact_id, chunks.set(chunk_id, [...(chunks.get(chunk_id) ?? []), new EvidenceWords(fact_id, text)]));
  }
  return pairs;
}

export class EvidenceWords {
  readonly #tag: string;
  readonly #text: string;
  #quotes: WholeQuotes | undefined;

  constructor(factId: string, text: string) {
    this.#tag = `FACT:${factId}`;
    this.#text = text;
  }

  /** Words of the evidence, none left out of a sentence and none added. */
  says(statement: string): boolean {
    if (statement === this.#text) return true;
    const said = this.#untagged(statement);
    if (said === '') return true;
    this.#quotes ??= new WholeQuotes(this.#untagged(this.#text), foldWords);
    return this.#quotes.find(said)?.isWhole === true;
  }

  #untagged(text: string): string {
    const bare = text.trim().replace(/^["'“„»«]+/, '');
    const isTagged = bare.slice(0, this.#tag.length).toLowerCase() === this.#tag.toLowerCase();
    return isTagged && /^$|^[\s:]/.test(bare.slice(this.#tag.length))
      ? bare.slice(this.#tag.length).trim()
      : text.trim();
  }
}

const QUOTATION_MARKS = /["'`‘’‚‛“”„‟‹›«»′″ʼ＂＇「」『』]/gu;

/** Texts that differ in white space, case and quotation marks alone fold to the same. */
function foldWords(text: string): string {
  return foldText(text.replace(QUOTATION_MARKS, ''));
}
