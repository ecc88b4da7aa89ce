import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { slow } from '../../../../slow.ts';
import { type Ground, openGround, withGround } from './session-ground.ts';

const TEXT = 'Alpha has 3 nodes.\r\nBeta has 12 nodes.\n\nGämma: none.\nlast line, nodes: 7';

describe('the context inside', () => {
  let ground: Ground;
  before(async () => {
    ground = await openGround(TEXT);
  });
  after(() => ground.session.close());

  const gives = (code: string, expected: unknown) =>
    test(code, async () =>
      assert.deepEqual(JSON.parse(await ground.prints(`print(JSON.stringify(${code}))`)), expected),
    );

  gives('[context.length, context.lineCount, context.files]', [
    Buffer.byteLength(TEXT),
    5,
    [{ path: 'notes.txt', start: 0, end: Buffer.byteLength(TEXT) }],
  ]);
  gives('context.slice(0, 5)', 'Alpha');
  gives('context.slice(40)', TEXT.slice(40));
  gives('context.slice(41, 44)', 'äm');
  gives('context.slice(42, 44)', 'äm');
  gives('[context.line(1), context.line(3), context.line(4), context.line(99)]', [
    'Alpha has 3 nodes.',
    '',
    'Gämma: none.',
    '',
  ]);
  gives('context.lines(1, 2)', 'Alpha has 3 nodes.\r\nBeta has 12 nodes.');
  gives('context.lineRange(2, 3)', { start: 20, end: 39, startLine: 2, endLine: 3 });
  gives('[context.lineAt(0), context.lineAt(20), context.lineAt(9999)]', [1, 2, 5]);
  gives(
    '[context.find("nodes", 0), context.find("nodes", 13), context.find("void", 0), context.find("mma")]',
    [12, 32, -1, 43],
  );
  gives('context.search("nodes", {max: 1})', [
    { line: 1, start: 0, end: 18, text: 'Alpha has 3 nodes.', at: 12, match: 'nodes' },
  ]);
  gives('context.search("nodes", {max: 1}).more', true);
  gives('context.search("nodes").more', false);
  gives('context.search("nodes", {from: 13}).map((hit) => hit.line)', [2, 5]);
  gives('context.search(/\\d+/).map((hit) => [hit.line, hit.at, hit.match])', [
    [1, 10, '3'],
    [2, 29, '12'],
    [5, 72, '7'],
  ]);
  gives('context.search(/^g/i).map((hit) => hit.text)', ['Gämma: none.']);
  gives('context.search(/s.$/).map((hit) => hit.match)', ['s.', 's.']);
  gives('context.search(/mma/y).map((hit) => hit.at)', [43]);
  gives('context.search(/x*/).length', 5);
  gives('[...context.chunks({lines: 2})]', [
    { start: 0, end: 39, startLine: 1, endLine: 2 },
    { start: 39, end: 54, startLine: 3, endLine: 4 },
    { start: 54, end: 73, startLine: 5, endLine: 5 },
  ]);
  gives('[...context.chunks({lines: 3, overlap: 1})].map((chunk) => chunk.startLine)', [1, 3]);
  gives('[...context.chunks({bytes: 45})].map((chunk) => [chunk.start, chunk.end])', [
    [0, 40],
    [40, 73],
  ]);
  gives('[...context.chunks({bytes: 20})].map((chunk) => context.slice(chunk.start, chunk.end)).join("")', TEXT);
  gives('[...context.chunks()].length', 1);

  test('wrong arguments are errors with words', async () => {
    const wrong: Readonly<Record<string, RegExp>> = {
      'context.slice("a")': /TypeError: start must be a number/,
      'context.slice(NaN, 3)': /TypeError/,
      'context.slice(0, {valueOf() { return 5 }})': /TypeError: end must be a number/,
      'context.search("")': /some text or a RegExp/,
      'context.search(5)': /TypeError/,
      '[...context.chunks({lines: 2, overlap: 2})]': /RangeError/,
      '[...context.chunks({bytes: 1})]': /RangeError/,
      'span(5, 5)': /RangeError: a span has at least one byte/,
      'span(9e9, 9e10)': /RangeError/,
      'handle("h99")': /RangeError: there is no handle h99/,
    };
    for (const [code, message] of Object.entries(wrong)) {
      const { failure } = await ground.run(code);
      assert.equal(failure?.reason, 'threw', code);
      assert.match(failure?.detail ?? '', message);
    }
  });

  test('numbers beyond the ends are cut to them', async () => {
    assert.equal(await ground.prints('print(context.slice(-5, 1e300) === context.slice(0))'), 'true');
    assert.equal(await ground.prints('print(context.line(-1), context.line(1.9))'), ' Alpha has 3 nodes.');
  });
});

describe('a long context', () => {
  slow('a pattern is found in each line once, across pages', () => {
    const lines = Array.from({ length: 60_000 }, (_, at) => `line ${at} ${at % 10_000 === 0 ? 'NEEDLE' : 'hay'} ünd`);
    return withGround(lines.join('\n'), {}, async ({ prints }) => {
      const found = await prints('print(context.search(/NEEDLE/).map((hit) => hit.line + ":" + hit.match).join())');
      assert.equal(found, '1:NEEDLE,10001:NEEDLE,20001:NEEDLE,30001:NEEDLE,40001:NEEDLE,50001:NEEDLE');
      assert.equal(await prints('print(context.search(/ünd$/, {max: 2000}).length)'), '2000');
    });
  });

  test('a line longer than a page is searched in windows, each match once', () => {
    const line = Array.from({ length: 200 }, (_, at) => `${'ä'.repeat(3_000)}MARK${at};`).join('');
    return withGround(`first\n${line}\nMARK at the end`, {}, async ({ prints }) => {
      const found = await prints(
        'const hits = context.search(/MARK(\\d*)/, {max: 1000}); print(hits.length, new Set(hits.map((hit) => hit.at)).size)',
      );
      assert.equal(found, '201 201');
      assert.equal(
        await prints(
          'print(hits.every((hit) => context.slice(hit.at, hit.at + 4) === "MARK" && hit.text === context.slice(hit.start, hit.end)))',
        ),
        'true',
      );
      assert.equal(
        await prints('print(hits[7].match, hits[7].line, hits[7].text.length < 2100, hits[200].line)'),
        'MARK7 2 true 3',
      );
    });
  });

  test('more than the sandbox may take at once is refused with a way out', () =>
    withGround('y'.repeat(5_000_000), {}, async ({ run }) => {
      for (const code of ['context.slice(0)', 'context.line(1)', 'span(0, 2000000)']) {
        const { failure } = await run(code);
        assert.match(failure?.detail ?? '', /RangeError: .*chunks/);
      }
    }));
});
