/** The grade of each sentence of an answer: by rule, and by a model whose answer is never trusted beyond its words. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type CitingSentence, gradeAnswer, type ReadByModel } from '#extensions/rlm/ask/grade-answer.ts';
import { textSource } from '#extensions/rlm/repl/file-bytes.ts';
import type { Verdict } from '#mind/evidence/judge.ts';
import { verifies } from '../../../../verifies.ts';
import { computed } from '../handles.ts';

function judged(verdict: Verdict | 'none'): ReadByModel {
  return async (sentences) => sentences.map(() => ({ verdict, why: `because ${verdict}`, model: 'm/n' }));
}

const YES = judged('supported');
const NO = judged('goes-beyond');

/** @param lines first and last of the source that it cites; default all */
function citing(
  text: string,
  source: ReturnType<typeof textSource>,
  lines?: readonly [number, number],
): CitingSentence {
  const [first, last] = lines ?? [1, source.line_count];
  const cited = [[source.lineBounds(first).start_byte, source.lineBounds(last).end_byte]] as const;
  return { text, handles: ['h1'], cited, computed: [], fault: null };
}

async function gradeOf(text: string, from: string, read: ReadByModel | null = null, lines?: readonly [number, number]) {
  const source = textSource(from, 'a.md');
  const [sentence] = await gradeAnswer([citing(text, source, lines)], source, read);
  assert.ok(sentence);
  return sentence;
}

describe('quoted: a whole sentence, line, item or cell', () => {
  const wholes: readonly (readonly [sentence: string, source: string, line: number])[] = [
    ['Paris is the capital of France.', '- Paris is the capital of France. It may rain.', 1],
    ['It may rain.', '- Paris is the capital of France. It may rain.', 1],
    ['Talaria needs Node 24.', 'hello world\nTalaria needs Node 24.\nport is 8080', 2],
    ['port is 8080', 'hello world\nTalaria needs Node 24.\nport is 8080', 3],
    ['yes, HDMI only', '| Room | Projector |\n|---|---|\n| Cedar | yes, HDMI only |', 3],
    ['The mill has two wheels.', 'The mill has *two* wheels. It is **old**.', 1],
    ['He said "stop".', 'He said “stop”.', 1],
    [
      'The mill grinds rye and wheat on every day of the week but Sunday.',
      'The mill grinds rye and wheat on every day of the\nweek but Sunday. It is old.',
      1,
    ],
    ['Das Tor schließt um 18 Uhr', '# Öffnung\nDas Tor schließt um 18 Uhr', 2],
    ['鍵は事務所の棚にあります。', '# 倉庫\n鍵は事務所の棚にあります。冷凍品は奥の部屋です。', 2],
    ['Собак брать можно.', '- Дети до 12 лет только со взрослым. Собак брать можно.', 1],
    ['backend = disk', '[cache]\nbackend = disk\nttl = 900', 2],
    ['Setup', '## Setup\n\nRun it.', 1],
    ['let x = 1;', '```js\nlet x = 1;\nlet y = 2;\n```', 2],
  ];
  for (const [sentence, source, line] of wholes)
    verifies('rlm:ask:cited', `quoted: ${sentence}`, async () => {
      const { grade, place, why } = await gradeOf(sentence, source);
      assert.deepEqual([grade, place?.start_line, why], ['quoted', line, '']);
    });

  test('it is shown as the source has it, with its place', async () => {
    const { text, place } = await gradeOf('The mill   has two wheels', 'Old.\n\nThe mill has *two* wheels.');
    assert.equal(text, 'The mill has *two* wheels.');
    assert.deepEqual(place, { source_path: 'a.md', start_line: 3, end_line: 3, start_byte: 6, end_byte: 32 });
  });

  test('a quote that stands in two places: the one that is cited', async () => {
    const twice = 'The gate is closed.\n\nOn Monday:\n\nThe gate is closed.\n';
    assert.equal((await gradeOf('The gate is closed.', twice, null, [5, 5])).place?.start_line, 5);
    assert.equal((await gradeOf('The gate is closed.', twice, null, [1, 1])).place?.start_line, 1);
  });

  test('whole, but elsewhere than cited, or citing nothing: quoted where it stands', async () => {
    const source = textSource('One line.\n\nThe harbour opens at six.\n', 'a.md');
    const bare = { text: 'The harbour opens at six.', handles: [], cited: [], computed: [], fault: 'it cites nothing' };
    const [elsewhere, uncited] = await gradeAnswer([citing(bare.text, source, [1, 1]), bare], source, null);
    assert.deepEqual([elsewhere?.grade, elsewhere?.place?.start_line], ['quoted', 3]);
    assert.deepEqual([uncited?.grade, uncited?.place?.start_line], ['quoted', 3]);
  });

  test('a long stretch is searched, and cut where the sentence stands', async () => {
    const long = `${'Filler goes on. '.repeat(8_000)}\nThe lamp burns oil.\n${'More of it. '.repeat(8_000)}`;
    assert.equal((await gradeOf('The lamp burns oil.', long)).grade, 'quoted');
    const { grade, why } = await gradeOf('The lamp burns petrol.', long, YES);
    assert.deepEqual([grade, why], ['not-supported', 'it cites more than is read for one sentence']);
  });
});

