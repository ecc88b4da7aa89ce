/** The simulated world of the trial: the same for everybody who is in it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { SIM_ACTIONS, type SimIncident, SimWorld } from '#fleet/golem/domains/sim-world.ts';
import { runs } from '../../property-runs.ts';

const seeds = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const some = (world: SimWorld, seed: number, count: number): readonly SimIncident[] =>
  Array.from(
    { length: count },
    (
      (all) => () =>
        all.next().value
    )(world.incidents(seed)),
  );

describe('the simulated world', () => {
  test('has twelve kinds of five words that no other shares, and cures of three different actions', () => {
    fc.assert(
      fc.property(seeds, seeds, (seed, next) => {
        const world = SimWorld.of(seed);
        for (const { kinds } of [world, world.neighbour(next)]) {
          assert.equal(kinds.length, 12);
          const words = kinds.flatMap((kind) => kind.words);
          assert.ok(words.length === 60 && new Set(words).size === 60 && !words.includes(''));
          for (const { cure } of kinds) {
            assert.equal(new Set(cure).size, 3);
            assert.ok(cure.every((action) => SIM_ACTIONS.includes(action)));
          }
        }
      }),
      { numRuns: runs(160) },
    );
  });

  test('a neighbour keeps seven cures, changes two, and has three kinds that share no word with the old world', () => {
    fc.assert(
      fc.property(seeds, seeds, (seed, next) => {
        const world = SimWorld.of(seed);
        const old = new Set(world.kinds.flatMap(({ words }) => words));
        const pairs = world
          .neighbour(next)
          .kinds.map((kind, at) => ({ kind, before: world.kinds[at] ?? assert.fail() }));
        assert.deepEqual(
          pairs.map(({ kind }) => kind.is),
          [...Array(7).fill('known'), 'drifted', 'drifted', 'fresh', 'fresh', 'fresh'],
        );
        const met = pairs.slice(0, 9);
        assert.ok(
          met.every(({ kind, before }) => kind.words.filter((word) => before.words.includes(word)).length === 4),
        );
        assert.ok(pairs.slice(9).every(({ kind }) => !kind.words.some((word) => old.has(word))));
        const changed = met.filter(({ kind, before }) => kind.cure[0] !== before.cure[0]);
        assert.deepEqual(changed, met.slice(7));
      }),
      { numRuns: runs(160) },
    );
  });

  test('gives the same incidents to all who ask with one seed: four symptoms of a kind and two words of noise', () => {
    const world = SimWorld.of(7);
    const [one, other] = [some(world, 3, 200), some(SimWorld.of(7), 3, 200)];
    assert.deepEqual(
      one.map(({ text }) => text),
      other.map(({ text }) => text),
    );
    assert.notDeepEqual(
      one.map(({ text }) => text),
      some(world, 4, 200).map(({ text }) => text),
    );
    for (const { kind, text } of one) {
      const words = text.split(' ');
      assert.deepEqual([words.length, words.filter((word) => kind.words.includes(word)).length], [6, 4]);
    }
    assert.equal(new Set(one.map(({ kind }) => kind.name)).size, 12);
  });

  test('an incident is cured by its three actions in order, and is over after eight', () => {
    const [incident, lost] = some(SimWorld.of(1), 1, 2);
    assert.ok(incident && lost);
    const wrong = (at: number) => SIM_ACTIONS.find((action) => action !== incident.kind.cure[at]) ?? '';
    const said = [wrong(0), incident.kind.cure[0], wrong(1), ...incident.kind.cure.slice(1)].map((action) =>
      incident.act(action ?? ''),
    );
    assert.deepEqual(said, [false, true, false, true, true]);
    assert.deepEqual([incident.isCured, incident.isOver, incident.actions], [true, true, 5]);
    assert.equal(incident.act(wrong(0)), false);
    for (let at = 0; at < 9; at += 1) lost.act('nothing of the kind');
    assert.deepEqual([lost.isCured, lost.isOver, lost.actions], [false, true, 8]);
  });
});
