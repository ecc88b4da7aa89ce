/** Noticing a loop in what a small model generates. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { repeatsItself } from '#core/model/providers/llama-client.ts';

test('a cycle that goes on is a loop', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50), { minLength: 1, maxLength: 48 }), fc.array(fc.nat(50)), (cycle, before) => {
      const times = Math.ceil(Math.max(60, cycle.length * 5) / cycle.length) + 1;
      const loop = Array.from({ length: times }, () => cycle).flat();
      assert.ok(repeatsItself([...before, ...loop]));
    }),
  );
});

test('a short ruler, a counting list and prose are not', () => {
  assert.ok(!repeatsItself(Array.from({ length: 59 }, () => 7)));
  assert.ok(!repeatsItself(Array.from({ length: 400 }, (_, i) => i)));
  assert.ok(!repeatsItself(Array.from({ length: 400 }, (_, i) => (i % 4 === 0 ? i : i % 4))));
  assert.ok(!repeatsItself([]));
});
