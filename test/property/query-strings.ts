/** Strings that people, models and attackers type into a search: words, operators, quotes, scripts, broken text. */
import fc from 'fast-check';
import { userMessage } from '#core/model/message.ts';
import type { SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';

const PIECES = [
  ...[
    'AND',
    'OR',
    'NOT',
    'NEAR',
    'NEAR(',
    '"',
    "'",
    '*',
    '^',
    ':',
    '-',
    '+',
    '(',
    ')',
    '{',
    '}',
    '%',
    '_',
    '\\',
    ';',
    '--',
    '\0',
  ],
  ...[
    'terms:',
    'spoken_index',
    'when',
    'who',
    'May',
    '2023-02-31',
    '99 years ago',
    'last week',
    'Anna',
    'lighthouse',
    'lighthose',
  ],
  ...[
    '東京',
    '水',
    '안녕',
    'مرحبا',
    'नमस्ते',
    'สวัสดี',
    '😀',
    '👩‍👩‍👧',
    '\u{d800}',
    '\u{dfff}',
    '\u{202e}',
    '\ufeff',
    'e\u0301',
  ],
  ...['the', 'of', 'fooBarBaz', 'a_b-c.d', '/etc/passwd', '<b>', "Robert'); DROP TABLE messages;--", '1e309', '-0'],
];

export const anyQuestion: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)), maxLength: 40 }),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => pieces.join(' ')),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => pieces.join('')),
);

export async function fillForQueries(store: SqliteSessionStore): Promise<void> {
  const { id } = await store.create({ source: 'cli', cwd: '/' });
  for (const piece of PIECES)
    await store.append(id, userMessage(`we spoke of ${piece} near the lighthouse`), { speaker: 'Anna' });
}
