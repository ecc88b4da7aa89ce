/** Real turns that use a skill, edits between them: `curator measure` counts both sides, and what did worse goes back by itself. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext } from 'node:test';
import { createScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { slow } from '../../slow.ts';
import { createStage, openConversation, play, runCommand, type Stage } from '../../surfaces/app/app-fixture.ts';
import { verifies } from '../../verifies.ts';

const TEXT =
  '---\nname: deploy\ndescription: Put the site online.\n---\n\n1. Run `cat site.txt` or `cat old.txt`, then look.\n';

/** The skill is read, then work is done by it. */
function use(command = 'cat site.txt'): readonly ScriptedStep[] {
  const usage = { inputTokens: 90, outputTokens: 10 };
  return [
    { calls: [{ name: 'skill_view', arguments: { name: 'deploy' } }], usage },
    { calls: [{ name: 'terminal', arguments: { command } }], usage },
    { reply: 'It is online.', usage },
  ];
}

interface Measured {
  readonly versions: readonly {
    readonly version: number;
    readonly uses: number;
    readonly worked: number;
    readonly cost: {
      readonly costed_uses: number;
      readonly usd_per_use: number | null;
      readonly tokens_per_use: number;
    };
    readonly verdict: { readonly verdict: string; readonly against: number | null };
  }[];
}

const FAILING = ['cat old.txt', ...Array.from({ length: 5 }, () => 'cat site.txt')];
const MAKING = { name: 'deploy', actor: 'agent', approved: true } as const;

async function stageWithSkill(t: TestContext): Promise<Stage> {
  const stage = createStage(t);
  writeFileSync(join(stage.cwd, 'site.txt'), 'here');
  stage.temp.write('home/config.yaml', 'learning:\n  enabled: false\n');
  const app = await stage.open();
  assert.ok((await app.doors.door.write({ ...MAKING, change: { action: 'create', content: TEXT } })).ok);
  await app.shutdown();
  return stage;
}

/** One conversation with a use for each command, after an edit if there is one. */
async function playUses(
  t: TestContext,
  stage: Stage,
  commands: readonly string[],
  { edit, price = null }: { readonly edit?: (text: string) => string; readonly price?: number | null } = {},
): Promise<void> {
  const client = createScriptedModel(commands.flatMap(use), { context: t, cost: price });
  const app = await stage.open({ extra: { client } });
  const path = join(stage.root, 'skills/deploy/SKILL.md');
  const content = edit?.(readFileSync(path, 'utf8'));
  if (content) assert.ok((await app.doors.door.write({ ...MAKING, change: { action: 'edit', content } })).ok);
  await app.doors.skills.refresh();
  const conversation = await openConversation(app);
  for (const command of commands) await play(conversation, `put it online by ${command}`);
  await app.shutdown();
}

/** Five uses of the first version, six of the second, after one of which a command of the skill failed. */
async function playEdit(t: TestContext, price: number | null): Promise<Stage> {
  const stage = await stageWithSkill(t);
  await playUses(t, stage, Array(5).fill('cat site.txt'), { price });
  await playUses(t, stage, FAILING, { price, edit: (text) => text.replace('then look', 'then look twice') });
  return stage;
}

async function measured(stage: Stage): Promise<{ readonly versions: Measured['versions']; readonly text: string }> {
  const { data, text } = await runCommand(stage, 'curator measure', { skill: 'deploy' });
  return { text, versions: (data as Measured).versions };
}

describe('measuring what edits did', () => {
  slow('uses, what worked and what it cost, on both sides of an edit', async (t) => {
    const { versions, text } = await measured(await playEdit(t, 0.01));
    assert.deepEqual(
      versions.map((row) => [row.version, row.uses, row.worked, row.verdict.verdict, row.verdict.against]),
      [
        [1, 5, 5, 'first', null],
        [2, 6, 5, 'no-clear-difference', 1],
      ],
    );
    for (const { cost, uses } of versions) {
      assert.deepEqual([cost.costed_uses, cost.tokens_per_use], [uses, 300]);
      assert.equal(cost.usd_per_use?.toFixed(6), '0.030000');
    }
    assert.match(text, /\| 0\.0300 \| 300 \|/);
  });

  slow('a price that is not known is said to be unknown', async (t) => {
    const { versions, text } = await measured(await playEdit(t, null));
    assert.deepEqual(
      versions.map(({ cost }) => [cost.usd_per_use, cost.tokens_per_use]),
      [
        [null, 300],
        [null, 300],
      ],
    );
    assert.match(text, /\| unknown \| 300 \|/);
  });

  verifies.slow(
    'curator:block:no-version',
    'a text that does worse goes back by itself, whatever was noted in it since',
    async (t) => {
      const stage = await stageWithSkill(t);
      const path = join(stage.root, 'skills/deploy/SKILL.md');
      const curate = async () => {
        const { text } = await runCommand(stage, 'curator auto-run', { applyLowRisk: true, approveAutoApply: true });
        return /- `deploy`: (\w+ \((?:reason )?[\w-]+)/.exec(text)?.[1];
      };
      await playUses(t, stage, Array(8).fill('cat site.txt'));
      assert.equal(await curate(), 'skipped (reason no-failures');
      const wrong = 'cat site.text';
      await playUses(t, stage, [wrong, wrong], { edit: (text) => text.replace('site.txt', 'site.text') });
      assert.equal(await curate(), 'applied (apply');
      assert.match(
        readFileSync(path, 'utf8'),
        /- cat: site\.text: [^\n]+ \(2 times, in step 1\)\n {2}last: \S+ terminal error: cat site\.text\n/,
      );
      await playUses(t, stage, [wrong, 'cat site.txt']);
      assert.equal(await curate(), 'applied (apply');
      assert.match(readFileSync(path, 'utf8'), / {2}worked afterwards: \S+ terminal ok: cat site\.txt\n/);
      const before = (await measured(stage)).versions.map(({ version, uses, worked }) => [version, uses, worked]);
      assert.deepEqual(before, [
        [1, 8, 8],
        [2, 4, 1],
      ]);
      await playUses(t, stage, [wrong]);
      assert.equal(readFileSync(path, 'utf8'), TEXT, 'the text of the first version, without a note');
      const { versions } = await measured(stage);
      assert.deepEqual([versions[1]?.uses, versions[1]?.verdict.verdict, versions.length], [5, 'worse', 3]);
    },
  );
});
