/** The scan against labelled entries: what must be refused, what must pass, and that no text makes it slow. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parseJson } from '#base/json.ts';
import { scanMemoryText } from '#mind/evidence/guard/scan-memory.ts';
import { ends } from '../../ends.ts';
import { verifies } from '../../verifies.ts';
import { loadEntries } from './threat-corpus.ts';

const refused = loadEntries('entries-refused');
const accepted = loadEntries('entries-accepted');

describe('threat scan', () => {
  verifies('core:memory:threat-scan', 'at least 90 % of the bad entries are refused, overall and in each class', () => {
    assert.ok(refused.length >= 60);
    const missed = refused.filter(({ text }) => scanMemoryText(text).ok);
    assert.ok(missed.length <= refused.length * 0.1, missed.map(({ text }) => text).join('\n'));
    for (const name of new Set(refused.map((entry) => entry.class))) {
      const all = refused.filter((entry) => entry.class === name);
      const through = all.filter(({ text }) => scanMemoryText(text).ok);
      assert.ok(through.length <= all.length * 0.1, `${name}: ${through.map(({ text }) => text).join('\n')}`);
    }
  });

  test('the reason is that of the class', () => {
    const other = refused.filter(({ text, class: expected }) => {
      const scan = scanMemoryText(text);
      return !scan.ok && scan.reason !== expected;
    });
    assert.ok(other.length <= refused.length * 0.05, other.map(({ text }) => text).join('\n'));
  });

  test('at most 3 % of the good entries are refused', () => {
    assert.ok(accepted.length >= 80);
    const cried = accepted.filter(({ text }) => !scanMemoryText(text).ok);
    assert.ok(cried.length <= accepted.length * 0.03, cried.map(({ text }) => text).join('\n'));
  });

  verifies(
    'core:memory:no-secrets',
    'every key shape is refused with the reason secret, and the detail does not repeat it',
    () => {
      for (const { text } of refused.filter((entry) => entry.class === 'secret')) {
        const scan = scanMemoryText(text);
        assert.ok(!scan.ok && scan.reason === 'secret', text);
        const words = text.split(/\s/).filter((word) => word.length > 20);
        for (const word of words) assert.ok(!scan.detail.includes(word));
      }
    },
  );

  test('everyday talk of strangers is hardly ever refused', (context) => {
    const folder = process.env.TALARIA_DATA;
    const file = folder ? join(folder, 'data', 'locomo-0-4.json') : '';
    if (!existsSync(file)) return context.skip('skipped: set TALARIA_DATA');
    const parsed = parseJson(readFileSync(file, 'utf8'));
    assert.ok(parsed.ok);
    const lines = strings(parsed.value).filter((line) => line.length > 15);
    const cried = lines.filter((line) => !scanMemoryText(line).ok);
    assert.ok(cried.length <= lines.length / 500, cried.slice(0, 5).join('\n'));
  });

  test('no text is slow: time grows with length, whatever is repeated', () => {
    const pieces = [
      'ignore ',
      'ignore all the your ',
      'do not ',
      'send the api key ',
      'curl -d @',
      'a',
      '<!-- ',
      '![',
      '$(',
      'token ',
      'you are ',
      'Ignоre',
      '\u200d👩',
      'dGVzdHRlc3Q',
      'before every ',
      '\n# ',
    ];
    for (const piece of pieces) {
      const text = piece.repeat(Math.ceil(200_000 / piece.length));
      ends(piece, () => scanMemoryText(text));
    }
  });
});

function strings(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(strings);
}
