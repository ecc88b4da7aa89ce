/** Whatever a model writes, Telegram takes it, and the words are all there. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import { lexer, Marked } from 'marked';
import { systemClock } from '#base/clock.ts';
import { openTelegram } from '#surfaces/gateway/telegram.ts';
import { fileIn, piecesOf, plainOf } from '#surfaces/gateway/telegram-text.ts';
import { startFakeTelegram } from '#testing/fake-telegram.ts';
import { many } from '../../property-runs.ts';
import { verifies } from '../../verifies.ts';

const signal = new AbortController().signal;
/** Words are Greek or pictures, so that no syntax is taken for one. */
const BITS = [
  ...[
    '*',
    '**',
    '_',
    '__',
    '~~',
    '`',
    '``',
    '\n```\n',
    '\n```ts\n',
    '\n',
    '\n\n',
    '\n> ',
    '\n>> ',
    '\n- ',
    '\n  1. ',
    '\n# ',
  ],
  ...[
    '|',
    '\n|--|--|\n',
    '[',
    '](http://a.b/?c=1&d="2")',
    '](δρόμος)',
    '![',
    '<b>',
    '</b>',
    '<u>',
    '</u>',
    '<br>',
    '<p>',
  ],
  ...[
    '<!--',
    '<',
    '>',
    '&',
    '&lt;',
    '&#945;',
    '&nope;',
    '\\',
    '\t',
    '    ',
    '- [x] ',
    '---\n',
    '\u200D',
    '\u0000',
    '\uD83D',
  ],
  ...[
    'άλφα ',
    'βήτα',
    ' γάμμα',
    '🙂',
    '👩‍🚀',
    'δ'.repeat(90),
    'ε ζ '.repeat(700),
    `η${'θ'.repeat(5_000)}`,
    '\nι'.repeat(600),
  ],
];
const words = (text: string) => text.replace(/[^\p{Script=Greek}\u{1F300}-\u{1FAFF}]/gu, '');
/** What the reader of Markdown itself would show. */
const reader = new Marked({
  renderer: {
    html: ({ raw }) => raw.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
    image: ({ text }) => text.replaceAll('<', '&lt;'),
  },
});

function meant(markdown: string): string {
  const html = reader.parse(markdown.toWellFormed(), { async: false });
  return words(html.replace(/<[^>]*>/g, '').replaceAll('&#945;', 'α'));
}

/** Every letter of `some`, in its order. */
function holds(all: string, some: string): boolean {
  const rest = [...all][Symbol.iterator]();
  return [...some].every((letter) => {
    for (let next = rest.next(); !next.done; next = rest.next()) if (next.value === letter) return true;
    return false;
  });
}

/** Sends what the fake must take as it is; `shows` gives what of a text counts. */
async function openSender(t: TestContext, shows: (text: string) => string) {
  const fake = await startFakeTelegram({ context: t });
  fake.say('hello');
  const channel = await openTelegram({ token: fake.token, apiRoot: fake.apiRoot, clock: systemClock });
  return async (markdown: string, wanted: string) => {
    const before = fake.shown().length;
    const [pieces, calls] = [channel.pieces(markdown), fake.calls.length];
    for (const piece of pieces)
      assert.equal((await channel.send({ chat: '1', piece }, signal)).state, 'sent', piece.slice(0, 500));
    assert.equal(fake.calls.length - calls, pieces.length, 'none was refused with its marks');
    const shown = fake
      .shown()
      .slice(before)
      .map(({ text, file }) => file?.text ?? text);
    assert.ok(holds(shows(shown.join('\n')), wanted), shown.join('\n---\n').slice(0, 500));
    assert.ok(shown.every((text) => text.isWellFormed()));
    const plain = pieces.map((piece) => fileIn(piece)?.text ?? plainOf(piece));
    assert.equal(shows(plain.join('')), shows(shown.join('')));
  };
}

verifies(['R5.107'], 'any Markdown is taken in pieces of 4,096 units, and nothing of it is lost', async (t) => {
  const send = await openSender(t, words);
  const document = fc.array(fc.constantFrom(...BITS), { minLength: 1, maxLength: 40 }).map((bits) => bits.join(''));
  await fc.assert(
    fc.asyncProperty(document, (markdown) => send(markdown, meant(markdown))),
    { numRuns: many(10_000, 200) },
  );
});

