import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Ground, openGround, withGround } from './session-ground.ts';

describe('blocks of code', () => {
  let ground: Ground;
  before(async () => {
    ground = await openGround('one\ntwo\nthree\n');
  });
  after(() => ground.session.close());

  test('names of the top level stay, and may be declared again', async () => {
    const made = await ground.run(
      'const a = 1; let b = 2; var c = 3; d = 4; function e() { return 5 }\nclass F { g() { return 6 } }\nconst { h, i: [j] } = { h: 7, i: [8] }; async function k() { return 9 }',
    );
    assert.deepEqual(made.variables, ['F', 'a', 'b', 'c', 'd', 'e', 'h', 'j', 'k']);
    assert.equal(await ground.prints('print(a, b, c, d, e(), new F().g(), h, j, await k())'), '1 2 3 4 5 6 7 8 9');
    assert.equal(
      await ground.prints('const a = 10; let b = 20; class F { g() { return 60 } }\nprint(a, b, new F().g())'),
      '10 20 60',
    );
  });

  test('what is deeper than the top stays where it is', async () => {
    const { variables } = await ground.run(
      '{ const deep = 1 } for (const loop of [1]) { let inner = loop } (() => { const far = 2 })()',
    );
    assert.equal(
      variables.some((name) => ['deep', 'loop', 'inner', 'far'].includes(name)),
      false,
    );
  });

  test('await works at the top and in loops', async () => {
    assert.equal(
      await ground.prints('let sum = 0; for (const n of [1, 2]) sum += await Promise.resolve(n); print(sum)'),
      '3',
    );
    assert.equal(
      await ground.prints('for await (const n of (async function* () { yield 1; yield 2 })()) print(n)'),
      '1\n2',
    );
  });

  test('a promise as the last line is waited for', async () => {
    assert.equal(await ground.prints('async function main() { await null; print("done") }\nmain()'), 'done');
    const { failure } = await ground.run('(async () => { await null; throw new RangeError("deep down") })()');
    assert.match(failure?.detail ?? '', /RangeError: deep down/);
  });

  test('errors say what and where', async () => {
    const { failure, answer } = await ground.run('const x = 1;\n\nnull.y');
    assert.equal(failure?.reason, 'threw');
    assert.match(failure?.detail ?? '', /TypeError: .*\(line 3\)/);
    assert.equal(answer, null);
    assert.match((await ground.run('let = = 5')).failure?.detail ?? '', /SyntaxError/);
    assert.match((await ground.run('throw 5')).failure?.detail ?? '', /number: 5/);
    assert.match((await ground.run('throw null')).failure?.detail ?? '', /object: null/);
    assert.match((await ground.run('throw { message: "mine" }')).failure?.detail ?? '', /mine/);
  });

  test('what was printed before an error is told, and names stay', async () => {
    const outcome = await ground.run('print("before"); const kept = 5; throw new Error("stop")');
    assert.equal(outcome.output, 'before');
    assert.ok(outcome.variables.includes('kept'));
    assert.equal(await ground.prints('print(kept)'), '5');
  });

  test('a promise that nothing settles ends the block', async () => {
    const { failure } = await ground.run('await new Promise(() => {})');
    assert.deepEqual(failure, { reason: 'threw', detail: 'Error: the block waits for a promise that nothing settles' });
  });

  test('values are printed as they are read best', async () => {
    const code = `const loop = {}; loop.self = loop;
      print('text', 1, null, undefined, true, 12n, Symbol('s'));
      print({ a: [1, { b: 2 }] }, [1n], new Map([['k', 1]]), new Set([2]), new TypeError('no'), function named() {}, loop);
      console.log('also', 'this'); print()`;
    assert.equal(
      await ground.prints(code),
      'text 1 null undefined true 12n Symbol(s)\n{"a":[1,{"b":2}]} ["1"] [["k",1]] [2] TypeError: no [function named] [cannot be shown: circular reference]\nalso this\n',
    );
  });

  test('a zero character and half characters come through whole or mended', async () => {
    assert.equal(await ground.prints('print("a\\0b", "x\\ud800y")'), 'a\0b x\ufffdy');
  });

  test('one block at a time; none after the end', async () => {
    const first = ground.run('await llmQuery("x")');
    await assert.rejects(ground.run('1'), { code: 'repl-busy' });
    await first;
    await withGround('x', {}, async (other) => {
      await other.session.close();
      await assert.rejects(other.run('1'), { code: 'repl-closed' });
    });
  });
});

describe('printed output', () => {
  test('is cut at its limit, and the rest is counted', () =>
    withGround('x', { limits: { output_chars: 100 } }, async ({ run }) => {
      const many = await run('for (let n = 0; n < 50; n += 1) print("123456789")');
      assert.deepEqual([many.output.length, many.cut], [100, 50 * 10 - 1 - 100]);
      const long = await run('print("y".repeat(1000000))');
      assert.deepEqual([long.output.length, long.cut], [100, 999_900]);
      const pair = await run('print("z".repeat(99) + "𝄞𝄞")');
      assert.deepEqual([pair.output.length, pair.cut], [99, 4]);
      assert.deepEqual((await run('print("short")')).cut, 0);
    }));
});
