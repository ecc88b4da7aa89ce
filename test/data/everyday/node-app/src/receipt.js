import { sum, toCents } from './money.js';

export function parseReceipt(raw) {
  if (!raw || !raw.shop) throw new Error('a receipt needs a shop');
  if (!Array.isArray(raw.lines) || raw.lines.length === 0) {
    throw new Error(`receipt from ${raw.shop} has no lines`);
  }
  const lines = raw.lines.map((line) => ({
    what: String(line.what),
    category: line.category ?? 'other',
    cents: toCents(line.price) * (line.count ?? 1),
  }));
  return { shop: raw.shop, date: raw.date ?? null, lines };
}

export function total(receipt) {
  return sum(receipt.lines.map((line) => line.cents));
}

export function byCategory(receipts) {
  const out = new Map();
  for (const receipt of receipts) {
    for (const line of receipt.lines) {
      out.set(line.category, (out.get(line.category) ?? 0) + line.cents);
    }
  }
  return new Map([...out].sort((a, b) => b[1] - a[1]));
}
