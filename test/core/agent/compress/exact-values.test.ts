/** Exact values: planted ones are found as they were written, noise is not taken for one, and what counts most comes first. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { gatherSaid, gatherValues, gatherWork, latestTasks } from '#core/agent/compress/anchors.ts';
import { planCompression, summarise } from '#core/agent/compress/plan-compression.ts';
import { summaryText } from '#core/agent/compress/summary.ts';
import { ends } from '../../../ends.ts';
import { runs } from '../../../property-runs.ts';
import { verifies } from '../../../verifies.ts';
import { called, gave, said, stored, userMessage, words } from './compress-fixture.ts';

const letters = 'abcdefghijklmnopqrstuvwxyz';
const word = fc.string({ unit: fc.constantFrom(...letters), minLength: 3, maxLength: 9 });
const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 8, maxLength: 40 });

/** One exact value of each kind that people care for. */
const planted = fc.oneof(
  fc.tuple(word, word, word).map(([a, b, c]) => `/${a}/${b}/${c}.ts`),
  fc.tuple(word, word).map(([a, b]) => `./${a}/${b}`),
  fc.tuple(word, word).map(([a, b]) => `${a}-${b}.yaml`),
  fc.tuple(word, word, fc.nat(9_999)).map(([a, b, n]) => `https://${a}.example/${b}?page=${n}`),
  fc.tuple(word, word).map(([a, b]) => `${a}_${b}`),
  fc.tuple(word, word).map(([a, b]) => `${a}${b[0]?.toUpperCase()}${b.slice(1)}`),
  fc.tuple(word, fc.integer({ min: 10, max: 9_999 })).map(([a, n]) => `${a.slice(0, 3).toUpperCase()}-${n}`),
  fc.uuid(),
  hex.filter((text) => /\d/.test(text) && /[a-f]/.test(text)),
  fc.integer({ min: 10, max: 9_999_999 }).map(String),
  fc.tuple(fc.nat(20), fc.nat(20), fc.nat(20)).map(([a, b, c]) => `v${a}.${b}.${c}`),
  fc.tuple(fc.ipV4(), fc.integer({ min: 1024, max: 65_535 })).map(([ip, port]) => `${ip}:${port}`),
  fc.tuple(word, word).map(([a, b]) => `${a}@${b}.org`),
);

const setting = fc.constantFrom(
  (value: string) => `Please look at ${value}, it matters.`,
  (value: string) => `set it to "${value}" (for now).`,
  (value: string) => `\`${value}\`: done`,
  (value: string) => `First line.\n${value}\nLast line.`,
  (value: string) => `Is it ${value}?`,
);

function flat(sections: ReturnType<typeof gatherValues>): readonly string[] {
  return Object.values(sections).flat();
}

