/** The short way through config.yaml against the YAML reader: the same data and the same places, or nothing. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue } from '#base/json.ts';
import { parseConfigText } from '#surfaces/app/home/config-document.ts';
import { parsePlainConfig } from '#surfaces/app/home/plain-config.ts';

const WORDS = [
  ...[
    'openai/gpt-5',
    'http://127.0.0.1:9/v1',
    '~/skills',
    'a b',
    'a  b',
    'a: b',
    'a:',
    ':a',
    '- a',
    '-a',
    'a #b',
    'a#b',
    '#a',
  ],
  ...[
    'true',
    'True',
    'yes',
    'null',
    'Null',
    '~',
    '.inf',
    '-1',
    '0',
    '007',
    '1',
    '1.50',
    '1e3',
    '0x1f',
    '0o7',
    '1_000',
    '+1',
  ],
  ...[
    '1.',
    '.5',
    '10.0.0.1',
    '2026-01-01',
    '12:30',
    '999999999999999999',
    '${NAME}',
    '${NA ME}',
    '{a}',
    '[a]',
    '[]',
    '{}',
    '&a',
    '*a',
  ],
  ...[
    '"x"',
    '"x y: # z"',
    '"x\\n"',
    "'x'",
    '"',
    '"x',
    'x"',
    '|',
    '>',
    '%',
    '@',
    '`',
    '!a',
    '? a',
    'a,b',
    'a]',
    'ä',
    '\ta',
    'a\t',
    '',
  ],
];
const KEYS = [
  'model',
  'agent',
  'max_steps',
  'a-b',
  'true',
  'null',
  'x',
  'y',
  '__proto__',
  '<<',
  '1',
  '"q"',
  'a b',
  'constructor',
];
const indent = fc.constantFrom('', '', '', '', '  ', '  ', '    ');
const plainly = <T>(plain: readonly T[], hostile: readonly T[]) =>
  fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...plain) }, { weight: 1, arbitrary: fc.constantFrom(...hostile) });
const word = plainly(['openai/gpt-5', 'http://127.0.0.1:9/v1', 'a b', 'true', '0', '12', '1.50', '"x y"'], WORDS);
const key = plainly(['model', 'agent', 'a-b', 'x', 'y', 'max_steps'], KEYS);
const line = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(indent, key, word).map(([at, key, value]) => `${at}${key}: ${value}`),
  },
  { weight: 3, arbitrary: fc.tuple(indent, key).map(([at, key]) => `${at}${key}:`) },
  { weight: 3, arbitrary: fc.tuple(indent, word).map(([at, value]) => `${at}- ${value}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', '  ', '# said', '   # said', '---', '...', 'word', '  word', 'a:b', 'x:  1  ', '-'),
  },
);
const text = fc
  .tuple(fc.array(line, { maxLength: 9 }), fc.constantFrom('', '\n', '\r\n'))
  .map(([lines, end]) => lines.join('\n') + end);

function pathsOf(value: JsonValue | undefined, above: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [above];
  return [above, ...Object.entries(value).flatMap(([key, below]) => pathsOf(below, [...above, key]))];
}

function agrees(source: string): boolean {
  const plain = parsePlainConfig('config.yaml', source);
  if (plain === undefined) return false;
  const full = parseConfigText('config.yaml', source);
  assert.deepEqual(plain.data, full.data, source);
  for (const keys of [...pathsOf(plain.data), ['absent'], ['model', 'absent'], ['x', '7']])
    assert.equal(plain.locate(keys), full.locate(keys), `${keys.join('.')} of\n${source}`);
  return true;
}

describe('config.yaml without the YAML reader', () => {
  test('what it reads, the YAML reader reads alike', () => {
    let read = 0;
    fc.assert(
      fc.property(text, (source) => {
        if (agrees(source)) read += 1;
      }),
      { numRuns: 20_000 },
    );
    assert.ok(read > 100, `${read} texts were read the short way`);
  });

  test('what Talaria writes is read the short way', () => {
    const lines = [
      '# made by setup',
      'version: 1',
      'model: openai/gpt-5.1-mini',
      'agent:',
      '  max_steps: 500',
      'providers:',
    ];
    const more = [
      '  local:',
      '    base_url: http://127.0.0.1:8080/v1',
      `    api_key: \${LOCAL_KEY}`,
      'toolsets:',
      '  - default',
    ];
    assert.ok(agrees([...lines, ...more, 'command_allowlist:', '- "git push"', ''].join('\n')));
  });
});
