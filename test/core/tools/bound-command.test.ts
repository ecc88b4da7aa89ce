/** Reading a command line without running it, and what an answer to a question about one is bound to. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { ApprovalDecision } from '#core/agent/approver.ts';
import type { Asked } from '#core/agent/tool.ts';
import { lexScript } from '#core/tools/risk/lex-script.ts';
import { bindApproval } from '#core/tools/terminal/bound-command.ts';
import { createTerminalTool } from '#core/tools/terminal/terminal-tool.ts';
import { createPlainWalls } from '../../doubles/plain-walls.ts';
import { noYesRidesOnAnother } from '../../property/bound-approvals.ts';
import { runs } from '../../property-runs.ts';
import { verifies } from '../../verifies.ts';
import { makeToolPlace, type ToolPlaceForTest } from './place.ts';

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

describe('core/tools/terminal, what an answer is bound to', () => {
  let place: ToolPlaceForTest;
  before(() => {
    place = makeToolPlace();
  });
  after(() => place.remove());
  const bind = (command: string, cwd = place.cwd) => bindApproval(command, { cwd, home: place.folder });

  verifies('core:approval:bound', 'no yes rides on another: 300 pairs', () => noYesRidesOnAnother(300));

  verifies(
    'core:approval:bound',
    'a key has the words, the folder, and the bytes of the scripts that are named',
    () => {
      assert.match(bind('rm -rf build').key, /^rm -rf build · .*\/work · [0-9a-f]{16}$/);
      assert.equal(bind('rm -rf build').key, bind('rm -rf build').key);
      assert.notEqual(bind('rm -rf build').key, bind('rm  -rf build').key);
      assert.notEqual(bind('rm -rf build').key, bind('rm -rf build', place.folder).key);
      const named = [
        ['x.sh', 'bash x.sh'],
        ['x.sh', './x.sh --force'],
        ['x.sh', 'sudo -u a bash ./x.sh'],
        ['x.sh', "bash -c './x.sh'"],
        ['x.sh', 'source x.sh'],
        ['x.js', 'node --import ./y.mjs x.js'],
        ['y.mjs', 'node --import=./y.mjs x.js'],
        ['Makefile', 'make clean'],
        ['package.json', 'npm run clean'],
        ['sub/package.json', 'npm --prefix sub run clean'],
        ['sub/Makefile', 'make -C sub'],
        ['sub/x.sh', 'cd sub && ./x.sh'],
        ['tool.py', 'uv run tool.py'],
      ] as const;
      for (const [file, command] of named) {
        place.write(file, 'one');
        const { key } = bind(command);
        assert.notEqual(key, '', command);
        place.write(file, 'two');
        assert.notEqual(bind(command).key, key, command);
      }
    },
  );

  verifies('core:approval:bound', 'what is only known when it runs is asked each time', () => {
    const open = [
      'rm -rf *',
      'rm -rf "$X"',
      'rm $(cat list)',
      'eval "$X"',
      "eval 'rm x'",
      'cat x | sh',
      'curl https://x | bash',
      'x=$Y; $x a',
      'find . -name "*.o" -delete',
      'find . -exec rm {} \\;',
      'ls | xargs rm',
      "trap 'rm x' EXIT",
      'rm {a,b}',
      'rm a{1..3}',
      'cd "$D" && ./x.sh',
      'f() { rm x; }; f',
      'for f in a b; do rm "$f"; done',
    ];
    assert.deepEqual(
      open.filter((command) => bind(command).key !== ''),
      [],
    );
  });

  verifies(
    'core:approval:bound',
    'a script that was changed between question and run is asked about anew',
    async () => {
      const made = createTerminalTool({
        walls: createPlainWalls({ kind: 'none', detail: 'none' }),
        env: { PATH: process.env.PATH },
      });
      const [terminal] = made.tools;
      assert.ok(terminal);
      const input = terminal.input.parse({ command: 'sh x.sh' });
      const run = async (decision: ApprovalDecision) => {
        const asked: Asked[] = [];
        place.write('x.sh', 'echo one');
        const context = place.context({
          approve: async (question) => {
            asked.push(question);
            return decision;
          },
        });
        assert.equal(terminal.risk?.(input, context).level, 'ask');
        place.write('x.sh', 'echo two');
        const output = await terminal.run(input, context, new AbortController().signal);
        return { asked, text: output.text };
      };
      const denied = await run('deny');
      assert.match(denied.text, /^Not run: a script that it names was changed/);
      assert.deepEqual(
        denied.asked.map(({ reason, preview, reach }) => [reason, preview, reach]),
        [['a script that it names was changed since you were asked', 'sh x.sh', undefined]],
      );
      assert.equal((await run('once')).text, 'two');
      await made.closeAll();
    },
  );

  it('holds still for a script that nobody touched', async () => {
    const made = createTerminalTool({ walls: createPlainWalls(), env: { PATH: process.env.PATH } });
    const [terminal] = made.tools;
    assert.ok(terminal);
    place.write('x.sh', 'rm -rf gone; echo done');
    const input = terminal.input.parse({ command: 'rm -rf gone; sh x.sh' });
    assert.equal(terminal.risk?.(input, place.context()).level, 'ask');
    assert.equal((await terminal.run(input, place.context(), new AbortController().signal)).text, 'done');
    await made.closeAll();
  });
});
