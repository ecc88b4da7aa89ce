import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ran, sampleRequest, storedHome, storeKilled, storeRun } from './stored-ground.ts';

const INVENTED = JSON.stringify({
  ...{ mode: 'synthesize_parent', verdict: 'passed', confidence: 1, residual_gaps: [], evidence_references: [] },
  result: { summary: '', retained_facts: [{ fact_id: 'HB-999', text: 'There is gold.', evidence_chunk_id: 'x' }] },
});

describe('rlm show', () => {
  test('an accepted run: claims with sources, tree, totals; nothing is called verified', async (t) => {
    const stored = storedHome(t);
    await storeRun(stored);
    const { text, failure } = await ran(stored.ground, 'show', { run: 'run_' });
    assert.equal(failure, undefined);
    assert.match(text, /^run run_one\nquestion {2}List every fact about the harbour/);
    assert.match(text, /verdict {3}accepted/);
    assert.match(text, /\n {2}1\. .*counted 11 ships at pier 1\.\n {5}\[HB-001\] harbour\.txt:1/);
    assert.match(
      text,
      /\nNodes:\n {2}root {2}synthesis_complete\n {4}atomic_chunk_001 {2}atomic_complete {2}harbour\.txt:1-2/,
    );
    assert.match(text, /4 calls, 400 \+ 80 tokens, \$0\.0040\./);
    assert.doesNotMatch(text, /verified/i);
  });

  test('a refused run: reasons beside the evidence of the children, gaps, what was not read', async (t) => {
    const stored = storedHome(t);
    const { request, texts } = sampleRequest();
    const omitted = [{ chunk_id: 'harbour.txt:7-900', reason: 'max_chunks' as const }];
    const script = (call_id: string) => {
      if (call_id.includes('chunk_002')) return { refuse: 'timeout' as const };
      return call_id.includes('synthesis') ? INVENTED : undefined;
    };
    await storeRun(stored, { script, prepared: { request: { ...request, omitted }, texts } });
    const { text } = await ran(stored.ground, 'show', { run: 'run_one' });
    assert.match(text, /verdict {3}refused: The synthesis was refused: unsupported_fact_id/);
    assert.match(text, /\nRefused by the gate:\n {2}- unsupported_fact_id: "There is gold\."/);
    assert.match(text, /\nWhat the chunks say, word for word:\n {2}- \[HB-001\]/);
    assert.match(text, /\nGaps:\n[\s\S]*- harbour\.txt:3-4 \(timeout/);
    assert.match(text, /\nNot read:\n {2}- harbour\.txt:7-900 \(max_chunks\)/);
    assert.doesNotMatch(text, /\n {2}1\. /);
  });

  test('a killed run: what was answered, and how to go on', async (t) => {
    const stored = storedHome(t);
    await storeKilled(stored, 2);
    const { text } = await ran(stored.ground, 'show', { run: 'run_killed' });
    assert.match(text, /talaria rlm resume run_killed/);
    assert.match(text, /Calls so far:\n {2}- rlm_call_atomic_chunk_001 answered/);
  });

  test('calls, events and one call whole', async (t) => {
    const stored = storedHome(t);
    await storeRun(stored);
    const { text, data } = await ran(stored.ground, 'show', { run: 'run_one', calls: true, events: true });
    assert.match(text, /call \| mode \| family \| model \| result \| tokens \| cost \| time/);
    assert.match(
      text,
      /rlm_call_atomic_synthesis \| synthesize_parent \| default \| scripted\/default \| answered \| 100\+20/,
    );
    assert.match(text, /\n {4}1 {2}run\.started {2}\{/);
    assert.equal((data.calls as unknown[]).length, 4);
    const one = await ran(stored.ground, 'show', { run: 'run_one', call: 'chunk_002' });
    assert.match(one.text, /--- prompt ---\n\{"schema_version":"rlm\.hermes\.input\.v1"/);
    assert.match(one.text, /--- reply ---\n\{"mode":"execute_atomic"/);
    for (const call of ['nobody', '00']) {
      const { failure } = await ran(stored.ground, 'show', { run: 'run_one', call });
      assert.equal(failure?.exitCode, 3);
      assert.match(failure?.fix ?? '', /rlm_call_atomic_chunk_001/);
    }
  });

  test('an id that is unknown, or that two runs begin with, names the fix', async (t) => {
    const stored = storedHome(t);
    await storeRun(stored, { run_id: 'run_a' });
    await storeRun(stored, { run_id: 'run_b' });
    const unknown = (await ran(stored.ground, 'show', { run: 'xyz' })).failure;
    assert.deepEqual([unknown?.exitCode, unknown?.code], [3, 'run-not-found']);
    assert.match(unknown?.fix ?? '', /talaria rlm runs/);
    const ambiguous = (await ran(stored.ground, 'show', { run: 'run_' })).failure;
    assert.equal(ambiguous?.code, 'run-ambiguous');
    assert.match(ambiguous?.message ?? '', /run_b, run_a/);
  });

  test('a page and an export are written whole, privately, and replace nothing unasked', async (t) => {
    const stored = storedHome(t);
    await storeRun(stored);
    const written = await ran(stored.ground, 'show', { run: 'run_one', html: 'out/run.html', export: '~/run.json' });
    assert.equal(written.failure, undefined);
    const page = join(stored.home.path, 'out/run.html');
    assert.match(readFileSync(page, 'utf8'), /^<!doctype html>/i);
    assert.equal(statSync(page).mode & 0o777, 0o600);
    const exported = JSON.parse(stored.home.read('run.json')) as { schema_version: string };
    assert.equal(exported.schema_version, 'talaria.rlm.export.v1');
    writeFileSync(page, 'mine');
    const again = await ran(stored.ground, 'show', { run: 'run_one', html: 'out/run.html' });
    assert.deepEqual([again.failure?.exitCode, again.failure?.code], [3, 'file-exists']);
    assert.equal(readFileSync(page, 'utf8'), 'mine');
    await ran(stored.ground, 'show', { run: 'run_one', html: 'out/run.html', force: true });
    assert.match(readFileSync(page, 'utf8'), /^<!doctype html>/i);
  });
});
