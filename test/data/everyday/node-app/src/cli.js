#!/usr/bin/env node
import { fromCents } from './money.js';
import { byCategory, total } from './receipt.js';
import { append, load } from './store.js';

const [command, path, ...rest] = process.argv.slice(2);

async function main() {
  if (command === 'report' && path) {
    const receipts = await load(path);
    for (const [name, cents] of byCategory(receipts)) {
      console.log(`${name.padEnd(12)} ${fromCents(cents).padStart(10)}`);
    }
    const all = receipts.reduce((n, receipt) => n + total(receipt), 0);
    console.log(`${'all'.padEnd(12)} ${fromCents(all).padStart(10)}`);
  } else if (command === 'add' && path && rest.length === 3) {
    const [shop, what, price] = rest;
    const count = await append(path, { shop, lines: [{ what, price }] });
    console.log(`${count} receipts now`);
  } else {
    console.error('usage: till-roll report FILE | add FILE SHOP WHAT PRICE');
    process.exitCode = 2;
  }
}

main().catch((error) => {
  console.error(`till-roll: ${error.message}`);
  process.exitCode = 1;
});
