import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { codeLength } from '#base/text/code-points.ts';
import type { Embedder } from '#core/model/embedder.ts';
import type { Reranker } from '#core/model/rerankers/reranker.ts';
import { cutToLimit, type RankParts, rankSkills } from '#extensions/curator/search/rank-skills.ts';
import { semanticRuntime } from '#extensions/curator/search/semantic-config.ts';
import { createHashEmbedder } from '#testing/hash-embedder.ts';
import { createWordReranker } from '#testing/word-reranker.ts';
import { verifies } from '../../../verifies.ts';

const SKILLS = [
  { name: 'bread', path: '/s/bread/SKILL.md', text: 'Bake a loaf of bread.' },
  { name: 'car', path: '/s/car/SKILL.md', text: 'Wash the automobile.' },
  { name: 'engine', path: '/s/engine/SKILL.md', text: 'Clean the car engine and oil it.' },
];
const signal = new AbortController().signal;
const asked = { query: 'clean my car', skills: SKILLS, rerank: false, limit: 3 };

interface Seen {
  readonly embedded: string[];
  readonly scored: (readonly [string, readonly string[]])[];
  open: number;
  most: number;
}

function parts(over: { readonly embedder?: Partial<Embedder>; readonly reranker?: Partial<Reranker> } = {}) {
  const seen: Seen = { embedded: [], scored: [], open: 0, most: 0 };
  const [hash, words] = [createHashEmbedder({ same: [['car', 'automobile']] }), createWordReranker()];
  const embedder: Embedder = {
    ...hash,
    embed: (texts, aborted) => {
      seen.embedded.push(...texts);
      return (over.embedder?.embed ?? hash.embed)(texts, aborted);
    },
  };
  const reranker: Reranker = {
    ...words,
    score: (query, texts, aborted) => {
      seen.scored.push([query, texts]);
      return (over.reranker?.score ?? words.score)(query, texts, aborted);
    },
  };
  const opening =
    <T>(model: T) =>
    async () => {
      seen.open += 1;
      seen.most = Math.max(seen.most, seen.open);
      return {
        model,
        close: async () => {
          seen.open -= 1;
        },
      };
    };
  const made: RankParts = {
    openEmbedder: opening(embedder),
    openReranker: opening(reranker),
    queryPrefix: 'Query:',
    runtime: { device: 'auto', text_limit_chars: 512 },
    models: { embedding: 'hash', reranker: 'words' },
  };
  return { made, seen };
}