describe('exact values', () => {
  verifies('core:compression:anchors', 'every planted value is found as it was written, whoever wrote it', () => {
    fc.assert(
      fc.property(planted, setting, fc.nat(2), (value, put, who) => {
        const text = put(value);
        const messages = [userMessage(text), said(text), gave('c', 'terminal', text)].slice(who, who + 1);
        assert.ok(
          flat(gatherValues(messages, [])).some((one) => one.split(' ').includes(value)),
          `${value} in ${text}`,
        );
        assert.deepEqual(flat(gatherValues(messages, [userMessage(text)])), [], 'it still stands in the context');
      }),
      { numRuns: runs(1_500) },
    );
  });

  test('plain words are none', () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 60 }), (list) => {
        const prose = `${list.join(' ')}. ${list.join(', ')}! And so on; it's well-known (e.g. this), I'd say... Right?`;
        assert.deepEqual(flat(gatherValues([userMessage(prose)], [])), []);
      }),
    );
  });

  test('a number brings the words that say what it counts; links keep commas; sentence ends are cut off', () => {
    const text =
      'The server listens on port 8443 for 30 seconds. See https://a.example/x,y;z=1. It took 8,192 tokens, 5%.';
    const { Values, Links } = gatherValues([userMessage(text)], []);
    assert.deepEqual(Links, ['https://a.example/x,y;z=1']);
    assert.deepEqual([...(Values ?? [])].sort(), ['30 seconds', '5%', 'port 8443', 'took 8,192 tokens']);
  });

  test('the owner’s come before a tool’s, the frequent before the rare; once each', () => {
    const noise = Array.from({ length: 600 }, (_, i) => `/var/log/app-${i}.log`).join('\n');
    const messages = [
      gave('c', 'terminal', noise),
      userMessage('use /srv/harbour.db and /srv/harbour.db'),
      said('see /srv/x.md'),
    ];
    const { Paths = [] } = gatherValues(messages, []);
    assert.deepEqual(Paths.slice(0, 2), ['/srv/harbour.db', '/srv/x.md']);
    assert.equal(new Set(Paths).size, Paths.length);
    assert.ok(Paths.length <= 400);
  });

  test('time grows with the text only, whatever it is made of', () => {
    for (const unit of ['://', '(a', '1,', '_x', '. ', '/', '\n', 'ab12 ']) {
      ends(unit, () => gatherValues([userMessage(unit.repeat(120_000))], []));
    }
  });

  test('what was decided or demanded is kept as it was said, with who and where', () => {
    const lines = gatherSaid(
      stored([
        userMessage('Good morning. Let’s use Postgres, not MySQL. How are you?'),
        said('Fine. We decided on port 5432. The weather is nice.'),
        gave('c', 'terminal', 'You must never do this.'),
        userMessage(`never ${'x'.repeat(400)}`),
      ]),
    );
    assert.deepEqual(lines, ['owner: Let’s use Postgres, not MySQL. #1', 'model: We decided on port 5432. #2']);
  });

  test('files, commands and errors come from the record of calls, not from what was said about them', () => {
    const work = gatherWork(
      stored([
        called('1', 'write_file', { path: 'src/a.ts', content: 'x' }),
        gave('1', 'write_file', 'ok'),
        called('2', 'terminal', { command: 'npm test' }),
        gave('2', 'terminal', 'running\nError: port 8443 is in use\nmore', { exitCode: 1 }),
        called('3', 'patch', { path: 'src/a.ts' }),
        gave('3', 'patch', 'ok'),
        called('4', 'read_file', { path: 'gone.md' }),
        gave('4', 'read_file', 'no such file: gone.md', { isError: true }),
        said('I wrote src/never.ts'),
      ]),
    );
    assert.deepEqual(work.files, ['src/a.ts: write_file, patch #5']);
    assert.deepEqual(work.errors, [
      'terminal: npm test: Error: port 8443 is in use #3',
      'read_file: gone.md: no such file: gone.md #7',
    ]);
    assert.deepEqual(work.done, [
      'write_file: src/a.ts → ok #1',
      'terminal: npm test → exit 1 #3',
      'patch: src/a.ts → ok #5',
      'read_file: gone.md → failed #7',
    ]);
  });

  test('the task list is the last one that was printed', () => {
    const list = (text: string, isError = false) => gave('t', 'todo', text, { isError });
    assert.equal(latestTasks([userMessage('x')]), undefined);
    const messages = [list('[ ] 1: a'), list('[x] 1: a\n[ ] 2: b'), list('no', true)];
    assert.deepEqual(latestTasks(messages), ['[ ] 2: b', '[x] 1: a']);
    assert.deepEqual(latestTasks([list('(the list is empty)')]), []);
  });

  verifies(
    'core:compression:anchors',
    'they stand in the summary word for word, also when no model words anything',
    () => {
      const filler = Array.from({ length: 30 }, (_, i) => (i % 2 ? said(words(300)) : userMessage(words(300))));
      const middle = [
        userMessage('deploy build 7f3a9c21 to /srv/harbour/app.db on 10.1.2.3:8443'),
        called('t', 'todo', {}),
        gave('t', 'todo', '[ ] 1: paint'),
      ];
      const rows = stored([...filler.slice(0, 3), ...middle, ...filler]);
      const budget = { soft: 0, hard: 0, head: 4_000, tail: 3_000, summary: 1_300 };
      const plan = planCompression('s', rows, budget);
      assert.ok(plan);
      const worded = { sections: { Goal: ['something vague'] }, closed: new Set<string>() };
      for (const message of [summarise(plan), summarise(plan, worded)]) {
        const text = summaryText(message) ?? '';
        for (const value of ['build 7f3a9c21', '7f3a9c21', '/srv/harbour/app.db', '10.1.2.3:8443', '[ ] 1: paint'])
          assert.ok(value.startsWith('build') || text.includes(value), value);
      }
    },
  );
});
