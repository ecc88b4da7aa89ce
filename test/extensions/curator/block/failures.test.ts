import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type BlockRow, failuresOf } from '#extensions/curator/block/failures.ts';
import { prepareUpdate } from '#extensions/curator/block/prepare-update.ts';
import { LEDGER_ORDER } from '#extensions/curator/report/evidence.ts';
import { stepOf } from '#mind/skills/format/skill-commands.ts';
import { verifies } from '../../../verifies.ts';

let order = 0;

/** Calls of one second, in the order in which they are made. */
function ran(command: string, said = '', session_id = 's'): BlockRow {
  order += 1;
  const args_json = JSON.stringify({ command });
  const when = { created_at: '2026-05-20T10:00:00+00:00', [LEDGER_ORDER]: order };
  return { ...when, session_id, tool_name: 'terminal', is_error: said === '' ? 0 : 1, args_json, result_preview: said };
}

const TEXT =
  '---\nname: site\n---\n# Site\n\n## Build\n1. `npm ci`\n2. Run `npm run bild`\n\n```sh\n$ node x.mjs <file>\n```\n';

describe('what failed', () => {
  verifies(
    'curator:block:content',
    'is one row for each program and first line, most frequent and newest first',
    () => {
      const rows = [
        ran('npm ci'),
        ran('cd site && npm run bild', '\n> site@1.0.0\nMissing script: "bild"\nmore'),
        ran('ls dist', 'ls: dist: no such folder\n[exit 2]'),
        ran('npm run bild', 'Missing script: "bild"\n[exit 1]'),
        ran('npm run build', '', 'other'),
        ran('npm run build'),
        ran('npm run build -- --all'),
        ran('ls elsewhere'),
        ran('node x.mjs a.txt', 'Error: a.txt'),
      ];
      const found = failuresOf({ rows, text: TEXT }).map(({ program, error, times, step, last, worked }) => [
        ...[program, error, times, step, last.text, worked?.text],
      ]);
      assert.deepEqual(found, [
        ['npm', 'Missing script: "bild"', 2, 'step 2', 'npm run bild', 'npm run build'],
        ['node', 'Error: a.txt', 1, 'step 2', 'node x.mjs a.txt', undefined],
        ['ls', 'ls: dist: no such folder', 1, undefined, 'ls dist', 'ls elsewhere'],
      ]);
    },
  );

  test('goes by what was recorded: no word of a call that went well, no tool that keeps the own books', () => {
    const own = ['skill_view', 'skill_manage', 'skills_list', 'memory', 'session_search', 'curator_evidence_report'];
    const failed = own.map((tool_name) => ({ ...ran('x', 'Error: gone'), tool_name }));
    assert.deepEqual(
      failuresOf({ rows: [...failed, { ...ran('make'), result_preview: 'build failed: 0 errors' }] }),
      [],
    );
    const finished = Array.from({ length: 29 }, () => ({ ...ran('make site'), result_preview: 'build finished' }));
    assert.deepEqual(failuresOf({ rows: finished }), []);
  });

  test('is read from arguments that were cut, from none, and from a result that is JSON', () => {
    const long = JSON.stringify({
      preview: JSON.stringify({ command: `python3 - <<X\n${'y'.repeat(900)}` }).slice(0, 500),
    });
    const rows = [
      { ...ran('x', 'SyntaxError'), args_json: long },
      { ...ran('x', '{"exit_code":1,"output":"fatal: no repository\\nmore"}'), args_json: 'null', tool_name: 'patch' },
      { is_error: 1 },
    ];
    assert.deepEqual(
      failuresOf({ rows }).map(({ program, error }) => [program, error]),
      [
        ['patch', 'fatal: no repository'],
        ['python3', 'SyntaxError'],
        ['', ''],
      ],
    );
  });

  verifies('curator:block:only-failures', 'gives a block, and takes an old one away when there is none', () => {
    const asked = { skill: 'site', now: '2026-05-21T00:00:00Z', summary: {} };
    const none = prepareUpdate(TEXT, { ...asked, rows: [ran('make')] });
    assert.deepEqual([none.skippedReason, none.content], ['no-failures', TEXT]);
    const noted = prepareUpdate(TEXT, { ...asked, rows: [ran('make', 'make: no rule')] }).content;
    assert.match(noted, /make: no rule/);
    const mended = prepareUpdate(noted, { ...asked, rows: [ran('make')] });
    assert.deepEqual([mended.skippedReason, mended.content], [null, TEXT]);
  });
});

describe('a command in the text of a skill', () => {
  test('is found as written, with more arguments, and for something in angle brackets; a bare word only as code', () => {
    const text = `# X\nmake sure of it\n1. Then npm test.\n2. \`make\`, \`git log --oneline\`\n## Last\nrm -r out\n`;
    for (const [command, step] of [
      ['npm test', 'step 1'],
      ['npm testing', undefined],
      ['cd x; git log --oneline v1.. | head', 'step 2'],
      ['make', 'step 2'],
      ['git', undefined],
      ['rm  -r out', 'Last'],
      ['', undefined],
    ] as const)
      assert.equal(stepOf(text, command), step, command);
    assert.equal(
      stepOf('<!-- curator-evolver:auto:start -->\nnpm test\n<!-- curator-evolver:auto:end -->', 'npm test'),
      undefined,
    );
  });
});
