/**
 * Recursion with a real SmolLM2-135M-Instruct as the inner model, over the README of this repository: whatever the model writes, what is
 * accepted is supported. The model is too small to keep the contract; that is the point.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { askQuestion } from '#extensions/rlm/ask/ask-question.ts';
import type { CallRecord } from '#extensions/rlm/call/call-record.ts';
import type { RunOutcome } from '#extensions/rlm/outcome.ts';
import { liveRun } from '#extensions/rlm/run/live-run.ts';
import { PLAIN_RULE } from '#extensions/rlm/run/plain-prompt.ts';
import { type PreparedRun, prepareRun } from '#extensions/rlm/run/prepare-run.ts';
import type { RunOptions } from '#extensions/rlm/run/run-options.ts';
import type { FamilyOrder } from '#extensions/rlm/run/run-request.ts';
import { memoryTraceStore } from '#extensions/rlm/trace/trace-store.ts';
import { verifies } from '../../verifies.ts';
import { findSmolLm2 } from '../find-smollm2.ts';
import { type SmolScene, smolScene } from './smollm-scene.ts';

const ROOT = join(import.meta.dirname, '../../..');
const QUESTION = 'What does Talaria do without any model?';
const files = findSmolLm2();
const never = () => new AbortController().signal;

if (!files.modelPath || !files.engineFolder) {
  const skip = 'skipped: no package index answers, the model cannot be fetched';
  test('recursion with SmolLM2', { skip }, () => undefined);
} else {
  describe('recursion with SmolLM2', () => {
    // The engine tries its binary in a forked process, which would inherit `--test` and run tests instead.
    const flags = process.execArgv;
    before(() => {
      process.execArgv = [];
    });
    after(() => {
      process.execArgv = flags;
    });

    verifies(
      ['rlm:run:parent-gated', 'rlm:run:provider-agnostic', 'rlm:guard:subset'],
      'a run whose calls are all the small model ends with every accepted claim supported',
      {
        options: { timeout: 400_000 },
        run: async (t) => {
          const scene = await smolScene(t, files);
          const { outcome, records } = await runOver(t, scene, { children: [], synthesis: [] });
          assert.ok(records.length >= 2, `${records.length} calls`);
          for (const { model, success, adapter_error } of records) {
            if (success) assert.match(model ?? '', /^llama\/SmolLM2/);
            else
              assert.ok(
                ['timeout', 'reply_too_large', 'runtime_error'].includes(adapter_error?.type ?? ''),
                adapter_error?.detail,
              );
          }
          assert.ok(
            records.some(({ success }) => success),
            JSON.stringify(records.map((record) => record.adapter_error)),
          );
          assert.notEqual(outcome.run_state, 'cancelled');
        },
      },
    );

    verifies(
      ['rlm:run:parent-gated', 'rlm:guard:subset'],
      'over evidence that was found by rule, its synthesis is accepted only as far as that carries it',
      {
        options: { timeout: 400_000 },
        run: async (t) => {
          const scene = await smolScene(t, files);
          const { outcome, records } = await runOver(t, scene, { children: ['reflex'], synthesis: ['default'] });
          assert.ok(outcome.evidence.length > 0, JSON.stringify(outcome.gaps));
          assert.ok(records.some(({ mode, model }) => mode === 'synthesize_parent' && /SmolLM2/.test(model ?? '')));
          if (outcome.verdict !== 'accepted') assert.ok((outcome.detail ?? '').length > 0);
        },
      },
    );

    verifies(
      ['rlm:run:failed-child', 'rlm:run:provider-agnostic'],
      'a child that cannot keep to the envelope is asked plainly; what counts of it stands in the file',
      {
        options: { timeout: 400_000 },
        run: async (t) => {
          const scene = await smolScene(t, files);
          const limits = { max_chunks: 1, max_retries: 1 };
          const { records } = await runOver(t, scene, { children: [], synthesis: [], ...limits });
          const [first, again] = records;
          assert.match(first?.prompt ?? '', /^\{"schema_version":"rlm\.hermes\.input\.v1"/);
          // Should it ever keep to the contract, there is nothing to ask again.
          if (again !== undefined) assert.ok(again.prompt.startsWith(PLAIN_RULE), again.prompt.slice(0, 200));
        },
      },
    );

    verifies(
      'rlm:ask:cited',
      'an ask whose code the small model should write cites nothing that the file does not say',
      {
        options: { timeout: 400_000 },
        run: async (t) => {
          const { ground, mind } = await smolScene(t, files);
          const context = { path: join(ROOT, 'README.md'), root: ROOT };
          const options = { max_steps: 1, budget: { max_calls: 2 } };
          const asked = await askQuestion({ ground, mind, context, question: QUESTION, options, keep: false }, never());
          assert.ok(asked.ok, JSON.stringify(asked));
          const { outcome } = asked.value;
          t.diagnostic(`${outcome.verdict} after ${outcome.totals.calls} calls: ${outcome.detail ?? ''}`);
          const text = readFileSync(join(ROOT, 'README.md'));
          for (const handle of outcome.handles) {
            if (handle.kind !== 'span') continue;
            const { start_byte, end_byte } = handle.place;
            assert.ok(
              text.subarray(start_byte, end_byte).toString().includes(handle.quote.slice(0, 200)),
              handle.quote,
            );
          }
          const known = new Set(outcome.handles.map(({ id }) => id));
          for (const { grade, handles } of outcome.sentences)
            if (grade === 'supported') assert.ok(handles.length > 0 && handles.every((id) => known.has(id)));
        },
      },
    );
  });
}

interface Ran {
  readonly outcome: RunOutcome;
  readonly records: readonly CallRecord[];
}

/** The beginning of the README; checks what holds whatever the model writes. */
async function runOver(
  t: TestContext,
  { ground, families }: SmolScene,
  { children, synthesis, ...limits }: FamilyOrder & Pick<RunOptions, 'max_chunks' | 'max_retries'>,
): Promise<Ran> {
  const options = { max_chunks: 2, chunk_lines: 20, max_retries: 0, force: 'a test', ...limits };
  const target = { cwd: ROOT, userHome: ROOT };
  const ask = { ground: target, target: 'README.md', question: QUESTION, options, memory_path: join(ROOT, 'none') };
  const prepared = await prepareRun(ask, never());
  assert.ok(prepared.ok, JSON.stringify(prepared));
  const { request } = prepared.value;
  const asked: PreparedRun = {
    ...prepared.value,
    request: { ...request, families: { children, synthesis }, max_output_tokens: 300 },
  };
  const store = memoryTraceStore();
  const live = { store, inner: families, clock: ground.clock, call_timeout_ms: 60_000 };
  const outcome = await liveRun(live, asked, never());
  assertSupported(outcome, prepared.value);
  const records = store.calls(outcome.run_id);
  const { verdict, claims, evidence, refused, refused_facts } = outcome;
  t.diagnostic(
    `${verdict}: ${records.length} calls, ${evidence.length} facts, ${refused_facts.length} refused facts, ${claims.length} claims, ${refused.length} refused claims`,
  );
  return { outcome, records };
}

