import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { lexScript } from '#core/tools/shell/lex-script.ts';
import { runs } from '../../../property-runs.ts';

/** Commands as word lists; `?` marks what is only known at run time. */
const words = (text: string, variables: Readonly<Record<string, string>> = { HOME: '/h' }) =>
  lexScript(text, variables).commands.map(({ words: list }) =>
    list.map((word) => (word.certain ? '' : '?') + word.text).join('|'),
  );

describe('core/tools/shell', () => {
  it('takes quotes and escapes off', () => {
    assert.deepEqual(words(`a "b c" 'd "e' f\\ g h""i ""`), ['a|b c|d "e|f g|hi|']);
    assert.deepEqual(words(`"a\\"b\\$c\\n" $'x\\x41\\101\\n\\'y'`), ['a"b$c\\n|xAA\n\'y']);
    assert.deepEqual(words('a\\\nb c \\\n d'), ['ab|c|d']);
  });

  it('splits commands at separators only where they are none of a word', () => {
    assert.deepEqual(words('a;b && c || d | e & f\ng'), ['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    assert.deepEqual(words('a ";b" \\;c \'|d\' # e; f\ng#h'), ['a|;b|;c||d', 'g#h']);
  });

  it('reads into subshells, substitutions, loops and functions', () => {
    assert.deepEqual(words('(a; b) | c'), ['a', 'b', 'c']);
    assert.deepEqual(words('x $(a `b` "$(c)")'), ['b', 'c', 'a|?`…`|?$(…)', 'x|?$(…)']);
    assert.deepEqual(words('if a; then b; else c; fi; while d; do e; done').filter(Boolean), ['a', 'b', 'c', 'd', 'e']);
    assert.deepEqual(words('for v in 1 2; do a $v; done').filter(Boolean), ['a|?$v']);
    assert.deepEqual([...lexScript('f() { a; }; function g { b; }').functions], ['f', 'g']);
    assert.deepEqual(words('a <(b) > >(c)').sort(), ['a|?<(…)', 'b', 'c']);
    assert.deepEqual(words(`\${x:-$(a)} "\${y:+\`b\`}"`), ['a', 'b', '?$…|?$…']);
  });

  it('follows variables as far as they are certain', () => {
    assert.deepEqual(words(`X=a; $X "$X" \${X}b`).slice(1), ['a|a|ab']);
    assert.deepEqual(words('X="a b"; $X "$X"').slice(1), ['a|b|a b']);
    assert.deepEqual(words('X=a; X=b; c $X').slice(2), ['c|?$X']);
    assert.deepEqual(words('X=a; read X; c $X').slice(2), ['c|?$X']);
    assert.deepEqual(words('X=a; (X=b; c $X); d $X').at(-1), 'd|a');
    assert.deepEqual(words('X=a c $X'), ['c|?$X']);
    assert.deepEqual(words('c ~ ~/x "~" a~ $HOME'), ['c|/h|/h/x|~|a~|/h']);
  });

  it('takes a brace list for a word that nobody knows, unless it is quoted', () => {
    assert.deepEqual(words('a {b,c}d x{,y} "{p,q}" {r} {1..3}'), ['a|?{b,c}d|?x{,y}|{p,q}|{r}|{1..3}']);
  });

  it('gives redirects, here-documents and what is piped where', () => {
    const [first] = lexScript('a > b 2>&1 2>>c < d &> e').commands;
    assert.deepEqual(
      first?.redirects.map(({ operator, target }) => operator + target.text),
      ['>b', '>>c', '<d', '>e'],
    );
    const [cat, sh, ls] = lexScript("cat <<'X' | sh\nbody $(no)\nX\nls").commands;
    assert.equal(cat?.input, 'body $(no)');
    assert.equal(sh?.pipedFrom, cat);
    assert.deepEqual(
      ls?.words.map(({ text }) => text),
      ['ls'],
    );
    assert.deepEqual(words('cat <<X\n$(yes)\nX'), ['cat', 'yes']);
    assert.equal(lexScript('sh <<< "text"').commands[0]?.input, 'text');
    assert.equal(lexScript('cat <<-X\n\tbody\n\tX\nb').commands[0]?.input, 'body');
  });

  it('says what it cannot read', () => {
    assert.deepEqual(lexScript('a').doubts, []);
    assert.equal(lexScript('$('.repeat(100)).doubts.length, 1);
    assert.equal(lexScript('a'.repeat(100_001)).doubts.length, 1);
  });

  it('quoting any text gives exactly that text back', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.string({ maxLength: 12 }).filter((text) => !/[\0\uE000-\uE002]/.test(text)),
          { minLength: 1, maxLength: 5 },
        ),
        (list) => {
          const line = list.map((text) => `'${text.replaceAll("'", "'\\''")}'`).join(' ');
          const [command] = lexScript(`x ${line}`).commands;
          assert.deepEqual(
            command?.words.slice(1).map(({ text }) => text),
            list,
          );
        },
      ),
      { numRuns: runs(1_000) },
    );
  });
});
