/** What the guard keeps for any parent and any evidence. Each takes the number of cases and a seed, and tells what it met. */
import assert from 'node:assert/strict';
import { canonicalJson, type JsonValue } from '#base/json.ts';
import { buildManifest, type ManifestEntry } from '#extensions/rlm/guard/manifest.ts';
import type { GuardMode, Validation } from '#extensions/rlm/guard/read-claims.ts';
import { recallPriors, validateParentSynthesis } from '#public/rlm.ts';

import { mutate } from './mutate-parent.ts';
import { faultOf, plainClaims, plainVerdicts } from './plain-oracle.ts';
import { type Case, createDice, type Dice, drawCase, honestParent, type Json, type JsonMap } from './random-parent.ts';

const MODES: readonly GuardMode[] = ['v1', 'strict'];

function drawParent(drawn: Case, dice: Dice): JsonMap {
  const parent = honestParent(drawn);
  for (let left = 1 + dice.roll(4); left > 0; left -= 1) mutate(parent, drawn, dice);
  return parent;
}

/** Accepted ⊆ manifest, and nothing that no evidence says; v1 to the letter. One evidence serves a hundred parents. */
export function checkNothingUnsupported(runs: number, seed: number): ReadonlyMap<string, number> {
  const dice = createDice(seed);
  const met = new Map<string, number>();
  const count = (what: string): unknown => met.set(what, (met.get(what) ?? 0) + 1);
  let drawn = drawCase(dice);
  let required = drawn.retained.map(({ fact_id }) => fact_id);
  let manifest = buildManifest({ entries: drawn.retained, required });
  for (let run = 0; run < runs; run += 1) {
    if (run % 100 === 99) {
      drawn = drawCase(dice);
      required = dice.roll(2) === 0 ? [] : drawn.retained.map(({ fact_id }) => fact_id);
      manifest = buildManifest({ entries: drawn.retained, required });
    }
    const parent = drawParent(drawn, dice);
    const found = validateParentSynthesis({ manifest, synthesis: parent });
    checkParts(found, drawn.retained);
    count(found.accepted ? 'accepted' : 'refused');
    for (const { reason } of found.rejected_claims) count(reason);
    const fault = found.accepted ? faultOf(parent, drawn.retained, required) : undefined;
    assert.equal(fault, undefined, JSON.stringify({ fault, parent, drawn }));
    checkV1(parent, manifest);
  }
  return met;
}

function checkParts(found: Validation, entries: readonly ManifestEntry[]): void {
  for (const { fact_id, chunk_id } of found.accepted_claims)
    assert.ok(entries.some((entry) => entry.fact_id === fact_id && entry.chunk_id === chunk_id));
  assert.equal(found.accepted, found.rejected_claims.length === 0);
}

function checkV1(synthesis: JsonMap, manifest: { readonly entries: readonly ManifestEntry[] }): void {
  const { accepted_claims, rejected_claims } = validateParentSynthesis({
    manifest: manifest as never,
    synthesis,
    mode: 'v1',
  });
  const claims = plainClaims(synthesis);
  const verdicts = plainVerdicts(synthesis, manifest.entries);
  const accepted = claims.filter((_, at) => verdicts[at] === 'ok');
  if (accepted.length !== accepted_claims.length || rejected_claims.length + accepted.length !== claims.length)
    assert.fail(JSON.stringify(synthesis));
  assert.deepEqual(
    rejected_claims.map(({ reason }) => reason),
    verdicts.filter((verdict) => verdict !== 'ok'),
  );
}

/** Less evidence under the same demand: every claim accepted then was accepted before, and so was the whole. */
export function checkLessEvidence(runs: number, seed: number): number {
  const dice = createDice(seed);
  let accepted = 0;
  for (let run = 0; run < runs; run += 1) {
    const drawn = drawCase(dice);
    const synthesis = drawParent(drawn, dice);
    const required = drawn.retained.slice(0, dice.roll(3)).map(({ fact_id }) => fact_id);
    const entries = [...drawn.retained, ...drawn.omitted.slice(0, dice.roll(2))];
    const less = entries.filter(() => dice.roll(3) > 0);
    for (const mode of MODES) {
      const before = validateParentSynthesis({ manifest: { entries, required }, synthesis, mode });
      const after = validateParentSynthesis({ manifest: { entries: less, required }, synthesis, mode });
      const known = new Set(before.accepted_claims.map((claim) => JSON.stringify(claim)));
      assert.ok(
        after.accepted_claims.every((claim) => known.has(JSON.stringify(claim))),
        JSON.stringify(synthesis),
      );
      assert.ok(before.accepted || !after.accepted, JSON.stringify({ synthesis, entries, less }));
      if (after.accepted) accepted += 1;
    }
  }
  return accepted;
}

/** Priors are no entries, whatever a poisoned store says, and a verdict is the same wherever they are put. */
export function checkMemoryChangesNothing(runs: number, seed: number): number {
  const dice = createDice(seed);
  let accepted = 0;
  for (let run = 0; run < runs; run += 1) {
    const drawn = drawCase(dice);
    const synthesis = drawParent(drawn, dice);
    const record = {
      kind: 'provider_schema_stability',
      task: 'extract_child_evidence',
      recommendation: 'preserve_child_fact_identity',
      family_id: dice.pick([null, dice.pick(drawn.omitted).fact_id, 'glm']),
    };
    const poison = { ...record, ...dice.pick(drawn.omitted) };
    const priors = recallPriors([record, poison], { tasks: ['extract_child_evidence'] });
    const entries: readonly unknown[] = [...drawn.retained, ...priors, record];
    for (const mode of MODES) {
      const clean = validateParentSynthesis({ manifest: { entries: drawn.retained }, synthesis, mode });
      const remembered = { manifest: { entries, memory_priors: priors }, synthesis, mode, memory_priors: priors };
      assert.deepEqual(validateParentSynthesis(remembered), clean);
      const told = { ...synthesis, memory_priors: { priors: priors.map((prior) => ({ ...prior })) } };
      assert.deepEqual(validateParentSynthesis({ ...remembered, synthesis: told }), clean);
      if (clean.accepted) accepted += 1;
    }
  }
  return accepted;
}

/** The order of keys, a copy, a second call: the same verdict, byte for byte. */
export function checkSameForSame(runs: number, seed: number): void {
  const dice = createDice(seed);
  for (let run = 0; run < runs; run += 1) {
    const drawn = drawCase(dice);
    const synthesis = drawParent(drawn, dice);
    const before = JSON.stringify(synthesis);
    for (const mode of MODES) {
      const judge = (one: unknown): string =>
        canonicalJson(
          validateParentSynthesis({
            manifest: { entries: drawn.retained },
            synthesis: one,
            mode,
          }) as unknown as JsonValue,
        );
      const verdict = judge(synthesis);
      assert.equal(judge(shuffled(synthesis, dice)), verdict);
      assert.equal(judge(JSON.parse(before)), verdict);
    }
    assert.equal(JSON.stringify(synthesis), before);
  }
}

function shuffled(value: Json, dice: Dice): Json {
  if (Array.isArray(value)) return value.map((item) => shuffled(item, dice));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [dice.roll(1_000), key, shuffled(item, dice)] as const);
  return Object.fromEntries([...entries].sort((a, b) => a[0] - b[0]).map(([, key, item]) => [key, item]));
}
