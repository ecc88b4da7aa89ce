// Owns what a golem is given of the library (hierarchy notes A8, D5): what fits its archetype, canonical first, each line with its reason; the owner's
// yes, changes or no; the kit that is signed with his key, and what was given to whom. Invariants: nothing is sent unless he said so; an heir
// discounts once, from the raw confidence, by distance; a decision is recorded, whatever it was.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok, type Result, refuse } from '#base/result.ts';
import { plural } from '#base/text.ts';
import type { Ground } from '#core/agent/room.ts';
import { FACTORS, type SeedKit, signKit } from '#fleet/styx/kit.ts';
import { filesBeside } from '#mind/skills/format/testament.ts';
import { type EntryRow, type Library, listOf, type Named, withLibrary } from './library-home.ts';
import { receive } from './reception.ts';

export interface Wanted {
  readonly archetype: string;
  /** Of the golem; absent: of any. */
  readonly domain?: string;
  /** What the owner wants, in his words: strategy, preferences, a question. */
  readonly words?: string;
  /** Default 100. */
  readonly most?: number;
}

export interface Line {
  readonly entry: EntryRow;
  /** Only its order means anything. */
  readonly weight: number;
  /** What it starts with in the golem: its raw confidence, discounted by distance. */
  readonly startsAt: number;
  readonly reason: string;
}

const MOST = 100;
/** Candidates of the owner's words, and what the nearest is worth more. */
const WORD_HITS = 60;
const WORDS_WEIGH = 0.5;

/** In the order in which they are recommended; held ones never. */
export async function propose(library: Library, wanted: Wanted): Promise<readonly Line[]> {
  const { archetype, domain = '', words = '', most = MOST } = wanted;
  const tags = await library.golems.tags(domain, archetype);
  const near = await nearTo(library, words);
  const lived = livedBy(library, archetype);
  const seen = new Map<string, boolean>();
  const fits = ({ tags: own }: Standing) => {
    const known = seen.get(own) ?? (tags === 'all' || listOf(own).some((tag) => tags.includes(tag.toLowerCase())));
    seen.set(own, known);
    return known;
  };
  const best = library
    .standing()
    .filter(fits)
    .map((entry) => ({ entry, weight: weightOf(entry, lived.get(entry.name), near.get(entry.name)) }))
    .sort(
      (a, b) => canonical(b.entry) - canonical(a.entry) || b.weight - a.weight || order(a.entry.name, b.entry.name),
    );
  return best.slice(0, most).flatMap(({ entry: { name }, weight }) => {
    const entry = library.entry(name);
    if (entry === undefined) return [];
    const startsAt = entry.raw * FACTORS[distanceOf(entry, archetype)];
    return [{ entry, weight, startsAt, reason: reasonOf(entry, lived.get(name), near.has(name)) }];
  });
}

type Standing = ReturnType<Library['standing']>[number];

function canonical({ status }: Standing): number {
  return Number(status === 'canonical');
}

function order(one: string, other: string): number {
  return one < other ? -1 : 1;
}

/** How near each is to what the owner wants, 0 to 1. */
async function nearTo(library: Library, words: string): Promise<ReadonlyMap<string, number>> {
  if (words.trim() === '') return new Map();
  const { ranker } = await library.doors();
  const found = await ranker.rank(words, { limit: WORD_HITS }, new AbortController().signal);
  const [best] = found;
  return new Map(found.map(({ header, score }) => [header.name, score / Math.max(best?.score ?? 1, 1e-9)]));
}

interface Lived {
  readonly entry: string;
  readonly successes: number;
  readonly failures: number;
}

/** What golems of this archetype made of each. */
function livedBy({ database }: Library, archetype: string): ReadonlyMap<string, Lived> {
  const sql = `SELECT entry, total(successes) AS successes, total(failures) AS failures FROM proofs
    WHERE archetype = ? AND entry IS NOT NULL GROUP BY entry`;
  return new Map(database.all<Lived>(sql, archetype).map((row) => [row.entry, row]));
}

/** 0 to 2, 1 when nothing is known. */
function rateOf(good: number, bad: number): number {
  return (2 * (good + 1)) / (good + bad + 2);
}

function weightOf(entry: Standing, lived: Lived | undefined, near = 0): number {
  const held = rateOf(entry.validated, entry.contradicted);
  return entry.confidence * held * rateOf(lived?.successes ?? 0, lived?.failures ?? 0) * (1 + WORDS_WEIGH * near);
}

