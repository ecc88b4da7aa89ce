/** Real turns that use a skill, an edit between them: `curator measure` counts both sides. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { createScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { createStage, openConversation, play, runCommand, type Stage } from '../../surfaces/app/app-fixture.ts';

const TEXT = '---\nname: deploy\ndescription: Put the site online.\n---\n\nRun the script, then look.\n';

/** The skill is read, then work is done by it. */
const USE: readonly ScriptedStep[] = [
  { calls: [{ name: 'skill_view', arguments: { name: 'deploy' } }], usage: { inputTokens: 90, outputTokens: 10 } },
  { calls: [{ name: 'todo', arguments: {} }], usage: { inputTokens: 90, outputTokens: 10 } },
  { reply: 'It is online.', usage: { inputTokens: 90, outputTokens: 10 } },
];

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

const SECOND = ['put it online', 'no, that is wrong, do it again', 'and again', 'and again', 'and again', 'more'];

/** Five uses of the first version, six of the second, one of them taken back. */
async function playEdit(t: TestContext, price: number | null): Promise<Stage> {
  const stage = createStage(t);
  const steps = Array.from({ length: 5 + SECOND.length }, () => USE).flat();
  const app = await stage.open({ extra: { client: createScriptedModel(steps, { context: t, cost: price }) } });
  const write = { name: 'deploy', actor: 'owner', approved: true } as const;
  assert.ok((await app.skills.door.write({ ...write, change: { action: 'create', content: TEXT } })).ok);
  await app.skills.library.refresh();
  const conversation = await openConversation(app);
  for (let turn = 0; turn < 5; turn += 1) await play(conversation, 'put it online');
  const content = TEXT.replace('then look', 'then look twice');
  assert.ok((await app.skills.door.write({ ...write, change: { action: 'edit', content } })).ok);
  for (const line of SECOND) await play(conversation, line);
  await app.shutdown();
  return stage;
}

async function measured(stage: Stage): Promise<{ readonly versions: Measured['versions']; readonly text: string }> {
  const { data, text } = await runCommand(stage, 'curator measure', { skill: 'deploy' });
  return { text, versions: (data as Measured).versions };
}

describe('measuring what edits did', () => {
  test('uses, what worked and what it cost, on both sides of an edit', async (t) => {
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

  test('a price that is not known is said to be unknown', async (t) => {
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
});