/** Words of the source in their order, some left out, so that the meaning turns. */
const SHORTENED: readonly (readonly [sentence: string, source: string])[] = [
  ['The script deletes the home folder', 'The script deletes temporary files and keeps the home folder.'],
  ['The script deletes the home folder.', 'The script never deletes the home folder.'],
  ['Paris is the capital of Italy.', 'It is a myth that Paris is the capital of Italy.'],
  ['Paris is the capital of Italy.', 'It is not true that\nParis is the capital of Italy.'],
  ['Coffee harms plants.', 'Some say: Coffee harms plants, but it does not.'],
  ['The fence was approved.', 'The committee did not decide whether the fence was approved.'],
  ['You may delete the log.', 'You may delete the log once it is copied.'],
  ['The water is safe.', 'The water is safe if it is boiled.'],
  ['Dogs are allowed.', 'Dogs are allowed on Sundays only.'],
  ['The bridge is closed', 'The bridge is closed to lorries, open to all others.'],
  ['Anna is the owner.', 'Anna is the owner of the boat, Bernd is the owner.'],
  ['The price is 40 euros.', 'The price is 40 euros a week.'],
  ['Run it as root.', 'Do not run it as root.'],
  ['run it as root', 'Never run it as root'],
  ['Backups are kept for ever.', 'Backups are kept for ever? No, for ten days.'],
  ['The pump has failed.', 'If the pump has failed. Call us.'],
  ['Das Wasser ist trinkbar.', 'Das Wasser ist trinkbar, sofern es abgekocht wird.'],
  ['Das Tor ist offen.', 'Das Tor ist nicht offen.'],
  ['Die Sitzung ist am 14.', 'Die Sitzung ist am 14. Mai.'],
  ['Le débit est limité.', 'Le débit est limité, sauf au studio.'],
  ['La porte est ouverte', "La porte n'est jamais ouverte"],
  ['El perro muerde.', 'El perro muerde solo si tiene hambre.'],
  ['犬は入れます。', '犬は入れますが、庭だけです。'],
  ['冷凍品は手前の部屋に置く', '冷凍品は奥の部屋に置き、手前の部屋に置くのは禁止です。'],
  ['Выходить на воду можно', 'Выходить на воду можно только при слабом ветре'],
  ['deploy docs', '- [ ] deploy docs'],
  ['The key is under the mat', '~~The key is under the mat~~'],
  ['Port 80', '| service | Port 8080 |'],
  ['timeout = 3', 'timeout = 30'],
  ['It costs 5', 'It costs 5.50'],
  ['and kept by the town.', 'The lamp is lit by nobody at all in these years of war\nand kept by the town.'],
];

describe('what is shortened is not quoted', () => {
  for (const [sentence, source] of SHORTENED)
    verifies('rlm:ask:cited', `${sentence} | ${source}`, async () => {
      assert.equal((await gradeOf(sentence, source)).grade, 'not-supported');
      assert.equal((await gradeOf(sentence, source, NO)).grade, 'not-supported');
    });

  test('nor is what was cut out of its sentence by the handle', async () => {
    const text = 'It is a myth that Paris is the capital of Italy.';
    const source = textSource(text, 'a.md');
    const cut: CitingSentence = { ...citing('Paris is the capital of Italy.', source), cited: [[18, text.length]] };
    const asked: string[] = [];
    const read: ReadByModel = async (sentences) => {
      asked.push(...sentences.flatMap(({ sources }) => sources.map((one) => one.text)));
      return NO(sentences);
    };
    const [graded] = await gradeAnswer([cut], source, read);
    assert.equal(graded?.grade, 'not-supported');
    assert.match(asked[0] ?? '', /It is a myth that/);
  });
});

const MINUTES =
  'The committee approved repairs, up to 350 pounds.\nThe pump draws 2 kW at 230 V; see /etc/pump.conf or mail pump@example.org.';

