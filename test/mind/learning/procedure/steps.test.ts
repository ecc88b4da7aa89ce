// Steps as a person reads them and as reflex replays them: what was written reads back equal, and nothing is guessed.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { normalizeText } from '#base/text.ts';
import { fillStep, parametersOf, readSteps, renderSteps, type Step } from '#mind/learning/procedure/steps.ts';

const run = (command: string, more = {}): Step => ({ kind: 'call', tool: 'terminal', arguments: { command, ...more } });

describe('steps of a procedure', () => {
  test('read as prose', () => {
    const steps: readonly Step[] = [
      run('npm ci'),
      run('make', { workdir: 'web' }),
      { kind: 'call', tool: 'read_file', arguments: { path: 'dist/log.txt' } },
      { kind: 'call', tool: 'search_files', arguments: { pattern: 'TODO', path: 'src' } },
      { kind: 'call', tool: 'write_file', arguments: { path: 'a.md', content: '# a\n\n```\nx\n```' } },
      { kind: 'call', tool: 'process', arguments: { action: 'list' } },
      { kind: 'words', text: 'Tell the owner.' },
    ];
    const text = renderSteps(steps);
    assert.equal(
      text,
      [
        '1. Run `npm ci`',
        '2. Run `make` in the folder `web`',
        '3. Read `dist/log.txt`',
        '4. Find `TODO` in `src`',
        '5. Write `a.md` with:',
        '',
        '   ````',
        '   # a',
        '',
        '   ```',
        '   x',
        '   ```',
        '   ````',
        '6. Call `process` with `{"action":"list"}`',
        '7. Tell the owner.',
      ].join('\n'),
    );
    assert.deepEqual(
      readSteps(`# Release\n\n## Steps\n\n${text}\n\n## Constraints\n\n1. none`).map(({ step }) => step),
      steps,
    );
  });

  test('what is written reads back equal, whatever the commands hold', () => {
    const text = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.constantFrom(
        'a `b` c',
        'line\nline',
        'echo "x"',
        '```',
        "awk '{print $1}'",
        'x  ',
        '  y',
        '1. Run `x`',
        'a\n\n\nb',
        '\n',
        '## Steps',
      ),
    );
    const call = fc.oneof(
      text.map((command) => run(command)),
      fc.tuple(text, text).map(([command, workdir]) => run(command, { workdir })),
      text.map((path): Step => ({ kind: 'call', tool: 'read_file', arguments: { path } })),
      fc
        .tuple(text, text)
        .map(([path, content]): Step => ({ kind: 'call', tool: 'write_file', arguments: { path, content } })),
      fc
        .tuple(text, fc.jsonValue())
        .map(([a, b]): Step => ({ kind: 'call', tool: 'other', arguments: { a, b: JSON.parse(JSON.stringify(b)) } })),
    );
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 5 }), (steps) => {
        const body = normalizeText(`## Steps\n\n${renderSteps(steps)}\n\n## Constraints\n\n- x`);
        const read = readSteps(body).map(({ step }) => step);
        assert.deepEqual(read, steps);
      }),
    );
  });

  test('never throws, and items in other words are words', () => {
    fc.assert(fc.property(fc.string(), (text) => void readSteps(text)));
    const [first, second] = readSteps('## Steps\n1. Run the tests, e.g. `npm test`\n2) Run `npm test` twice\n').map(
      ({ step }) => step,
    );
    assert.equal(first?.kind, 'words');
    assert.equal(second?.kind, 'words');
  });

  test('places to fill in are named, filled and told from what shells use', () => {
    const steps = [run('ssh {host} ls ${HOME}'), run("awk '{print}' {file}")] as const;
    assert.deepEqual(parametersOf(steps), ['host', 'file']);
    const [first] = steps;
    assert.ok(first.kind === 'call');
    assert.deepEqual(fillStep(first, { host: 'a$&b' }).arguments, { command: 'ssh a$&b ls ${HOME}' });
  });
});
