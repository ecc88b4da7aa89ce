/** What every mind keeps, whoever calls it and however it is reached: in order, as plain data, silent before its session and after its golem's death. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import type { Life } from '#fleet/golem/life.ts';
import { seen, tickOf } from '../fleet/golem/stage.ts';

export type Hooks = Life['hooks'];

/** The words of the one skill that it knows, and of nothing that it knows. */
export const KNOWN = { name: 'free-the-inodes', when: 'inode quota exhausted volume' } as const;
const UNKNOWN = 'postmaster heron tramline';
const STILL = { pleasure: 0, arousal: 0, dominance: 0 };

/** Opens a mind whose golem has lived no tick and that knows one skill, worth 0.8 after three uses, and closes it when the work is done. */
export type OpenHooks = (t: TestContext, work: (hooks: Hooks) => Promise<void>) => Promise<void>;

const sight = (text: string) => ({ tick: 1, observation: seen(text), pad: STILL, categories: ['incident'] });
const feedback = (skill?: { readonly name: string; readonly version: number }) => ({
  ...{ tool: 'sim', success: true, outcome_value: null, tick: 1, context: 'incident: drain' },
  ...(skill ? { skill } : {}),
});

/** All but those two, each with what it is asked. */
function others(hooks: Hooks): readonly (() => Promise<unknown>)[] {
  return [
    () => hooks.context(sight(KNOWN.when)),
    () => hooks.toolResult({ feedback: feedback() }),
    () => hooks.afterTurn({ record: tickOf(1, UNKNOWN, []) }),
    () => hooks.end({}),
    () => hooks.dreamOnset({ tick: 1, budget_usd: 0, phase: 'stable' }),
  ];
}

async function refuseAll(calls: readonly (() => Promise<unknown>)[], code: string): Promise<void> {
  for (const call of calls) await assert.rejects(call(), { code });
}

async function told<Value>(reply: Promise<{ value: Value; events: readonly { type: string }[]; cost: object }>) {
  const { value, events, cost } = await reply;
  assert.deepEqual(JSON.parse(JSON.stringify({ value, events, cost })), { value, events, cost });
  assert.deepEqual(cost, { usd: 0, tokens: 0 });
  return { value, events, types: events.map(({ type }) => type) };
}

export function golemHooksContract(name: string, open: OpenHooks): void {
  const opened = (work: (hooks: Hooks) => Promise<void>) => (t: TestContext) =>
    open(t, async (hooks) => {
      await hooks.session({ reason: 'start' });
      await work(hooks);
    });

  describe(`golem hooks contract: ${name}`, () => {
    test('says nothing before its session, and then counts what it knows', (t) =>
      open(t, async (hooks) => {
        await refuseAll(others(hooks), 'not-initialised');
        for (const reason of ['start', 'resume'] as const) {
          const { value, events } = await told(hooks.session({ reason }));
          assert.deepEqual([value, events], [{ count: 1 }, [{ type: 'SkillsLoaded', count: 1 }]]);
        }
      }));

    test(
      'gives what fits the words that are seen, at most three, and says which',
      opened(async (hooks) => {
        const { value, events } = await told(hooks.context(sight(KNOWN.when)));
        const [skill] = value.procedures;
        assert.ok(skill && value.procedures.length <= 3);
        assert.deepEqual([skill.name, skill.confidence, skill.isUsable], [KNOWN.name, 0.8, true]);
        assert.ok(value.query.startsWith(KNOWN.when));
        assert.deepEqual(events, [{ type: 'SkillsActivated', tick: 1, skills: [KNOWN.name] }]);
        const nothing = await told(hooks.context(sight(UNKNOWN)));
        assert.deepEqual([nothing.value.procedures, nothing.types], [[], []]);
      }),
    );

    test(
      'keeps how it went where a skill had a part in it, and drafts a way of three steps that was new',
      opened(async (hooks) => {
        const queued = async (skill?: { readonly name: string; readonly version: number }) =>
          (await told(hooks.toolResult({ feedback: feedback(skill) }))).value.queued;
        assert.deepEqual([await queued({ name: KNOWN.name, version: 1 }), await queued()], [true, false]);
        const way = ['drain', 'rotate', 'restart'];
        for (const [steps, success] of [
          [way.slice(1), true],
          [way, false],
          [way, true],
        ] as const) {
          const { value, types } = await told(hooks.afterTurn({ record: tickOf(1, UNKNOWN, steps, { success }) }));
          assert.equal(value.drafted, success && steps.length === 3);
          assert.deepEqual(types, value.drafted ? ['SkillDrafted'] : []);
        }
      }),
    );

    test(
      'works off in order what is asked at once',
      opened(async (hooks) => {
        const order: string[] = [];
        const note = (what: string) => () => void order.push(what);
        await Promise.all([
          hooks.dreamOnset({ tick: 1, budget_usd: 0, phase: 'terminal' }).then(note('dream')),
          hooks.context(sight(KNOWN.when)).then(note('context')),
          hooks.end({}).then(note('end')),
          hooks.toolResult({ feedback: feedback() }).then(note('result')),
          hooks.session({ reason: 'resume' }).then(note('session')),
        ]);
        assert.deepEqual(order, ['dream', 'context', 'end', 'result', 'session']);
      }),
    );

    test(
      'packs what is worth it, as often as a session ends; and says why it does not dream',
      opened(async (hooks) => {
        const [{ value }, again] = [await told(hooks.end({})), await told(hooks.end({}))];
        assert.ok(existsSync(value.bundle ?? '') && value.skills === 1);
        assert.deepEqual(again.value, value);
        const dream = await told(hooks.dreamOnset({ tick: 900, budget_usd: 0, phase: 'terminal' }));
        assert.ok(dream.value.refused && dream.value.created.length + dream.value.heuristics === 0);
      }),
    );

    test('leaves one testament, without a session too, and says nothing any more', (t) =>
      open(t, async (hooks) => {
        const { value, types } = await told(hooks.death({ tick: 7, cause: 'age' }));
        assert.ok(existsSync(value.path) && value.skills === 1);
        assert.deepEqual(types, ['DeathSkillExport']);
        const again = await told(hooks.death({ tick: 9, cause: 'owner-kill' }));
        assert.deepEqual([again.value, again.types], [value, []]);
        await refuseAll([...others(hooks), () => hooks.session({ reason: 'start' })], 'dead-golem');
      }));
  });
}
