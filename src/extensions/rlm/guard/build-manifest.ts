// Owns making a manifest from a fixture or from the entries of a run, and the index over one. Knows no claim.
// Invariant: a built manifest is frozen, so that its index can be kept; what lacks a fact id, a chunk id or a text is no entry.
// Seed 003, notes 2.1.
import { TalariaError } from '#base/errors.ts';
import { isJsonObject } from '#base/json.ts';
import type { EntriesInput, FixtureInput, Manifest, ManifestEntry, ManifestInput } from './manifest.ts';
import { ManifestIndex } from './manifest-index.ts';

/**
 * A fixture's retained facts become entries with the call ids `child_0001`…, counted by position, and all are required. Entries given
 * as such keep their call ids and their order; required is what is listed.
 * @throws TalariaError `rlm-manifest-invalid` when it is given something else than a fixture or entries
 */
export function buildManifest(source: FixtureInput | EntriesInput): Manifest {
  if (!isJsonObject(source)) throw invalid('A manifest is built from a fixture or from { entries, required? }.');
  return 'entries' in source ? ofEntries(source as unknown as EntriesInput) : ofFixture(source);
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

function ofFixture(fixture: FixtureInput): Manifest {
  const facts = fixture.expected_retained_facts ?? [];
  if (!Array.isArray(facts)) throw invalid('expected_retained_facts must be a list.');
  const entries = facts.flatMap((fact: unknown, at) => readEntry(fact, `child_${String(at + 1).padStart(4, '0')}`));
  return freeze(
    entries,
    entries.map(({ fact_id }) => fact_id),
  );
}

function ofEntries({ entries, required = [] }: EntriesInput): Manifest {
  if (!Array.isArray(entries)) throw invalid('entries must be a list.');
  if (!Array.isArray(required) || !required.every((id) => typeof id === 'string'))
    throw invalid('required must be a list of fact ids.');
  const read = entries.flatMap((entry: unknown) => readEntry(entry, null));
  return freeze(read, required);
}

function readEntry(value: unknown, position: string | null): readonly ManifestEntry[] {
  if (!isJsonObject(value)) return [];
  const { fact_id, chunk_id, text, child_call_id } = value;
  if (typeof fact_id !== 'string' || typeof chunk_id !== 'string' || typeof text !== 'string') return [];
  const own = typeof child_call_id === 'string' ? child_call_id : null;
  return [Object.freeze({ fact_id, chunk_id, text, child_call_id: position ?? own })];
}

function freeze(entries: readonly ManifestEntry[], required: readonly string[]): Manifest {
  const manifest = Object.freeze({
    entries: Object.freeze([...entries]),
    required: Object.freeze([...new Set(required)]),
  });
  indexes.set(manifest, new ManifestIndex(manifest));
  return manifest;
}

function invalid(message: string): TalariaError {
  return new TalariaError(message, { code: 'rlm-manifest-invalid' });
}
