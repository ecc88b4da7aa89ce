import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createRank } from '#extensions/curator/search/create-rank.ts';
import { readSkillFiles } from '#extensions/curator/search/read-skill-files.ts';
import { readSemanticConfig } from '#extensions/curator/search/semantic-config.ts';
import { verifies } from '../../../verifies.ts';
import { placeFakes, searchStage, writeSkill } from './search-fixture.ts';

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