const letters = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, '');
/** Of a text as people and models write it: what its reader shows, but for tags, which are marks here or stand as they are. */
const plainReader = new Marked({
  renderer: {
    html: ({ raw }) => raw.replace(/<[^>]*>/g, '').replaceAll('<', '&lt;'),
    image: ({ text }) => text.replaceAll('<', '&lt;'),
  },
});

/** The guides of this repository, and skills that models wrote where the data is there. */
function realTexts(): readonly string[] {
  const docs = join(import.meta.dirname, '..', '..', '..', 'docs');
  const guides = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
  const skills = join(process.env.TALARIA_DATA ?? '', 'data', 'skills-sample.jsonl');
  const lines = existsSync(skills) ? readFileSync(skills, 'utf8').trim().split('\n') : [];
  return [
    ...guides.sort().map((name) => readFileSync(join(docs, name), 'utf8')),
    ...lines.map((line): string => JSON.parse(line).text),
  ];
}

verifies(['R5.107'], 'what was cut from real texts at any place is taken, and says what it said', async (t) => {
  const send = await openSender(t, letters);
  const texts = realTexts();
  assert.ok(texts.length > 20);
  const cut = fc
    .tuple(fc.constantFrom(...texts), fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(12_000))
    .map(([text, at, length]) => text.slice(Math.floor(text.length * at)).slice(0, length));
  await fc.assert(
    fc.asyncProperty(cut, async (markdown) => {
      const html = plainReader.parse(markdown.toWellFormed(), { async: false });
      await send(markdown, letters(html.replace(/<[^>]*>/g, '').replace(/&#?\w+;/g, '')));
    }),
    { numRuns: many(1_000, 40) },
  );
});

verifies(['R5.107'], 'each form of Markdown has its form, and cuts fall between blocks, lines and words', () => {
  const shown: readonly (readonly [string, string])[] = [
    ['# A & B', '<b>A &amp; B</b>'],
    ['**a *b ~~c~~***', '<b>a <i>b <s>c</s></i></b>'],
    ['<u>a</u> `x<y` <br>b', '<u>a</u> <code>x&lt;y</code> \nb'],
    ['**`a` b**', '<code>a</code><b> b</b>'],
    ['```ts\nlet a;\n```', '<pre><code class="language-ts">let a;</code></pre>'],
    ['> a\n>> b\n\nc', '<blockquote>a\nb</blockquote>\n\nc'],
    ['- [x] a\n- b\n  1. c', '• ☑ a\n• b\n  1. c'],
    ['[a](https://b.c/?d="e"&f) [g](h.md)', '<a href="https://b.c/?d=&quot;e&quot;&amp;f">a</a> g (h.md)'],
    ['|a|bb|\n|-|-|\n|ccc|**d**|', '<pre>a   | bb\n----+---\nccc | d </pre>'],
    ['a &lt; b &copy; \\* &nope;', 'a &lt; b © * &amp;nope;'],
    [' \u200B\n\n```\n\n```', ''],
  ];
  for (const [markdown, html] of shown) assert.equal(piecesOf(markdown, lexer).join('|'), html);
  const lengths = (markdown: string) => piecesOf(markdown, lexer).map((piece) => plainOf(piece).length);
  const long = 'x'.repeat(3_000);
  assert.deepEqual(lengths(`${long}\n\n${long}\n\ny`), [3_000, 3_003]);
  assert.deepEqual(lengths(`**${long}\n${long}**`), [3_000, 3_000]);
  assert.deepEqual(lengths('word '.repeat(1_000)), [4_094, 905]);
  assert.deepEqual(lengths(`x${'🙂'.repeat(4_000)}`), [4_095, 3_906]);
  assert.deepEqual(
    piecesOf(`\`\`\`\n${'&<\n'.repeat(2_000)}\`\`\``, lexer).map((piece) => /^<pre>[\s\S]+<\/pre>$/.test(piece)),
    [true, true],
  );
  assert.deepEqual(fileIn(piecesOf(`\`\`\`c++\n${'a<b\n'.repeat(4_000)}\`\`\``, lexer)[0] ?? '')?.name, 'code.c++');
  assert.equal(piecesOf('>'.repeat(5_000), lexer).map(plainOf).join('').length, 5_000);
});
