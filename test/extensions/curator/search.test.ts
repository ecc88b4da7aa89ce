import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { codeLength } from '#base/text/code-points.ts';
import type { Embedder, Reranker } from '#core/model/embedders.ts';
import { classifyCandidate } from '#extensions/curator/mine.ts';
import {
  createRank,
  cutToLimit,
  type RankParts,
  rankSkills,
  readSemanticConfig,
  semanticRuntime,
} from '#extensions/curator/rank-skills.ts';
import { readSkillFiles } from '#extensions/curator/skill-files.ts';
import { findCandidates, lexicalCandidates } from '#extensions/curator/skill-search.ts';
import { END_MARKER, START_MARKER } from '#mind/skills/format/skill-text.ts';
import { createHashEmbedder } from '../../doubles/hash-embedder.ts';
import { createWordReranker } from '../../doubles/word-reranker.ts';
import { verifies } from '../../verifies.ts';
import { placeFakes, searchStage, writeSkill } from './search-stage.ts';

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
    <T extends object>(model: T) =>
    async () => {
      seen.open += 1;
      seen.most = Math.max(seen.most, seen.open);
      const close = async () => {
        seen.open -= 1;
      };
      return Object.assign(model, { close });
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

const query = 'restart gateway';

describe('curator candidates', () => {
  test('by words: every SKILL.md below the folder but removed ones, named after their folders', async (t) => {
    const { run, root } = searchStage(t);
    const { text, data, failure } = await run('candidates', { query });
    assert.match(text, /^mode: lexical\ngateway \| 1 \| gateway restart \| .*\nbread \| 0/);
    assert.equal(failure, undefined);
    const candidates = data.candidates as { path: string }[];
    assert.equal(candidates[0]?.path, join(root, 'skills/ops/gateway/SKILL.md'));
    const one = await run('candidates', { query, limit: '0', format: 'json' });
    assert.equal((one.data.candidates as unknown[]).length, 1);
    assert.deepEqual(JSON.parse(one.text), one.data);
    assert.match(one.text, /^\{\n {2}"candidates": \[\n/);
    assert.match((await run('candidates', { query, rerank: true })).text, /runs with --execute-semantic only/);
  });

  test('in a folder that was named, with the person’s own folder as ~', async (t) => {
    const { run, root } = searchStage(t);
    writeSkill(join(root, 'person/.hermes/skills/hub'), 'gateway');
    assert.match((await run('candidates', { query, skillsDir: '~/.hermes/skills' })).text, /^mode.*\nhub \| 0.5/);
    assert.match((await run('candidates', { query, skillsDir: 'skills/ops' })).text, /gateway \| 1/);
    mkdirSync(join(root, 'bare'));
    assert.match((await run('candidates', { query, skillsDir: 'bare' })).text, /No SKILL\.md below .*bare\./);
  });

  test('a folder that was named and is not there is noted, and no failure', async (t) => {
    const { run, root } = searchStage(t);
    const missing = `there is no folder ${join(root, 'nowhere')}`;
    const words = await run('candidates', { query, skillsDir: 'nowhere' });
    assert.deepEqual([words.failure, words.text, words.data.note], [undefined, `mode: lexical\n${missing}`, missing]);
    const plan = await run('candidates', { query, skillsDir: 'nowhere', semantic: true, format: 'json' });
    assert.match(String(JSON.parse(plan.text).note), /^Plan only: .* there is no folder .*nowhere$/);
    assert.equal(plan.failure, undefined);
  });

  test('reads what is not UTF-8, follows no link to a folder, names what it cannot read', (t) => {
    const { root } = searchStage(t);
    const folder = join(root, 'odd');
    mkdirSync(join(folder, 'bytes'), { recursive: true });
    writeFileSync(join(folder, 'bytes/SKILL.md'), Buffer.from([0x61, 0xff, 0x62]));
    symlinkSync(folder, join(folder, 'bytes/loop'));
    symlinkSync(join(folder, 'gone'), join(folder, 'SKILL.md'));
    const { skills, problems } = readSkillFiles(folder);
    assert.deepEqual(
      skills.map(({ name, text }) => [name, text]),
      [['bytes', 'a\ufffdb']],
    );
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? '', /SKILL\.md: there is no /);
  });

  verifies('curator:candidates:plan-only', 'the plan opens nothing', async (t) => {
    const { run, ground } = searchStage(t);
    Object.assign(ground, { open: () => assert.fail('the agent was opened') });
    const plan = await run('candidates', { query, semantic: true, rerank: true });
    assert.match(plan.text, /^mode: semantic-plan \(Qwen3-Embedding-0\.6B, bge-reranker-v2-m3\)\nPlan only/);
    assert.deepEqual(plan.data.candidates, []);
    assert.equal(plan.failure, undefined);
  });

  verifies(
    ['curator:candidates:embedding', 'curator:candidates:reranker'],
    'by models, through the engine in the home',
    async (t) => {
      const { run, ground } = searchStage(t);
      placeFakes(ground);
      const near = await run('candidates', { query, executeSemantic: true, format: 'json' });
      assert.equal(near.failure, undefined);
      assert.deepEqual([near.data.mode, near.data.model_executed], ['semantic', true]);
      const ranked = await run('candidates', { query, executeSemantic: true, rerank: true, limit: 2 });
      assert.match(ranked.text, /^mode: semantic-reranked \(Qwen3-Embedding-0\.6B, bge-reranker-v2-m3\)/);
      const [first] = ranked.data.candidates as { score: number; embedding_score: number; reasons: string[] }[];
      assert.equal(first?.score, 0.731059);
      assert.ok((first?.embedding_score ?? 0) > 0.1);
    },
  );

  verifies('curator:candidates:unavailable', 'without models: the reason, words instead, exit code 1', async (t) => {
    const { run } = searchStage(t);
    const { text, data, failure } = await run('candidates', { query, executeSemantic: true, rerank: true });
    assert.match(
      text,
      /^mode: semantic-unavailable .*\nThe models could not rank; by shared words instead:\ngateway \| 1/,
    );
    assert.deepEqual([data.candidates, data.model_executed], [[], false]);
    assert.equal((data.fallback as { mode: string }).mode, 'lexical');
    assert.deepEqual([failure?.exitCode, failure?.code], [1, 'semantic-unavailable']);
    assert.match(
      failure?.message ?? '',
      /there is no model .*Qwen--Qwen3-Embedding-0\.6B\. Run: talaria curator setup-semantic/,
    );
  });

  verifies('curator:auto:model-fallback', 'auto-run is given the reason, never an exception', async (t) => {
    const { ground, mind } = searchStage(t);
    const skills = readSkillFiles(ground.places.skills).skills;
    const signal = new AbortController().signal;
    const found = await createRank(ground, mind)({ query, skills, rerank: true, limit: 3 }, signal);
    assert.deepEqual([found.mode, found.model_executed], ['semantic-unavailable', false]);
    placeFakes(ground);
    const ranked = await createRank(ground, mind)({ query, skills, rerank: true, limit: 3 }, signal);
    assert.deepEqual([ranked.mode, ranked.candidates.length], ['semantic-reranked', 2]);
  });

  test('the models are configured, each value checked', (t) => {
    const plain = readSemanticConfig(searchStage(t).mind);
    assert.equal(plain.embedding.pooling, 'last_token');
    assert.match(plain.embedding.prefix, /^Instruct: .*\nQuery:$/);
    const semantic = { embedding: { id: 'small', pooling: 'mean', prefix: '' } };
    const own = readSemanticConfig(searchStage(t, { config: { semantic, days: 3 } }).mind);
    assert.deepEqual([own.embedding.id, own.embedding.prefix, own.reranker.id], ['small', '', plain.reranker.id]);
    for (const wrong of [{ id: '../x' }, { id: 'a/b/c' }, { file: '../model.onnx' }, { file: 'model.bin' }]) {
      const { mind } = searchStage(t, { config: { semantic: { embedding: wrong } } });
      assert.throws(() => readSemanticConfig(mind), JSON.stringify(wrong));
    }
  });
});

const SEARCH_SKILLS = [
  { name: 'zeta', text: 'Restart the Gateway.' },
  { name: 'alpha', text: 'restart the gateway' },
  { name: 'plugin', text: 'gateway plugin restart notes' },
  { name: 'none', text: '' },
];

describe('lexical search', () => {
  verifies('curator:candidates:lexical', 'ranks by shared words, then by name, with the words as reasons', () => {
    const found = lexicalCandidates('Gateway plugin RESTART x', SEARCH_SKILLS);
    assert.deepEqual(found, [
      { skill_name: 'plugin', score: 1, reasons: ['gateway', 'plugin', 'restart'] },
      { skill_name: 'alpha', score: 0.6667, reasons: ['gateway', 'restart'] },
      { skill_name: 'zeta', score: 0.6667, reasons: ['gateway', 'restart'] },
      { skill_name: 'none', score: 0, reasons: [] },
    ]);
    assert.deepEqual(lexicalCandidates('Gateway plugin RESTART x', [...SEARCH_SKILLS].reverse()), found);
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
    assert.equal(lexicalCandidates('gateway', SEARCH_SKILLS, 0).length, 1);
    assert.deepEqual(lexicalCandidates('', SEARCH_SKILLS, 1), [{ skill_name: 'alpha', score: 0, reasons: [] }]);
    const many = Array.from({ length: 12 }, (_, at) => ({ name: `s${at}`, text: 'x' }));
    assert.equal(lexicalCandidates('xx', many).length, 10);
    const words = Array.from({ length: 32 }, (_, at) => `w${at}`);
    const [one] = lexicalCandidates(words.join(' '), [{ name: 's', text: 'w7' }]);
    assert.equal(one?.score, 0.0312);
    assert.equal(lexicalCandidates(words.join(' '), [{ name: 's', text: words.join(' ') }])[0]?.reasons.length, 8);
  });
});

describe('results of a search', () => {
  const asked = { query: 'q', skills: [], limit: 3, semantic: true, execute: false };
  const never = () => assert.fail('a model was asked');

  verifies('curator:candidates:plan-only', 'a plan names models and says that none ran', async () => {
    const { signal } = new AbortController();
    const plan = await findCandidates({ ...asked, rerank: true }, never, signal);
    assert.equal(plan.mode, 'semantic-plan');
    assert.deepEqual(plan.models, { embedding: 'Qwen3-Embedding-0.6B', reranker: 'bge-reranker-v2-m3' });
    assert.deepEqual([plan.model_downloaded, plan.model_executed, plan.candidates], [false, false, []]);
    const plain = await findCandidates({ ...asked, rerank: false }, never, signal);
    assert.equal(plain.models.reranker, 'not-used');
    const words = await findCandidates({ ...asked, semantic: false, rerank: true }, never, signal);
    assert.deepEqual([words.mode, words.models], ['lexical', { embedding: 'not-used', reranker: 'not-used' }]);
  });
});