describe('ranking skills by models', () => {
  verifies('curator:candidates:embedding', 'by what they mean, the query with its instruction', async () => {
    const { made, seen } = parts();
    const found = await rankSkills(asked, made, signal);
    assert.equal(found.mode, 'semantic');
    assert.deepEqual(
      found.candidates.map(({ skill_name, path }) => [skill_name, path]),
      ['engine', 'car', 'bread'].map((name) => [name, `/s/${name}/SKILL.md`]),
    );
    const scores = found.candidates.map(({ score }) => score);
    assert.ok((scores[1] ?? 0) > 0.3 && scores.every((score) => score === Math.round(score * 1e6) / 1e6));
    assert.deepEqual([found.model_executed, found.reranker_executed], [true, false]);
    assert.deepEqual(found.models, { embedding: 'hash', reranker: 'not-used' });
    assert.deepEqual(found.runtime, made.runtime);
    assert.deepEqual(seen.embedded, ['Query:clean my car', ...SKILLS.map(({ text }) => text)]);
    assert.deepEqual(await rankSkills({ ...asked, skills: SKILLS.toReversed() }, made, signal), found);
    assert.equal((await rankSkills({ ...asked, limit: 0 }, made, signal)).candidates.length, 1);
  });

  verifies(
    'curator:candidates:reranker',
    'and the best again in pairs with the query, one model at a time',
    async () => {
      const { made, seen } = parts();
      const near = await rankSkills({ ...asked, limit: 2 }, made, signal);
      const found = await rankSkills({ ...asked, rerank: true, limit: 2 }, made, signal);
      assert.equal(found.mode, 'semantic-reranked');
      assert.deepEqual(seen.scored, [['clean my car', ['Clean the car engine and oil it.', 'Wash the automobile.']]]);
      assert.deepEqual(
        found.candidates.map(({ skill_name, score, embedding_score: before }) => [skill_name, score, before]),
        [
          ['engine', 1, near.candidates[0]?.score],
          ['car', 0, near.candidates[1]?.score],
        ],
      );
      assert.deepEqual([found.reranker_executed, found.models.reranker], [true, 'words']);
      assert.deepEqual([seen.open, seen.most], [0, 1]);
    },
  );

  verifies('curator:candidates:text-limit', 'texts are cut before a model sees them', async () => {
    const { made, seen } = parts();
    const long = '\u{1F680}'.repeat(3_000);
    const skills = [{ name: 'long', path: '/s/long/SKILL.md', text: long }];
    await rankSkills({ query: long, skills, rerank: true, limit: 9 }, made, signal);
    const [query, text] = seen.embedded.map((one) => one.replace('Query:', ''));
    for (const one of [query, text, seen.scored[0]?.[0]]) {
      assert.equal(codeLength(one ?? ''), 512);
      assert.match(one ?? '', /\u{1F680}\n\[truncated\]$/u);
    }
    assert.equal(seen.scored[0]?.[1][0], '\u{1F680}'.repeat(500));
    assert.equal(cutToLimit('x'.repeat(512), 512).length, 512);
  });

  verifies('curator:candidates:unavailable', 'what fails is told with its place, and nothing stays open', async () => {
    const fails = async () => {
      throw new Error('no memory');
    };
    const { made } = parts();
    const unloaded = await rankSkills(asked, { ...made, openEmbedder: fails }, signal);
    assert.deepEqual(
      [unloaded.mode, unloaded.error, unloaded.model_executed, unloaded.model_downloaded, unloaded.candidates],
      ['semantic-unavailable', 'no memory', false, false, []],
    );
    const half = await rankSkills({ ...asked, rerank: true }, { ...made, openReranker: fails }, signal);
    assert.deepEqual([half.mode, half.model_executed, half.candidates], ['semantic-reranker-unavailable', true, []]);
    for (const wrong of [
      { embedder: { embed: fails } },
      { embedder: { embed: async () => [] } },
      { embedder: { embed: async () => SKILLS.map(() => new Float32Array(3).fill(Number.NaN)) } },
      { reranker: { score: fails } },
      { reranker: { score: async () => [0.5, Number.NaN] } },
    ]) {
      const broken = parts(wrong);
      const found = await rankSkills({ ...asked, rerank: true }, broken.made, signal);
      assert.equal(found.mode, 'semantic-execution-unavailable');
      assert.notEqual(found.error ?? '', '');
      assert.equal(broken.seen.open, 0);
    }
  });

  test('an abort is thrown, not reported', async () => {
    const controller = new AbortController();
    const stopping = parts({
      embedder: {
        embed: async () => {
          controller.abort(new Error('enough'));
          throw new Error('interrupted');
        },
      },
    });
    await assert.rejects(rankSkills(asked, stopping.made, controller.signal), /enough/);
    assert.equal(stopping.seen.open, 0);
  });
});

describe('variables of a semantic search', () => {
  verifies(
    ['curator:candidates:device', 'curator:candidates:text-limit'],
    'ours win, and what is no number is not heard',
    () => {
      const of = (name: string, value: string) => ({ [`HERMES_CURATOR_EVOLVER_SEMANTIC_${name}`]: value });
      assert.deepEqual(semanticRuntime({}), { device: 'auto', text_limit_chars: 512 });
      assert.deepEqual(semanticRuntime({ ...of('DEVICE', ' '), ...of('TEXT_LIMIT', 'many') }), semanticRuntime({}));
      assert.deepEqual(semanticRuntime({ ...of('DEVICE', 'cuda'), ...of('TEXT_LIMIT', '90') }), {
        device: 'cuda',
        text_limit_chars: 200,
      });
      const ours = { TALARIA_CURATOR_SEMANTIC_DEVICE: 'cpu', TALARIA_CURATOR_SEMANTIC_TEXT_LIMIT: '1000' };
      assert.deepEqual(semanticRuntime({ ...of('DEVICE', 'cuda'), ...of('TEXT_LIMIT', '90'), ...ours }), {
        device: 'cpu',
        text_limit_chars: 1_000,
      });
    },
  );
});