/** Looks at the file itself, and at nothing that the run says of itself. */
function assertSupported({ verdict, claims, evidence }: RunOutcome, { request, texts }: PreparedRun): void {
  const file = readFileSync(join(ROOT, 'README.md'));
  const facts = new Map(evidence.map((fact) => [fact.fact_id, fact]));
  for (const { chunk_id, text, place } of evidence) {
    const at = request.chunks.findIndex((chunk) => chunk.chunk_id === chunk_id);
    assert.ok(folded(texts[at] ?? '').includes(folded(text)), `${chunk_id} does not say ${text}`);
    assert.ok(place !== null);
    assert.equal(folded(file.subarray(place.start_byte, place.end_byte).toString()), folded(text));
  }
  if (verdict !== 'accepted') assert.deepEqual(claims, []);
  for (const { text, fact_ids } of claims) {
    assert.ok(fact_ids.length > 0 && fact_ids.every((id) => facts.has(id)), `${fact_ids}`);
    const carried = folded(fact_ids.map((id) => facts.get(id)?.text ?? '').join(' ')).toLowerCase();
    for (const word of text.match(/\p{N}[\p{N}.,]*|\p{Lu}[\p{L}\p{N}_]+/gu) ?? [])
      assert.ok(
        carried.includes(word.toLowerCase().replace(/[.,]+$/, '')),
        `${word} of "${text}" is in none of ${fact_ids}`,
      );
  }
}

function folded(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
