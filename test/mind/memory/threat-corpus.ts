// Owns the labelled entries of the scan tests: what must be refused, what must pass. Keys are made up here, so that no file
// of the repository holds anything shaped like one.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface LabelledEntry {
  readonly text: string;
  /** Reason expected of the scan; absent for entries that must pass. */
  readonly class?: string;
}

export function loadEntries(name: 'entries-refused' | 'entries-accepted'): readonly LabelledEntry[] {
  const file = new URL(`../../data/memory/${name}.jsonl`, import.meta.url);
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines
    .map((line) => JSON.parse(line) as LabelledEntry)
    .map((entry) => ({ ...entry, text: fillIn(entry.text) }));
}

function fillIn(text: string): string {
  return text
    .replace(/\{\{base64:([^}]*)\}\}/g, (_, plain: string) => Buffer.from(plain).toString('base64'))
    .replace(/\{\{([\w-]+)\}\}/g, (_, kind: string) => fakeSecret(kind));
}

/** A string of the shape of `kind`, the same each time, and no key of anybody. */
export function fakeSecret(kind: string): string {
  const make = FAKES[kind];
  if (!make) throw new Error(`no fake secret of kind ${kind}`);
  return make(createHash('sha512').update(kind).digest('base64url').replace(/[-_]/g, 'x'));
}

const FAKES: Readonly<Record<string, (noise: string) => string>> = {
  openai: (noise) => `sk-proj-${noise.slice(0, 48)}`,
  anthropic: (noise) => `sk-ant-api03-${noise.slice(0, 60)}`,
  github: (noise) => `ghp_${noise.slice(0, 36)}`,
  'aws-id': () => `AKIA${'Q3EGRT5ZW7NNX2PL'}`,
  'aws-secret': (noise) => noise.slice(0, 40),
  bearer: (noise) => noise.slice(0, 44),
  hex: () => createHash('md5').update('fake').digest('hex'),
  slack: (noise) => `xoxb-${'123456789012'}-${noise.slice(0, 24)}`,
  stripe: (noise) => `sk_live_${noise.slice(0, 24)}`,
  password: () => ['Tr0ub', '4dor', 'x9!'].join(''),
  jwt: (noise) => `eyJ${noise.slice(0, 30)}.eyJ${noise.slice(10, 50)}.${noise.slice(5, 45)}`,
  'private-key': (noise) =>
    `-----BEGIN ${'RSA PRIVATE'} KEY-----\n${noise.slice(0, 64)}\n-----END ${'RSA PRIVATE'} KEY-----`,
};
