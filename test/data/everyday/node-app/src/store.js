import { readFile, rename, writeFile } from 'node:fs/promises';
import { parseReceipt } from './receipt.js';

export async function load(path) {
  const raw = JSON.parse(await readFile(path, 'utf8'));
  return raw.map(parseReceipt);
}

export async function append(path, receipt) {
  parseReceipt(receipt);
  const raw = JSON.parse(await readFile(path, 'utf8'));
  raw.push(receipt);
  const fresh = `${path}.new`;
  await writeFile(fresh, `${JSON.stringify(raw, null, 2)}\n`);
  await rename(fresh, path);
  return raw.length;
}
