import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { judgeArrows } from '../../scripts/graph/arrow-rules.ts';
import { drawRooms } from '../../scripts/graph/draw-rooms.ts';
import { loadTree } from '../../scripts/graph/load-tree.ts';
import { judgeShape } from '../../scripts/graph/shape-rules.ts';
import { verifies } from '../verifies.ts';
import { runScript, tempTree } from './temp-tree.ts';

type Files = Readonly<Record<string, string>>;

const sound: Files = {
  'src/base/clock.ts': 'export const now = 1;\n',
  'src/core/model/message.ts':
    "import { now } from '#base/clock.ts';\nexport const message = now;\nexport interface Part { a: 1 }\n",
  'src/core/agent/turn.ts': "import { message } from '#core/model/message.ts';\nexport const turn = message;\n",
  'test/base/clock.test.ts': '',
  'test/core/model/message.test.ts': '',
  'test/core/agent/turn.test.ts': '',
};

function judge(context: TestContext, files: Files): readonly string[] {
  const tree = loadTree(tempTree(context, files));
  return [...tree.problems, ...judgeArrows(tree), ...judgeShape(tree)];
}

describe('the floor check', () => {
  test('accepts a sound tree and draws the arrows between its rooms', (context) => {
    assert.deepEqual(judge(context, sound), []);
    const picture = drawRooms(loadTree(tempTree(context, sound)));
    assert.match(picture, /core_agent --> core_model/);
    assert.doesNotMatch(picture, /base_|mind/);
  });

  const violations: readonly (readonly [what: string, files: Files, expected: RegExp])[] = [
    [
      'a higher floor',
      { 'src/base/clock.ts': "import '#core/model/message.ts';\n" },
      /base may not import the higher core\/model/,
    ],
    [
      'a type from a higher floor',
      { 'src/base/clock.ts': "import type { Part } from '#core/model/message.ts';\nexport type P = Part;\n" },
      /base may not import the higher/,
    ],
    [
      'a type named in place',
      { 'src/base/clock.ts': "export type P = import('#core/model/message.ts').Part;\n" },
      /base may not import the higher/,
    ],
    [
      'a lazy import',
      { 'src/base/clock.ts': "export const m = () => import('#core/model/message.ts');\n" },
      /base may not/,
    ],
    ['a re-export', { 'src/base/clock.ts': "export * from '#core/model/message.ts';\n" }, /base may not/],
    [
      'a neighbour without an arrow',
      { 'src/core/model/x.ts': "import '#core/agent/turn.ts';\n" },
      /its neighbour core\/agent/,
    ],
    [
      'the doubles',
      { 'src/testing/fake.ts': '', 'src/base/clock.ts': "import '#testing/fake.ts';\n" },
      /no floor may import testing/,
    ],
    [
      'a room that is not in the table',
      { 'src/core/other/x.ts': "import '#base/clock.ts';\n" },
      /no room of scripts\/floors/,
    ],
    [
      'an extension outside app',
      { 'src/extensions/rlm/x.ts': '', 'src/surfaces/cli/x.ts': "import '#extensions/rlm/x.ts';\n" },
      /only surfaces\/app may import extensions\/rlm/,
    ],
    [
      'another extension',
      { 'src/extensions/rlm/x.ts': '', 'src/extensions/curator/x.ts': "import '#extensions/rlm/x.ts';\n" },
      /its neighbour extensions\/rlm/,
    ],
    [
      'a model on the market',
      { 'src/fleet/market/x.ts': "import '#core/model/message.ts';\n" },
      /fleet\/market may not reach core\/model/,
    ],
    [
      'a model on the market by a detour',
      {
        'src/mind/evidence/y.ts': "import type { Turn } from '#core/agent/turn.ts';\nexport type Turned = Turn;\n",
        'src/mind/skills/x.ts': "import '#mind/evidence/y.ts';\n",
        'src/fleet/market/x.ts': "import '#mind/skills/x.ts';\n",
      },
      /market\/x\.ts reaches src\/core\/agent\/turn\.ts/,
    ],
    [
      'more than types where only types may travel',
      {
        'src/fleet/golem/x.ts': 'export const a = 1;\n',
        'src/fleet/meta/x.ts': "import { a } from '#fleet/golem/x.ts';\nexport const b = a;\n",
      },
      /may import only types of fleet\/golem/,
    ],
    ['# inside a room', { 'src/base/x.ts': "import '#base/clock.ts';\n" }, /it is the same room/],
    [
      'a relative path across rooms',
      { 'src/core/model/x.ts': "import '../../base/clock.ts';\n" },
      /it is another room/,
    ],
    [
      'a relative path from a test',
      { 'test/base/x.test.ts': "import '../../src/base/clock.ts';\n" },
      /write .* with #/,
    ],
    [
      'a file that is not there',
      { 'src/core/model/x.ts': "import '#base/clock.js';\n" },
      /cannot find #base\/clock\.js/,
    ],
    [
      'a test from the source',
      { 'src/core/model/x.ts': "import '../../../test/base/clock.test.ts';\n" },
      /src may not import/,
    ],
    [
      'a cycle of types',
      {
        'src/base/a.ts': "import type { B } from './b.ts';\nexport type A = B;\n",
        'src/base/b.ts': "import type { A } from './a.ts';\nexport type B = A;\n",
      },
      /cycle: src\/base\/[ab]\.ts → src\/base\/[ab]\.ts → src\/base\/[ab]\.ts/,
    ],
    [
      'a file that imports itself',
      { 'src/base/a.ts': "import './a.ts';\n" },
      /cycle: src\/base\/a\.ts → src\/base\/a\.ts/,
    ],
    ['a name that says nothing', { 'src/base/utils.ts': '' }, /the name utils\.ts says nothing/],
    ['a folder that says nothing', { 'src/base/helpers/x.ts': '' }, /the name helpers says nothing/],
    ['a long file', { 'src/base/long.ts': '\n'.repeat(601) }, /has 601 lines/],
    ['a room without a test', { 'src/mind/memory/x.ts': '' }, /room mind\/memory has no test/],
    ['code in a public entry', { 'src/public/x.ts': 'export const a = 1;\n' }, /may only re-export/],
  ];
  for (const [what, files, expected] of violations) {
    verifies(['core:house:floors', 'R2.1'], `refuses ${what}`, (context) => {
      assert.match(judge(context, { ...sound, ...files }).join('\n'), expected);
    });
  }

  test('accepts a file of exactly 600 lines', (context) => {
    assert.deepEqual(judge(context, { ...sound, 'src/base/long.ts': '\n'.repeat(600) }), []);
  });

  test('lets a public entry re-export, and app import an extension', (context) => {
    const files = {
      'src/public/x.ts': "export { now } from '#base/clock.ts';\nexport type { Part } from '#core/model/message.ts';\n",
      'src/extensions/rlm/x.ts': '',
      'src/surfaces/app/x.ts': "import '#extensions/rlm/x.ts';\n",
      'test/extensions/rlm/x.test.ts': '',
      'test/surfaces/app/x.test.ts': '',
    };
    assert.deepEqual(judge(context, { ...sound, ...files }), []);
  });

  verifies.slow('core:house:false-greens', 'fails on an empty tree', (context) => {
    const { code, text } = runScript('graph.ts', '--root', tempTree(context, { 'readme.md': '' }));
    assert.equal(code, 1);
    assert.match(text, /nothing was checked/);
  });

  verifies('core:house:floors', 'leaves with 1 on a violation and with 0 without', (context) => {
    assert.equal(runScript('graph.ts', '--root', tempTree(context, sound)).code, 0);
    const broken = tempTree(context, { ...sound, 'src/base/clock.ts': "import '#core/model/message.ts';\n" });
    assert.equal(runScript('graph.ts', '--root', broken).code, 1);
  });
});
