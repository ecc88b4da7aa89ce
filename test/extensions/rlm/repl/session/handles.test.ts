import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ComputedHandle, Handle } from '#extensions/rlm/outcome.ts';
import { checkComputed } from '#extensions/rlm/repl/create-repl-session.ts';
import { textSource } from '#extensions/rlm/repl/file-bytes.ts';
import { slow } from '../../../../slow.ts';
import { type Ground, openGround, withGround } from './session-ground.ts';

const TEXT = 'The harbour has 12 cranes.\nThe dock has 30 workers.\nNobody counts the gulls.\n';

describe('handles', () => {
  const source = textSource(TEXT, 'harbour.md');
  let ground: Ground;
  before(async () => {
    ground = await openGround(source);
  });
  after(() => ground.session.close());
  const find = (id: string): Handle | undefined => ground.session.handles().find((handle) => handle.id === id);

  test('a span holds what stands there, and is told by its mark', async () => {
    const code =
      'const s = span(4, 11); print(`${s}`, s.id, s.kind, s.text, s.start, s.end); print(s); print(JSON.stringify(s))';
    assert.equal(
      await ground.prints(code),
      '[h1] h1 span harbour 4 11\n[h1] harbour\n{"id":"h1","kind":"span","text":"harbour"}',
    );
    const place = { source_path: 'harbour.md', start_line: 1, end_line: 1, start_byte: 4, end_byte: 11 };
    assert.deepEqual(find('h1'), { kind: 'span', id: 'h1', place, quote: 'harbour' });
  });

  test('the same range is the same handle; hits and chunks are ranges too', async () => {
    assert.equal(
      await ground.prints(
        'print(span(4, 11).id, span(context.search("dock")[0]).text, span([...context.chunks()][0]).id)',
      ),
      'h1 The dock has 30 workers. h3',
    );
    assert.equal(await ground.prints('print(handle("h1").text)'), 'harbour');
  });

  test('a computed one holds code, inputs and output, and gives the same again', async () => {
    const code =
      'const c = compute((text, all) => ({ b: text.length, a: all.search(/\\d+/).map((hit) => +hit.match) }), s, context); print(c.id, c.text, c.value.a[1])';
    assert.equal(await ground.prints(code), 'h4 {"a":[12,30],"b":7} 30');
    const made = find('h4') as ComputedHandle;
    assert.deepEqual([made.kind, made.inputs, made.output], ['computed', ['h1', 'context'], '{"a":[12,30],"b":7}']);
    assert.deepEqual(await checkComputed(made, find, { source }), { equal: true, detail: null });
    assert.equal(await ground.prints('print(compute((value) => value.a[0] + 1, c).value)'), '13');
  });

  test('a handle that was tampered with does not hold', async () => {
    const made = find('h4') as ComputedHandle;
    const forged = { ...made, output: '{"a":[12,31],"b":7}' };
    assert.equal((await checkComputed(forged, find, { source })).equal, false);
    const other = await checkComputed(made, find, { source: textSource(TEXT.replace('30', '31')) });
    assert.deepEqual(other, { equal: false, detail: 'it gives something else now' });
    assert.equal((await checkComputed(made, () => undefined, { source })).equal, false);
  });

  slow('compute sees its inputs and nothing else', async () => {
    const refused: Readonly<Record<string, RegExp>> = {
      'const outer = 5; compute(() => outer)': /'outer' is not defined/,
      'compute(() => context.length)': /'context' is not defined/,
      'compute(() => print("x"))': /'print' is not defined/,
      'compute(() => llmQuery("x"))': /'llmQuery' is not defined/,
      'compute(() => Math.random())': /Math\.random is not here/,
      'compute(() => new Date())': /there is no clock/,
      'compute(() => undefined)': /JSON can hold/,
      'compute(() => () => 1)': /JSON can hold/,
      'compute(() => new Promise(() => {}))': /never comes/,
      'compute("not code at all")': /SyntaxError/,
      'compute(5)': /not a function/,
      'compute((x) => x, "a text")': /inputs of compute are handles/,
      'compute((x) => x, { id: "h1" })': /inputs of compute are handles/,
      'compute(() => "x".repeat(300000))': /at most 200000/,
      'compute(Math.max)': /SyntaxError/,
      'compute(() => { throw new Error("inner") })': /inner/,
    };
    for (const [code, message] of Object.entries(refused)) {
      const { failure } = await ground.run(code);
      assert.equal(failure?.reason, 'threw', code);
      assert.match(failure?.detail ?? '', message, code);
    }
    assert.equal(await ground.prints('print(compute(async () => 7).value, compute(() => NaN).value)'), '7 null');
  });

  test('code that remembers its first run is refused', async () => {
    const { failure } = await ground.run(
      'compute(() => { const m = Object.getOwnPropertyNames(globalThis); globalThis.n = (globalThis.n ?? 0) + 1; return [m.length, n] })',
    );
    assert.equal(failure, null, 'each run has a world of its own, so that nothing is remembered');
  });
});

