import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { classifyCandidate } from '#extensions/curator/mine/classify-candidate.ts';
import { lexicalCandidates } from '#extensions/curator/search/lexical-candidates.ts';
import { modelPlan } from '#extensions/curator/search/model-plan.ts';
import { executedResult, failedResult, lexicalResult, planResult } from '#extensions/curator/search/search-result.ts';
import { END_MARKER, START_MARKER } from '#mind/skills/format/managed-block.ts';
import { verifies } from '../../../verifies.ts';

const SKILLS = [
  { name: 'zeta', text: 'Restart the Gateway.' },
  { name: 'alpha', text: 'restart the gateway' },
  { name: 'plugin', text: 'gateway plugin restart notes' },
  { name: 'none', text: '' },
];

describe('lexical search', () => {
  verifies('curator:candidates:lexical', 'ranks by shared words, then by name, with the words as reasons', () => {
    const found = lexicalCandidates('Gateway plugin RESTART x', SKILLS);
    assert.deepEqual(found, [
      { skill_name: 'plugin', score: 1, reasons: ['gateway', 'plugin', 'restart'] },
      { skill_name: 'alpha', score: 0.6667, reasons: ['gateway', 'restart'] },
      { skill_name: 'zeta', score: 0.6667, reasons: ['gateway', 'restart'] },
      { skill_name: 'none', score: 0, reasons: [] },
    ]);
    assert.deepEqual(lexicalCandidates('Gateway plugin RESTART x', [...SKILLS].reverse()), found);
  });

  test('words are runs of letters, digits, underscores and hyphens of every script', () => {
    const [found] = lexicalCandidates('日本語 a-b_c é 12 ２ x. STRASSE', [
      { name: 's', text: '日本語, A-B_C 12 strasse x é' },
    ]);
    assert.deepEqual(found, { skill_name: 's', score: 1, reasons: ['12', 'a-b_c', 'strasse', '日本語'] });
  });

  test('a managed block is not read, neither by a search nor by mining; the original reads it', () => {
    const text = `plain\n${START_MARKER}\nTraceback of a gateway\n${END_MARKER}\n`;
    const found = (options = {}) => lexicalCandidates('gateway', [{ name: 'noted', text }], 1, options)[0]?.score;
    assert.deepEqual([found(), found({ compat: 'upstream' })], [0, 1]);
    const mined = (options = {}) => classifyCandidate({ text }, options).candidate_type;
    assert.deepEqual([mined(), mined({ compat: 'upstream' })], ['ignore', 'replay_benchmark']);
  });

  test('limits and empty queries', () => {
    assert.equal(lexicalCandidates('gateway', SKILLS, 0).length, 1);
    assert.deepEqual(lexicalCandidates('', SKILLS, 1), [{ skill_name: 'alpha', score: 0, reasons: [] }]);
    const many = Array.from({ length: 12 }, (_, at) => ({ name: `s${at}`, text: 'x' }));
    assert.equal(lexicalCandidates('xx', many).length, 10);
    const words = Array.from({ length: 32 }, (_, at) => `w${at}`);
    const [one] = lexicalCandidates(words.join(' '), [{ name: 's', text: 'w7' }]);
    assert.equal(one?.score, 0.0312);
    assert.equal(lexicalCandidates(words.join(' '), [{ name: 's', text: words.join(' ') }])[0]?.reasons.length, 8);
  });
});

describe('results of a search', () => {
  const runtime = { device: 'auto', text_limit_chars: 512 };

  verifies('curator:candidates:plan-only', 'a plan names models and says that none ran', () => {
    const plan = planResult('q', true);
    assert.equal(plan.mode, 'semantic-plan');
    assert.deepEqual(plan.models, { embedding: 'Qwen3-Embedding-0.6B', reranker: 'bge-reranker-v2-m3' });
    assert.deepEqual([plan.model_downloaded, plan.model_executed, plan.candidates], [false, false, []]);
    assert.equal(planResult('q', false).models.reranker, 'not-used');
    const told = modelPlan(runtime);
    assert.deepEqual(
      [told.embedding_model_id, told.reranker_model_id],
      ['Qwen/Qwen3-Embedding-0.6B', 'BAAI/bge-reranker-v2-m3'],
    );
    assert.equal(Object.values(told).filter((value) => typeof value === 'string').length, 8);
  });

  test('each mode says what ran', () => {
    assert.deepEqual(lexicalResult('q', []).models, { embedding: 'not-used', reranker: 'not-used' });
    assert.equal(executedResult({ query: 'q', rerank: true, runtime, candidates: [] }).mode, 'semantic-reranked');
    const failure = { query: 'q', rerank: true, error: 'no engine', embeddingRan: true, runtime };
    const reranker = failedResult({ ...failure, mode: 'semantic-reranker-unavailable' });
    assert.deepEqual([reranker.model_executed, reranker.error], [true, 'no engine']);
    assert.equal(failedResult({ ...failure, mode: 'semantic-execution-unavailable' }).model_executed, false);
  });
});
