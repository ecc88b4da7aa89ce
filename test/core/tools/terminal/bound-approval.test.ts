import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApprovalDecision } from '#core/agent/approver.ts';
import type { Asked } from '#core/agent/tool.ts';
import { bindApproval } from '#core/tools/terminal/bound-approval.ts';
import { createTerminalTool } from '#core/tools/terminal/terminal-tool.ts';
import { createPlainWalls } from '#testing/plain-walls.ts';
import { noYesRidesOnAnother } from '../../../property/bound-approvals.ts';
import { verifies } from '../../../verifies.ts';
import { makeToolPlace, type ToolPlaceForTest } from '../place.ts';

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
