import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { compactArguments, compactPreview } from '#mind/evidence/ledger/compact-value.ts';
import { attributeSkill, isErrorLike } from '#mind/evidence/ledger/turn-calls.ts';

const upstream = { compat: 'upstream' } as const;

describe('isErrorLike', () => {
  /** value, the original's verdict, ours */
  const cases: readonly (readonly [value: unknown, original: boolean, ours: boolean])[] = [
    ['all good', false, false],
    ['0 errors, 0 failed', true, false],
    ['terror level: low', true, false],
    ['no errors were found', true, false],
    ['3 errors found', true, false],
    ['Error: cannot open file', true, false],
    ['src/a.ts(3,1): error TS2304: Cannot find name', true, false],
    ['TypeError: x is not a function', true, false],
    ['Traceback (most recent call last):\n  File "x"', true, false],
    ['bash: foo: command not found', false, false],
    ['the build failed', true, false],
    ['exit code 0', false, false],
    ['exited with code 2', false, false],
    [[{ type: 'text', text: '{"exit_code": 2}' }], true, true],
    ['documentation of the exception hierarchy', true, false],
    ['{"error": "boom"}', true, true],
    ['  {"error": ""}', false, false],
    ['{"error": []}', false, false],
    ['{"success": false}', true, true],
    ['{"success": 0}', false, false],
    ['{"exit_code": 0, "output": "error error failed"}', false, false],
    ['{"exit_code": 1}', true, true],
    ['{"exit_code": "0"}', true, false],
    ['{"exit_code": null}', false, false],
    ['{"exit_code": false}', false, false],
    ['{"exit_code": true}', true, true],
    ['{"nested": {"error": "x", "success": false}}', false, false],
    ['{"isError": true}', false, true],
    ['{broken json with error', true, false],
    [{ error: 'boom' }, true, true],
    [{ exit_code: 1 }, true, true],
    [[{ type: 'text', text: 'Error: denied' }], true, false],
    [['an error'], true, false],
    [null, false, false],
    [undefined, false, false],
    [7, false, false],
    [`${'x'.repeat(3000)} error`, false, false],
  ];
  for (const [value, original, ours] of cases) {
    test(JSON.stringify(value)?.slice(0, 60) ?? 'undefined', () => {
      assert.equal(isErrorLike(value, upstream), original, 'original');
      assert.equal(isErrorLike(value), ours, 'ours');
    });
  }

  test('judges any value', () => {
    fc.assert(
      fc.property(
        fc.anything(),
        (value) => typeof isErrorLike(value) === 'boolean' && typeof isErrorLike(value, upstream) === 'boolean',
      ),
    );
  });
});

describe('attributeSkill', () => {
  test('calls that name a skill', () => {
    for (const options of [{}, upstream]) {
      assert.equal(attributeSkill('skill_view', { name: 'deploy' }, options), 'deploy');
      assert.equal(attributeSkill('skill_manage', { name: '', skill: 'a', skill_name: 'b' }, options), 'a');
      assert.equal(attributeSkill('delegate', { skills: ['', 'x', 'y'] }, options), 'x');
      assert.equal(attributeSkill('terminal', { name: 'deploy' }, options), null);
      assert.equal(attributeSkill('terminal', { skills: [] }, options), null);
      assert.equal(attributeSkill('skill_view', null, options), null);
    }
    assert.equal(attributeSkill('skill_view', { name: 7 }, upstream), '7');
  });

  test('an ordinary call belongs to the active skill, but not in the original', () => {
    assert.equal(attributeSkill('terminal', { command: 'ls' }, { active: 'deploy' }), 'deploy');
    assert.equal(attributeSkill('terminal', {}, { active: 'deploy', ...upstream }), null);
    assert.equal(attributeSkill('skill_view', { name: 'other' }, { active: 'deploy' }), 'other');
  });
});

describe('compactPreview', () => {
  test('cuts by characters, with one ellipsis', () => {
    assert.equal(compactPreview('x'.repeat(500)), 'x'.repeat(500));
    assert.equal(compactPreview('x'.repeat(501)), `${'x'.repeat(499)}…`);
    assert.equal(compactPreview('😀'.repeat(500)), '😀'.repeat(500));
    assert.equal(compactPreview('😀'.repeat(501)), `${'😀'.repeat(499)}…`);
    assert.equal(compactPreview('abcdef', 3), 'ab…');
    assert.equal(compactPreview('abcdef', null), 'abcdef');
  });

  test('nothing, text, data', () => {
    assert.equal(compactPreview(null), '');
    assert.equal(compactPreview(undefined), '');
    assert.equal(compactPreview({ b: [1, 'é'], a: null }), '{"a":null,"b":[1,"é"]}');
    assert.equal(compactPreview({ b: [1, 'é'], a: null }, 500, upstream), '{"a": null, "b": [1, "é"]}');
    assert.equal(compactPreview('a\0b\\x00c'), 'ab\\x00c');
    assert.equal(compactPreview('a\\x00b', 500, upstream), 'ab');
  });

  test('arguments stay JSON', () => {
    assert.equal(compactArguments({}), '{}');
    assert.equal(compactArguments({ b: 1, a: 2 }), '{"a":2,"b":1}');
    const long = compactArguments({ text: '"'.repeat(3000) });
    const { preview } = JSON.parse(long) as { preview: string };
    assert.equal([...preview].length, 1000);
    assert.ok(preview.endsWith('…'));
  });

  test('never longer than its limit', () => {
    fc.assert(
      fc.property(
        fc.anything(),
        fc.integer({ min: 1, max: 40 }),
        (value, limit) => [...compactPreview(value, limit)].length <= limit,
      ),
    );
  });
});
