import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Embedder } from '#core/model/embedder.ts';
import { END_MARKER, START_MARKER } from '#mind/skills/format/managed-block.ts';
import { createSkillRanker } from '#mind/skills/offer/rank-skills.ts';
import { offerSkills } from '#mind/skills/offer/skill-offer.ts';
import type { SkillRecord } from '#mind/skills/skill.ts';
import { createHashEmbedder } from '#testing/hash-embedder.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createSkillHome, HERE, recordOf } from '../skill-home.ts';

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