describe('a long span', () => {
  test('is read when it is wanted, inside and outside, and holds nothing', async () => {
    const text = 'The harbour has 12 cranes.\n'.repeat(30_000);
    await withGround(text, { limits: { sub_calls: 5_000 } }, async ({ prints, session }) => {
      const code =
        'const spans = [...context.chunks({ bytes: 100000 })].map((chunk) => span(chunk)); print(spans.length, spans[3].text.length, compute((s) => s.length, spans[3]).value)';
      assert.equal(await prints(code), '9 99981 99981');
      assert.equal(await prints('print((await llmQuery("x", spans[8])).text)'), '1: x (10152)');
      const [, , , fourth] = session.handles();
      assert.ok(fourth?.kind === 'span');
      assert.equal(fourth.quote, text.slice(fourth.place.start_byte, fourth.place.end_byte));
      assert.ok(JSON.stringify(fourth).length > 90_000, 'it is told whole when it is written down');
    });
  });
});

describe('answers', () => {
  test('are taken apart by sentence, with the handles given and marked', () =>
    withGround(TEXT, {}, async ({ run }) => {
      const given = await run(
        'const s = span(0, 26), t = span(27, 51); finish([{ text: "There are 12 cranes.", handles: [s] }, { text: "30 work there. Dr. Gull counts 2.5 of them.", handles: [t, "h1"] }])',
      );
      assert.deepEqual(given.answer, [
        { text: 'There are 12 cranes.', handles: ['h1'] },
        { text: '30 work there.', handles: ['h2', 'h1'] },
        { text: 'Dr. Gull counts 2.5 of them.', handles: ['h2', 'h1'] },
      ]);
      const marked = await run('finish(`There are 12 cranes ${s}. And 30 workers. ${t}\nNobody knows more.`)');
      assert.deepEqual(marked.answer, [
        { text: 'There are 12 cranes.', handles: ['h1'] },
        { text: 'And 30 workers.', handles: ['h2'] },
        { text: 'Nobody knows more.', handles: [] },
      ]);
    }));

  test('unknown ids are told as they are, wrong shapes are errors, the last one counts', () =>
    withGround(TEXT, {}, async ({ run }) => {
      assert.deepEqual((await run('finish([{ text: "A.", handles: ["h77"] }])')).answer, [
        { text: 'A.', handles: ['h77'] },
      ]);
      assert.deepEqual((await run('finish(12)')).answer, [{ text: '12', handles: [] }]);
      assert.deepEqual((await run('finish({ text: "B.", handle: span(0, 3) })')).answer, [
        { text: 'B.', handles: ['h1'] },
      ]);
      assert.deepEqual((await run('finish("first"); finish("second")')).answer, [{ text: 'second', handles: [] }]);
      for (const code of ['finish()', 'finish(null)', 'finish([{}])', 'finish([{ handles: [] }])'])
        assert.equal((await run(code)).failure?.reason, 'threw', code);
      const kept = await run('finish("kept"); throw new Error("after")');
      assert.deepEqual([kept.answer?.length, kept.failure?.reason], [1, 'threw']);
    }));
});

describe('numbers of handles', () => {
  test('what a killed block has made is gone, and its numbers are free', () =>
    withGround(TEXT, { limits: { block_ms: 300 } }, async ({ run, prints, session }) => {
      assert.equal(await prints('print(span(0, 3).id)'), 'h1');
      assert.equal((await run('span(4, 11); for (;;);')).failure?.reason, 'out_of_time');
      assert.equal(await prints('print(handle("h1").text, span(12, 15).id)'), 'The h2');
      assert.deepEqual(
        session.handles().map(({ id }) => id),
        ['h1', 'h2'],
      );
    }));
});

describe('how much a session holds', () => {
  const long = textSource('The port is 8080. '.repeat(300_000), 'long.md');

  test('ranges that overlap on and on come to an end; the whole of a context in pieces does not', () =>
    withGround(long, {}, async ({ run, prints, session }) => {
      const all = 'for (const one of context.chunks({ bytes: 1000000 })) span(one); print("all")';
      assert.equal(await prints(all), 'all');
      const flood = 'for (let at = 0; at < 9000; at++) span(at * 100, at * 100 + 999000)';
      assert.match((await run(flood)).failure?.detail ?? '', /too many handles/);
      assert.ok(session.handles().length < 60, `${session.handles().length} handles`);
    }));

  slow('texts that wait for an answer come to an end, and go on when answers came', async () => {
    let longest = 0;
    let waiting = 0;
    const query = async ({ piece }: { readonly piece: string | null }) => {
      waiting += piece?.length ?? 0;
      longest = Math.max(longest, waiting);
      await new Promise((resolve) => setImmediate(resolve));
      waiting -= piece?.length ?? 0;
      return { ok: true, text: 'read', claims: [] };
    };
    await withGround(long, { host: { query } }, async ({ run, prints }) => {
      const flood =
        'const text = "x".repeat(4000000); await Promise.all(Array.from({ length: 10 }, (_, at) => rlmQuery(`q${at}`, text)))';
      assert.match((await run(flood)).failure?.detail ?? '', /may wait for an answer/);
      const calm =
        'let n = 0; for (let at = 0; at < 10; at++) n += (await rlmQuery(`q${at}`, text)).text.length; print(n)';
      assert.equal(await prints(calm), '40');
    });
    assert.ok(longest <= 32_000_000, `${longest} characters waited`);
  });
});
