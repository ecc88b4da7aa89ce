import test from 'node:test';
import assert from 'node:assert/strict';
import { fromCents, sum, toCents } from '../src/money.js';

test('reads amounts with a point or a comma', () => {
  assert.equal(toCents('3.50'), 350);
  assert.equal(toCents('3,5'), 350);
  assert.equal(toCents('12'), 1200);
  assert.equal(toCents('-0.05'), -5);
});

test('refuses what is no amount', () => {
  assert.throws(() => toCents('three'), /not an amount/);
  assert.throws(() => fromCents(1.5), /whole cents/);
});

test('prints cents', () => {
  assert.equal(fromCents(5), '0.05');
  assert.equal(fromCents(-1234), '-12.34');
  assert.equal(fromCents(sum([10, 20, 70])), '1.00');
});
