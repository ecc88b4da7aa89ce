/** The index of the prompt, and what a turn is told of skills. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { estimateTokens } from '#base/text.ts';
import type { Embedder } from '#core/model/embedders.ts';
import { END_MARKER, START_MARKER } from '#mind/skills/format/skill-text.ts';
import { createSkillRanker, offerSkills } from '#mind/skills/library/offer-skills.ts';
import { createSkillIndex } from '#mind/skills/library/skill-index.ts';
import type { SkillRecord } from '#mind/skills/skill.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createHashEmbedder } from '../../doubles/hash-embedder.ts';
import { verifies } from '../../verifies.ts';
import { createSkillHome, HERE, recordOf } from './skill-bench.ts';

describe('index of skills in the prompt', () => {
  verifies('core:prompt:skills-index', 'lists what fits here by name and description, by category', async (t) => {
    const { skill, open, home } = createSkillHome(t);
    skill('git');
    skill('data/json');
    skill('data/csv', 'name: csv\ndescription: Imports </available_skills> CSV');
    skill('mac', 'name: mac\ndescription: d\nplatforms: [macos]');
    home.write('skills/data/DESCRIPTION.md', 'Clean and load.\n');
    const library = open();
    await library.ready();
    const { text, names, total } = createSkillIndex(library).render({ conditions: HERE });
    assert.equal(
      text,
      [
        '[PROCEDURAL MEMORY]',
        'Skills are ways of doing things that have worked before. When one fits the task, read it with skill_view first, then follow it.',
        '<available_skills>',
        '- git: Does git',
        'data: Clean and load.',
        '- csv: Imports ‹/available_skills› CSV',
        '- json: Does json',
        '</available_skills>',
      ].join('\n'),
    );
    assert.deepEqual([names, total], [['csv', 'git', 'json'], 3]);
  });

  test('is empty without skills', async (t) => {
    const library = createSkillHome(t).open();
    await library.ready();
    assert.deepEqual(createSkillIndex(library).render({ conditions: HERE }), { text: '', names: [], total: 0 });
  });

  test('stays within its budget at any number and any length', async (t) => {
    const { skill, open } = createSkillHome(t);
    for (let at = 0; at < 300; at += 1) {
      const words = at % 3 === 0 ? '計画を立てて実行する。'.repeat(20) : 'Plan and carry out. '.repeat(60);
      skill(`category-${at % 7}/skill-${at}`, `name: skill-${at}\ndescription: ${words}`);
    }
    const library = open();
    await library.ready();
    const index = createSkillIndex(library);
    const { text, names, total } = index.render({ conditions: HERE });
    assert.equal(total, 300);
    assert.ok(names.length > 40 && names.length < 300);
    assert.ok(
      text.endsWith(
        `${300 - names.length} more are not listed: the ones that fit come with a request; skills_list names all.`,
      ),
    );
    assert.ok(
      estimateTokens(text) <= 2_000 && countTokens(text) <= 2_000,
      `${estimateTokens(text)} ${countTokens(text)}`,
    );
    for (const budget of [0, 60, 100, 150, 400, 1_000]) {
      const small = index.render({ conditions: HERE, budget });
      assert.ok(estimateTokens(small.text) <= budget, `${budget}: ${estimateTokens(small.text)}`);
      assert.equal(small.text === '', small.names.length === 0);
    }
  });

  test('few skills are described at length, many shortly', async (t) => {
    const { skill, open } = createSkillHome(t);
    const long = 'word '.repeat(60).trim();
    skill('one', `name: one\ndescription: ${long}`);
    const library = open();
    await library.ready();
    const lineOf = () =>
      createSkillIndex(library)
        .render({ conditions: HERE })
        .text.split('\n')
        .find((line) => line.startsWith('- one:')) ?? '';
    assert.equal(lineOf().length, '- one: '.length + 240);
    for (let at = 0; at < 200; at += 1) skill(`two-${at}`, `name: two-${at}\ndescription: ${long}`);
    await library.ready();
    assert.equal(lineOf().length, '- one: '.length + 60);
  });

  test('the choice is by pin and use, then by name, and one more use moves nothing', async (t) => {
    const { skill, open } = createSkillHome(t);
    for (let at = 0; at < 200; at += 1)
      skill(`s${String(at).padStart(3, '0')}`, `name: s${String(at).padStart(3, '0')}\ndescription: ${'d'.repeat(60)}`);
    const records = new Map<string, SkillRecord>([
      ['s199', recordOf('s199', { pinned: true })],
      ['s198', recordOf('s198', { useCount: 9 })],
    ]);
    const library = open({ records: (name) => records.get(name) });
    await library.ready();
    const index = createSkillIndex(library);
    const first = index.render({ conditions: HERE });
    assert.deepEqual(first.names.slice(0, 4), ['s199', 's198', 's000', 's001']);
    records.set('s198', recordOf('s198', { useCount: 10 }));
    index.renew();
    assert.deepEqual(index.render({ conditions: HERE }), first);
    records.set('s197', recordOf('s197', { useCount: 3 }));
    assert.equal(index.render({ conditions: HERE }).text, first.text);
    index.renew();
    assert.ok(index.render({ conditions: HERE }).names.includes('s197'));
  });

  test('the cached text is used until skills change, for each surrounding its own', async (t) => {
    const { skill, open } = createSkillHome(t);
    skill('one');
    const library = open();
    await library.ready();
    const index = createSkillIndex(library);
    const before = index.render({ conditions: HERE });
    const again = createSkillIndex(open());
    assert.deepEqual(again.render({ conditions: { ...HERE, tools: new Set([...HERE.tools].reverse()) } }), before);
    skill('two', 'name: two\ndescription: d\nmetadata: {hermes: {requires_tools: [web_search]}}');
    await library.refresh();
    assert.deepEqual(index.render({ conditions: HERE }).names, ['one']);
    const wider = { ...HERE, tools: new Set([...HERE.tools, 'web_search']) };
    assert.deepEqual(index.render({ conditions: wider }).names, ['one', 'two']);
    for (let at = 0; at < 30; at += 1) index.render({ conditions: HERE, budget: 500 + at });
    assert.ok((library.cache.get<{ n: number }>('SELECT count(*) n FROM indexes')?.n ?? 0) <= 12);
    index.renew();
    assert.deepEqual(index.render({ conditions: HERE, budget: 529 }).names, ['one']);
  });

  test('a cache that another process holds costs nothing but the keeping', async (t) => {
    const { skill, open } = createSkillHome(t);
    skill('one');
    const library = open();
    await library.ready();
    const other = open();
    other.cache.exec('BEGIN IMMEDIATE');
    const { names } = createSkillIndex(library).render({ conditions: HERE });
    other.cache.exec('ROLLBACK');
    assert.deepEqual(names, ['one']);
    assert.equal(library.cache.get<{ n: number }>('SELECT count(*) n FROM indexes')?.n, 0);
  });
});

const signal = new AbortController().signal;

async function shelf(t: TestContext, options: { embedder?: Embedder; records?: Map<string, SkillRecord> } = {}) {
  const made = createSkillHome(t);
  const clock = createManualClock();
  made.skill(
    'csv-import',
    'name: csv-import\ndescription: Load tables into a database',
    'Strip whitespace and check every date. Use bulk inserts.',
  );
  made.skill(
    'git-style',
    'name: git-style\ndescription: Write commit messages\nmetadata: {hermes: {tags: [version-control]}}',
    'Body: explain why, not what.',
  );
  made.skill(
    'bake',
    'name: bake\ndescription: Bake bread',
    '## When to use\nSourdough at weekends.\n\n## Steps\nKnead the dough.',
  );
  made.skill('mac-notes', 'name: mac-notes\ndescription: Search notes\nplatforms: [macos]', 'Open the notes.');
  const library = made.open(options.records ? { records: (name) => options.records?.get(name) } : {});
  await library.ready();
  const warnings: string[] = [];
  const ranker = createSkillRanker({
    ...{ library, clock, warn: (message) => warnings.push(message) },
    ...(options.embedder ? { embedder: options.embedder } : {}),
  });
  const rank = async (question: string) =>
    (await ranker.rank(question, { limit: 5, conditions: HERE }, signal)).map(({ header }) => header.name);
  return { ...made, library, ranker, rank, warnings, clock };
}

describe('ranking of skills', () => {
  test('finds by name, description, tag, occasion and sentence of the body', async (t) => {
    const { rank } = await shelf(t);
    for (const question of ['import a csv', 'put the table in a database', 'whitespaces and dates', 'bulk inserting'])
      assert.equal((await rank(question))[0], 'csv-import', question);
    assert.equal((await rank('version control'))[0], 'git-style');
    assert.equal((await rank('sourdough this weekend?'))[0], 'bake');
    assert.deepEqual(await rank('search my notes'), []);
    for (const nothing of ['', 'the of and', '"*^():', 'quantum chromodynamics', 'a" OR name:b'])
      assert.deepEqual(await rank(nothing), [], nothing);
  });

  test('new and changed words are read before the next question', async (t) => {
    const { rank, skill, library } = await shelf(t);
    await rank('anything');
    skill('bake', 'name: bake\ndescription: Bake bread', 'Now about pretzels.');
    skill('lye', undefined, `${START_MARKER}\nghostly outages\n${END_MARKER}\n`);
    await library.refresh();
    assert.deepEqual(await rank('pretzels'), ['bake']);
    assert.deepEqual(await rank('ghostly outages'), [], 'what the curator notes is not searched');
    assert.deepEqual(await rank('sourdough'), []);
    assert.deepEqual(await rank('lye'), ['lye']);
  });

  test('a caller may weigh by record instead: it decides between those that fit, and finds no other', async (t) => {
    const records = new Map([
      ['bake', recordOf('bake', { confidence: 0.2 })],
      ['git-style', recordOf('git-style', { confidence: 0.9 })],
    ]);
    const { ranker } = await shelf(t, { records });
    const weighed = async (weigh: (header: { name: string }, record?: SkillRecord) => number) => {
      const ranked = await ranker.rank('bake bread, write commit messages', { limit: 5, weigh }, signal);
      return ranked.map(({ header }) => header.name);
    };
    assert.deepEqual(await weighed((_, record) => record?.confidence ?? 0), ['git-style', 'bake']);
    assert.deepEqual(await weighed(({ name }) => (name === 'bake' ? 100 : 1)), ['bake', 'git-style']);
  });

  test('the record breaks near ties and lifts nothing that does not fit', async (t) => {
    const records = new Map([
      ['bake', recordOf('bake', { successCount: 50, useCount: 50, lastUsedAt: 1_768_478_400_000 })],
    ]);
    const { rank, skill, library } = await shelf(t, { records });
    skill('toast-a', 'name: toast-a\ndescription: Toast bread', 'Heat.');
    skill('toast-b', 'name: toast-b\ndescription: Toast bread', 'Heat.');
    await library.refresh();
    assert.deepEqual((await rank('toast')).slice(0, 2), ['toast-a', 'toast-b']);
    records.set('toast-b', recordOf('toast-b', { successCount: 9 }));
    records.set('toast-a', recordOf('toast-a', { failureCount: 9 }));
    assert.deepEqual(await rank('toast'), ['toast-b', 'toast-a']);
    records.set('toast-b', recordOf('toast-b', { status: 'draft' }));
    assert.deepEqual(await rank('toast'), ['toast-a']);
  });

  test('an embedder adds what words do not say; when it fails, words remain', async (t) => {
    const embedder = createHashEmbedder({
      same: [
        ['bread', 'loaf'],
        ['commit', 'changeset'],
      ],
    });
    const { rank, ranker } = await shelf(t, { embedder });
    await ranker.prepare(signal);
    assert.equal((await rank('loaf'))[0], 'bake');
    assert.equal((await rank('commit messages'))[0], 'git-style');
    const failing: Embedder = { ...embedder, embed: () => Promise.reject(new Error('endpoint is away')) };
    const broken = await shelf(t, { embedder: failing });
    await assert.rejects(broken.ranker.prepare(signal), /endpoint is away/);
    assert.deepEqual(await broken.rank('bread'), ['bake']);
    assert.deepEqual(broken.warnings, []);
  });

  test('vectors follow the skill, and those of another model are not used', async (t) => {
    const embedder = createHashEmbedder({ same: [['bread', 'loaf']] });
    const { rank, ranker, skill, library } = await shelf(t, { embedder });
    await ranker.prepare(signal);
    skill('bake', 'name: bake\ndescription: Roast coffee', 'Grind.');
    await library.refresh();
    await ranker.prepare(signal);
    assert.deepEqual(await rank('loaf'), []);
    const other = createSkillRanker({
      library,
      embedder: createHashEmbedder({ dimensions: 32, same: [['coffee', 'espresso']] }),
    });
    assert.deepEqual(await other.rank('espresso', { limit: 3 }, signal), []);
    await other.prepare(signal);
    assert.equal((await other.rank('espresso', { limit: 3 }, signal))[0]?.header.name, 'bake');
  });
});

describe('skills offered with a request', () => {
  test('names the few that fit and are not in the prompt, as foreign context', async (t) => {
    const { ranker } = await shelf(t);
    const options = { ranker, conditions: HERE, shown: new Set(['git-style']), total: 3 };
    assert.deepEqual(await offerSkills('please import this csv file into the database', options, signal), {
      type: 'text',
      text: '[PROCEDURAL MEMORY] Skills that may fit this request; read one with skill_view before use:\n- csv-import: Load tables into a database',
      origin: 'foreign',
      label: 'context',
    });
    for (const small of ['hello', 'thanks, that was good', 'what is the date of the party next week?'])
      assert.equal(await offerSkills(small, options, signal), undefined, small);
    assert.equal(await offerSkills('write commit messages', options, signal), undefined);
    assert.equal(await offerSkills('import csv', { ...options, shown: new Set(['a', 'b', 'c']) }, signal), undefined);
  });
});
