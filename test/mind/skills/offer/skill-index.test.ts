import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { estimateTokens } from '#base/text.ts';
import { createSkillIndex } from '#mind/skills/offer/skill-index.ts';
import type { SkillRecord } from '#mind/skills/skill.ts';
import { verifies } from '../../../verifies.ts';
import { createSkillHome, HERE, recordOf } from '../skill-home.ts';

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
