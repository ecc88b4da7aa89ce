import test from 'node:test';
import assert from 'node:assert/strict';
import { byCategory, parseReceipt, total } from '../src/receipt.js';

const raw = {
  shop: 'Corner Shop',
  lines: [
    { what: 'bread', price: '2.20', category: 'food' },
    { what: 'soap', price: '1.15', count: 2 },
  ],
};

test('adds the lines up', () => {
  assert.equal(total(parseReceipt(raw)), 450);
});

test('groups by category, largest first', () => {
  const groups = byCategory([parseReceipt(raw)]);
  assert.deepEqual([...groups], [['other', 230], ['food', 220]]);
});

test('wants a shop and lines', () => {
  assert.throws(() => parseReceipt({ lines: [] }), /needs a shop/);
  assert.throws(() => parseReceipt({ shop: 'X', lines: [] }), /no lines/);
});