function reasonOf(entry: EntryRow, lived: Lived | undefined, isNear: boolean): string {
  const uses = (lived?.successes ?? 0) + (lived?.failures ?? 0);
  const parts = [
    entry.why,
    entry.is_stale === 1 ? 'potentially stale' : '',
    uses > 0 ? `went well in ${lived?.successes} of ${plural(uses, 'use')} by its archetype` : '',
    entry.equipped > 0 ? heldBy(entry) : '',
    isNear ? 'fits what you want' : '',
  ];
  return parts.filter(Boolean).join('; ');
}

/** `equipped to 4, validated by 3, contradicted by 1` */
export function heldBy({ equipped, validated, contradicted }: EntryRow): string {
  return `equipped to ${equipped}, validated by ${validated}, contradicted by ${contradicted}`;
}

function distanceOf({ source, archetype: own }: EntryRow, archetype: string): keyof typeof FACTORS {
  if (source !== 'purchase') return 'sibling';
  return own === archetype ? 'strategy' : 'stranger';
}

/** Text of a kit of these entries, signed by the owner. Refuses what is not there, and what is held. */
export async function makeKit(
  library: Library,
  names: readonly string[],
  archetype: string,
): Promise<Result<string, 'no-such-entry' | 'held'>> {
  const { skills, skillRecords } = await library.doors();
  const made: SeedKit['skills'][number][] = [];
  for (const name of new Set(names)) {
    const [entry, skill, record] = [library.entry(name), skills.get(name), skillRecords().get(name)];
    if (entry?.status === 'held') return refuse('held', `${name} waits: ${entry.why}`);
    if (entry === undefined || skill === undefined || record === undefined)
      return refuse('no-such-entry', `There is no ${name} in the library: talaria library list`);
    const { validatedCount, improvedCount, useCount, successCount, failureCount, bloodstain, version } = record;
    const counts = { validated_count: validatedCount, improved_count: improvedCount, use_count: useCount };
    made.push({
      ...{ name, skill_md: skill.text, files: filesBeside(skill.folder), raw_confidence: entry.raw },
      distance: distanceOf(entry, archetype),
      record: {
        ...{ ...counts, success_count: successCount, failure_count: failureCount, version, bloodstain },
        ...{ confidence: entry.confidence, tags: listOf(entry.tags), lineage: listOf(entry.lineage) },
        derived_from: `library/${name}`,
      },
    });
  }
  const about = { archetype, made_at: library.clock.now(), skills: made };
  return ok(signKit(about, library.ground.places.home));
}

export type Decision = 'accepted' | 'modified' | 'rejected';

/** What the owner made of a proposal. `golem`: its id, and its address; null: a file was made. */
export async function decide(
  library: Library,
  about: { readonly golem: string | null; readonly signer: string | null; readonly archetype: string },
  { proposed, taken }: { readonly proposed: readonly string[]; readonly taken: readonly string[] },
): Promise<Decision> {
  const isAll = taken.length === proposed.length && taken.every((name) => proposed.includes(name));
  const decision = taken.length === 0 ? 'rejected' : isAll ? 'accepted' : 'modified';
  const { database, clock } = library;
  await database.transaction(() => {
    const { golem, signer, archetype } = about;
    database.run("DELETE FROM loadouts WHERE golem = ? AND signer = ? AND decision = 'asked'", golem, signer);
    const sql =
      'INSERT INTO loadouts(at, golem, signer, archetype, decision, proposed, taken) VALUES(?, ?, ?, ?, ?, ?, ?)';
    const lists = [JSON.stringify(proposed), JSON.stringify(taken)];
    database.run(sql, clock.now(), golem, signer, archetype, decision, ...lists);
    if (golem === null || signer === null) return;
    for (const name of taken) noteGiven(library, name, { golem, signer }, archetype);
  });
  return decision;
}

/** Inside a transaction. */
function noteGiven(library: Library, name: string, { golem, signer }: Named, archetype: string): void {
  const entry = library.entry(name);
  if (entry === undefined) return;
  const confidence = entry.raw * FACTORS[distanceOf(entry, archetype)];
  const sql = 'INSERT OR IGNORE INTO equip_history(entry, golem, signer, at, confidence) VALUES(?, ?, ?, ?, ?)';
  library.database.run(sql, name, golem, signer, library.clock.now(), confidence);
}

/** For a trial: a library of nothing but these testaments, gone afterwards. */
export async function kitThrough(ground: Ground, testaments: readonly string[], archetype: string): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'talaria-library-'));
  try {
    return await withLibrary(
      ground,
      async (library) => {
        for (const text of testaments) await receive(library, text);
        const lines = await propose(library, { archetype, most: Number.POSITIVE_INFINITY });
        const kit = await makeKit(
          library,
          lines.map(({ entry }) => entry.name),
          archetype,
        );
        return kit.ok ? kit.value : '';
      },
      { root },
    );
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  }
}