describe('supported: hard values by rule, the rest by a model', () => {
  verifies('rlm:ask:cited', 'what a model says the lines carry is marked as read by it', async () => {
    const { grade, why, model, place } = await gradeOf('Repairs may cost at most £350.', MINUTES, YES);
    assert.deepEqual([grade, why, model, place], ['supported', 'because supported', 'm/n', null]);
  });

  for (const wrong of [
    'Repairs may cost up to 530 pounds.',
    'Repairs may cost up to 350 euros.',
    'The pump draws 2 W.',
    'The pump draws 2.5 kW.',
    'Its settings are in /etc/pump.yaml.',
    'Write to bump@example.org.',
    'See https://example.com/pump.',
    'Repairs may cost five hundred pounds.',
    'The pump draws ² kW.',
  ])
    verifies('rlm:ask:cited', `a wrong value is never supported, whatever the model says: ${wrong}`, async () => {
      const { grade, why } = await gradeOf(wrong, MINUTES, YES);
      assert.equal(grade, 'not-supported');
      assert.match(why, /not in the lines that it cites$/);
    });

  test('values are compared, not spellings', async () => {
    const source = 'limit: 1,024 connections; ratio 3.50; idle 5s; depth 18,4 m; three wheels';
    const said = [
      '1024 connections.',
      'A ratio of 3.5.',
      'Idle for 5 seconds.',
      'It is 18.4 m deep.',
      'It has 3 wheels.',
    ];
    for (const one of said) assert.equal((await gradeOf(one, source, YES)).grade, 'supported', one);
  });

  test('a value must stand in the cited lines, not around them', async () => {
    assert.equal((await gradeOf('It takes 230 V.', MINUTES, YES, [1, 1])).grade, 'not-supported');
    assert.equal((await gradeOf('It takes 230 V.', MINUTES, YES, [2, 2])).grade, 'supported');
  });

  test('no, none, nobody there: marked with why, in the order of the answer, nothing lost', async () => {
    const source = textSource(MINUTES, 'a.md');
    const texts = ['Nothing may be repaired.', 'The committee approved repairs, up to 350 pounds.', 'It draws 3 kW.'];
    const all = texts.map((text) => citing(text, source));
    const why = async (read: ReadByModel | null) =>
      (await gradeAnswer(all, source, read)).map((one) => `${one.grade}${one.why && `: ${one.why}`}`);
    const rest = ['quoted', 'not-supported: 3: not in the lines that it cites'];
    assert.deepEqual(await why(NO), ['not-supported: goes-beyond: because goes-beyond', ...rest]);
    assert.deepEqual(await why(judged('none')), ['not-supported: no verdict: because none', ...rest]);
    assert.deepEqual(await why(null), ['not-supported: no model to read it', ...rest]);
  });

  test('one question for all; a sentence without a verdict is not supported', async () => {
    const source = textSource(MINUTES, 'a.md');
    const asked: string[][] = [];
    const read: ReadByModel = async (sentences) => {
      asked.push(sentences.map(({ text }) => text));
      return [{ verdict: 'supported', why: '', model: 'm' }];
    };
    const texts = ['Repairs were approved.', 'The committee approved repairs, up to 350 pounds.', 'There is a pump.'];
    const graded = await gradeAnswer(
      texts.map((text) => citing(text, source)),
      source,
      read,
    );
    assert.deepEqual(asked, [['Repairs were approved.', 'There is a pump.']]);
    assert.deepEqual(
      graded.map(({ grade }) => grade),
      ['supported', 'quoted', 'not-supported'],
    );
  });

  test('what code computed is evidence beside lines, and alone it is a table', async () => {
    const source = textSource(MINUTES, 'a.md');
    const both = { ...citing('There are 7 pumps that draw 2 kW.', source), computed: [computed('c1', { pumps: 7 })] };
    const alone = { ...both, text: 'There are 7 pumps.', cited: [] };
    const other = { ...alone, text: 'There are 8 pumps.' };
    const graded = await gradeAnswer([both, alone, other], source, YES);
    assert.deepEqual(
      graded.map(({ grade, why }) => [grade, why]),
      [
        ['supported', 'because supported'],
        ['computed', ''],
        ['not-supported', '8: not in the values that it cites'],
      ],
    );
  });

  test('a sentence of 50,000 characters, and a source of megabytes in one line', async () => {
    assert.equal((await gradeOf('x '.repeat(25_000), MINUTES, YES)).why, 'it is too long for one sentence');
    assert.equal((await gradeOf('It is red.', 'word '.repeat(1_000_000), YES)).grade, 'not-supported');
  });
});

test('property: whatever the texts, what is quoted stands at its place, and each sentence keeps its own', async () => {
  const piece = fc.constantFrom(
    'The mill. ',
    'It is not ',
    'old',
    '\n',
    '- ',
    '| a | b |\n',
    '**',
    '14. Mai',
    '。',
    '`x`',
    ' ',
  );
  const texts = fc.oneof(
    fc.array(piece, { maxLength: 12 }).map((list) => list.join('')),
    fc.string({ unit: 'binary', maxLength: 40 }),
  );
  await fc.assert(
    fc.asyncProperty(texts, fc.array(texts, { maxLength: 4 }), async (text, said) => {
      const source = textSource(`${text} .`, 'a.md');
      const sentences = said.map((one) => citing(one, source));
      const graded = await gradeAnswer(sentences, source, YES);
      assert.equal(graded.length, said.length);
      for (const { grade, place, text: shown } of graded) {
        assert.equal(grade === 'quoted', place !== null);
        if (place === null) continue;
        const stands = source.slice(place.start_byte, place.end_byte).text;
        assert.equal(stands.replace(/\s+/g, ' ').trim(), shown);
      }
    }),
    { numRuns: 200 },
  );
});
