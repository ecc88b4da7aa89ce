import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as zod from 'zod';
import { lateSchemas, madeOf } from '#base/late-schema.ts';

function counted(): { readonly z: typeof zod.z; readonly loads: () => number } {
  let loads = 0;
  const z = lateSchemas(() => {
    loads += 1;
    return zod.z;
  });
  return { z, loads: () => loads };
}

/** A schema with all that our schemas use, made with either. */
function example(z: typeof zod.z) {
  const inner = z.object({ kind: z.literal('a'), n: z.coerce.number().int().min(1).max(9).default(3) }).strict();
  return z
    .looseObject({
      name: z
        .string()
        .trim()
        .min(2)
        .regex(/^[a-z]+$/)
        .describe('a name'),
      list: z.array(inner).nonempty().optional(),
      either: z.discriminatedUnion('kind', [inner, z.object({ kind: z.literal('b') })]).nullable(),
      word: z.enum(['one', 'two']).catch('one'),
      when: z.iso.date().optional(),
      map: z.record(z.string(), z.union([z.number(), z.boolean()])).prefault({}),
    })
    .refine((value) => value.name !== 'no', { message: 'not that one' })
    .transform((value) => ({ ...value, seen: true }));
}

const INPUTS: readonly unknown[] = [
  { name: ' ab ', either: null, word: 'two', extra: 1 },
  { name: 'ab', list: [{ kind: 'a' }], either: { kind: 'a', n: '4' }, word: 'zzz', map: { x: 1 }, when: '2026-01-31' },
  { name: 'no', either: { kind: 'b' }, word: 'one' },
  { name: 'A', list: [], either: { kind: 'c' }, word: 'one', map: { x: 'y' }, when: 'today' },
  7,
];

describe('schemas that are made late', () => {
  test('first hour start: building loads nothing; what is made late accepts, refuses and says the same', () => {
    const { z, loads } = counted();
    const late = example(z);
    const once = example(zod.z);
    assert.ok(madeOf(late));
    assert.equal(loads(), 0);
    for (const input of INPUTS) {
      const [ours, theirs] = [late.safeParse(input), once.safeParse(input)];
      assert.equal(ours.success, theirs.success);
      assert.deepEqual(ours.data, theirs.data);
      assert.deepEqual(ours.error?.issues, theirs.error?.issues);
    }
    const how = { io: 'input', unrepresentable: 'any' } as const;
    assert.deepEqual(z.toJSONSchema(late, how), zod.z.toJSONSchema(once, how));
    assert.equal(loads(), 1);
  });

  test('a schema made late is one for whoever asks', async () => {
    const { z } = counted();
    const late = z.object({ a: z.string().optional().meta({ title: 'A' }) });
    assert.ok(late instanceof z.ZodType);
    assert.ok(late instanceof z.ZodObject);
    assert.ok(!(late instanceof z.ZodString));
    assert.deepEqual(Object.keys(late.shape), ['a']);
    assert.deepEqual(late.shape.a.meta(), { title: 'A' });
    assert.deepEqual(zod.z.array(late).parse([{ a: 'b' }]), [{ a: 'b' }], 'inside of one that was made at once');
    assert.deepEqual(await late.parseAsync({}), {});
    assert.throws(() => late.parse({ a: 1 }), zod.z.ZodError);
    const tree: zod.z.ZodType = z.object({
      get children() {
        return z.array(tree);
      },
    });
    assert.deepEqual(tree.parse({ children: [{ children: [] }] }), { children: [{ children: [] }] });
  });

  test('first hour start: a word that builds on the namespace alone is a property of a schema', () => {
    const { z } = counted();
    const words = z.enum(['x', 'y']);
    assert.deepEqual(words.enum, { x: 'x', y: 'y' });
    assert.deepEqual(words.options, ['x', 'y']);
    assert.equal(z.literal('a').value, 'a');
    assert.deepEqual(z.object({ a: words }).shape.a.enum, { x: 'x', y: 'y' });
    assert.deepEqual(z.string().array().parse(['b']), ['b']);
    assert.equal(z.number().int().safeParse(1.5).success, false);
  });

  test('first hour start: what a text cannot tell apart is not told by one', () => {
    const { z } = counted();
    const { z: other } = zod;
    for (const given of [new Set(['a']), new Map([['a', 1]]), new Date(0), new (class Own {})(), Symbol('a')])
      assert.equal(madeOf(z.object({ a: z.array(z.any().default(given)) })), undefined, String(given));
    assert.equal(madeOf(z.object({ a: other.string() })), undefined, 'one that was made at once');
    assert.notEqual(madeOf(z.literal(1n)), madeOf(z.literal(1)));
    assert.ok(madeOf(z.string().refine((text) => text !== '')));
  });

  test('how it was made is a text: the same for the same, another for another', () => {
    const { z } = counted();
    const text = (choices: [string, ...string[]], about: string) =>
      madeOf(z.object({ a: z.enum(choices).describe(about) }));
    assert.equal(text(['x', 'y'], 'one'), text(['x', 'y'], 'one'));
    assert.notEqual(text(['x', 'y'], 'one'), text(['x', 'z'], 'one'));
    assert.notEqual(text(['x', 'y'], 'one'), text(['x', 'y'], 'two'));
    assert.notEqual(madeOf(z.string().regex(/a/)), madeOf(z.string().regex(/b/)));
    assert.equal(madeOf(zod.z.string()), undefined);
  });
});
