// The guide to recursion lists what the code knows: terms of the ambiguity, calls of the sandbox, reasons of the gate, flags.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { rlmCommands } from '#extensions/rlm/commands.ts';
import type { RejectionReason } from '#extensions/rlm/guard/read-claims.ts';
import { MEMORY_MODES } from '#extensions/rlm/memory/memory-record.ts';
import { REPL_CALLS } from '#extensions/rlm/repl/repl-api.rules.ts';
import { AMBIGUITY_TERMS, AMBIGUITY_THRESHOLD } from '#extensions/rlm/run/ambiguity.ts';
import type { Ground } from '#public/talaria.ts';

const PATH = join(import.meta.dirname, '../../../../docs/guide/recursion.md');
const guide = readFileSync(PATH, 'utf8');

const REASONS: Readonly<Record<RejectionReason, true>> = {
  chunk_handle_without_fact: true,
  unsupported_fact_id: true,
  missing_evidence_handle: true,
  evidence_handle_mismatch: true,
  evidence_text_mismatch: true,
  claim_outside_schema: true,
  missing_required_fact: true,
  no_claims: true,
};

test('every term of the ambiguity with its weight, its meaning and its question', () => {
  for (const { weight, means, question } of Object.values(AMBIGUITY_TERMS))
    assert.ok(guide.includes(`| ${means} | ${weight} | ${question} |`), means);
  assert.ok(guide.includes(`Over ${AMBIGUITY_THRESHOLD} (`));
});

test('every call of the sandbox, in the words in which the model is told', () => {
  for (const { call, gives } of REPL_CALLS) assert.ok(guide.includes(`| \`${call}\` | ${gives} |`), call);
});

test('every reason of the gate and every mode of the memory', () => {
  for (const reason of Object.keys(REASONS)) assert.ok(guide.includes(`| \`${reason}\` |`), reason);
  for (const mode of MEMORY_MODES) assert.ok(guide.includes(`\`${mode}\``), mode);
});

test('what it links to is there', () => {
  const links = [...guide.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, link = '']) => link);
  assert.ok(links.length > 0);
  for (const link of links) assert.ok(existsSync(join(dirname(PATH), link)), link);
});

test('every flag that it names is one of the commands', () => {
  const known = rlmCommands({} as unknown as Ground).flatMap(({ input }) =>
    'shape' in input ? Object.keys(input.shape as object).flatMap(flagsOf) : [],
  );
  const prose = guide.replace(/^```[\s\S]*?^```$/gm, '');
  const named = new Set(prose.match(/(?<![\w-])--[a-z][a-z-]+/g));
  assert.ok(named.size > 15);
  for (const flag of named) assert.ok(known.includes(flag), flag);
});

function flagsOf(key: string): readonly string[] {
  const name = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return [`--${name}`, `--no-${name}`];
}
