/** What an entry is worth: the factors of the seed, and that nobody is counted twice. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ancestorsOf, independent, type Proof, worthOf } from '#fleet/meta/library/worth.ts';
import { FACTORS } from '#fleet/styx/kit.ts';
import { runs } from '../../property-runs.ts';
import { verifies } from '../../verifies.ts';

let ids = 0;
const proof = (raw: number, more: Partial<Proof> = {}): Proof => {
  ids += 1;
  return { id: ids, standing: 'clade', raw, validated: 3, ancestors: [`golem-${ids}`], depth: 0, ...more };
};
const near = (is: number | undefined, should: number) =>
  assert.ok(Math.abs((is ?? -1) - should) < 1e-9, `${is}, not ${should}`);

describe('the way in', () => {
  verifies(
    ['R1.51', 'R1.50'],
    'one golem that proved it three times: 0.70 of what it says; twice is not enough',
    () => {
      near(worthOf([proof(0.8)])?.confidence, 0.56);
      const waits = worthOf([proof(0.8, { validated: 2 })]);
      assert.deepEqual([waits?.status, waits?.confidence, waits?.raw], ['held', 0, 0.8]);
      assert.match(waits?.why ?? '', /validated 2 times by one golem: it takes 3/);
      assert.equal(worthOf([proof(0.8, { validated: 0 })], true)?.status, 'clade');
    },
  );

  verifies(['R1.52', 'R1.56'], 'two that found it by themselves, both proved by use: 0.90 of their mean', () => {
    const worth = worthOf([proof(0.8, { validated: 1 }), proof(0.9, { validated: 2 })]);
    near(worth?.confidence, 0.765);
    assert.deepEqual([worth?.isCross, worth?.status], [true, 'clade']);
  });

  verifies(['R1.53', 'R1.54'], 'what the owner puts in enters as it is, what is bought at half', () => {
    near(worthOf([proof(0.8, { standing: 'owner', validated: 0 })])?.confidence, 0.8);
    near(worthOf([proof(0.8, { standing: 'outside', validated: 0 })])?.confidence, 0.4);
  });

  verifies('R1.55', 'an heir discounts by distance, once, from the raw confidence', () => {
    assert.deepEqual(FACTORS, { sibling: 0.9, strategy: 0.7, stranger: 0.5 });
  });

  test('heirs of one golem are no two witnesses, and neither are two who had it of one entry', () => {
    const heirs = [
      proof(0.8, { ancestors: ['ada-gen1', 'bob-gen2'] }),
      proof(0.9, { ancestors: ['ada-gen1', 'eve-gen2'] }),
    ];
    assert.equal(worthOf(heirs)?.isCross, false);
    const given = [proof(0.8, { ancestors: ['bob', 'library/x'] }), proof(0.9, { ancestors: ['eve', 'library/x'] })];
    assert.equal(worthOf(given)?.isCross, false);
    const apart = [proof(0.8, { ancestors: ['ada-gen1'] }), proof(0.9, { ancestors: ['bob-gen1'] })];
    // An heir of both makes nothing of what they found apart.
    assert.equal(worthOf([...apart, proof(0.99, { ancestors: ['ada-gen1', 'bob-gen1', 'eve-gen1'] })])?.isCross, true);
  });

  verifies('R1.66', 'proved in three generations after it was made: canonical', () => {
    const lineage = ['a-gen1', 'a-gen2', 'a-gen3', 'a-gen4'];
    const line = (most: number, validated = 3) =>
      lineage
        .slice(0, most)
        .map((_, depth) => proof(0.7, { depth, validated, ancestors: lineage.slice(0, depth + 1) }));
    assert.deepEqual(
      [1, 2, 3, 4].map((most) => worthOf(line(most))?.status),
      ['clade', 'clade', 'clade', 'canonical'],
    );
    const siblings = [1, 1, 1].map((depth, at) => proof(0.7, { depth, ancestors: ['a-gen1', `heir-${at}`] }));
    assert.equal(worthOf([proof(0.7, { ancestors: ['a-gen1'] }), ...siblings])?.status, 'clade');
  });
});

const golem = fc.constantFrom(...['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'library/x', 'library/y']);
const anyProof = fc.record({
  id: fc.nat(1_000_000),
  standing: fc.constantFrom('clade' as const, 'clade' as const, 'clade' as const, 'outside' as const, 'owner' as const),
  raw: fc.double({ min: 0, max: 1, noNaN: true }),
  validated: fc.nat(5),
  ancestors: fc.uniqueArray(golem, { minLength: 1, maxLength: 6 }),
  depth: fc.nat(5),
});

describe('over random lineages', () => {
  test('no shared ancestor counts twice, and no path raises a confidence above its raw value', () => {
    const property = fc.property(
      fc.array(anyProof, { minLength: 1, maxLength: 12 }),
      fc.boolean(),
      (proofs, promoted) => {
        const apart = independent(proofs);
        const all = apart.flatMap(({ ancestors }) => ancestors);
        assert.equal(new Set(all).size, all.length);
        const worth = worthOf(proofs, promoted);
        assert.ok(worth !== undefined && worth.confidence <= worth.raw + 1e-12);
        assert.ok(worth.raw <= Math.max(...proofs.map(({ raw }) => raw)) + 1e-12);
        for (const factor of Object.values(FACTORS)) assert.ok(worth.raw * factor <= worth.raw);
        const proved = proofs.filter(({ standing, validated }) => standing === 'clade' && validated > 0);
        if (worth.isCross) assert.ok(independent(proved).length >= 2);
        const shared = proofs.map((one) => ({ ...one, ancestors: [...one.ancestors, 'of them all'] }));
        assert.equal(worthOf(shared, promoted)?.isCross, false);
      },
    );
    fc.assert(property, { numRuns: runs(10_000) });
  });

  test('a lineage that runs in a circle ends, and holds all that it passes', () => {
    const graph = fc.dictionary(golem, fc.uniqueArray(golem, { maxLength: 4 }));
    const property = fc.property(graph, fc.uniqueArray(golem, { minLength: 1, maxLength: 4 }), (known, from) => {
      const found = ancestorsOf(from, (id) => (Object.hasOwn(known, id) ? known[id] : undefined));
      assert.ok(from.every((id) => found.includes(id)));
      for (const id of found) for (const next of known[id] ?? []) assert.ok(found.includes(next));
    });
    fc.assert(property, { numRuns: runs(2_000) });
  });
});
