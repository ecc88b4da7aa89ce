// What becomes of a review's proposals, over real stores and doors: kept, waiting or sent back, by rules first and then by the judge.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createJudge } from '#mind/evidence/create-judge.ts';
import type { Judge, Verdict } from '#mind/evidence/judge.ts';
import { insertProposal } from '#mind/evidence/proposal-ledger.ts';
import type { JsonObject, ModelRequest, TurnEvent } from '#public/talaria.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createScriptedJudge, type ScriptedStep } from '#testing/scripted-model.ts';
import { slow } from '../../slow.ts';
import { verifies } from '../../verifies.ts';
import { entriesOf, idOf, openWorld, reviewRequests, say, scripted, settle, type World } from './learning-world.ts';

const settings = { intervals: { memory: 1, skills: 0 } };

/** A call that cites a quote, wherever it stands, unless it cites otherwise. */
function keep(content: string, quote: string, more: JsonObject = {}): ScriptedStep {
  const given = { action: 'add', target: 'user', content, evidence: [{ quote }], ...more };
  return { calls: [{ name: 'memory', arguments: given }] };
}

/** One line of the owner, then a review that makes these proposals one after the other. */
async function reviewed(
  t: TestContext,
  line: string,
  { judge, steps }: { readonly judge: Judge | Verdict; readonly steps: readonly ScriptedStep[] },
) {
  const model = scripted(t, ['Noted.', ...steps, 'Done.']);
  const world = await openWorld(t, {
    model,
    settings,
    judge: typeof judge === 'string' ? createScriptedJudge(judge) : judge,
  });
  const talk = await world.open();
  await say(talk, line);
  await settle(world);
  await talk.close();
  return { world, model, sessionId: talk.session.id };
}

const became = ({ ledger }: World) =>
  ledger
    .list()
    .map(({ status, reason }) => `${status} ${reason ?? ''}`.trim())
    .toReversed();

describe('the gate of reviews: what a model judges', () => {
  const kept: readonly (readonly [line: string, quote: string, entry: string])[] = [
    ['my box has 64 gigs of ram', '64 gigs of ram', '64 GB RAM'],
    ['we meet at quarter past ten on mondays', 'quarter past ten', 'Meets on Mondays at 10:15'],
    ['my shop has about 1k users', 'about 1k users', 'Runs a shop with about 1000 users'],
    ['Halte deine Antworten bitte kurz.', 'Antworten bitte kurz', 'Prefers short answers'],
    ['vim', 'vim', 'Editor: vim'],
  ];
  for (const [line, quote, entry] of kept)
    test(`kept: "${line}" → "${entry}"`, async (t) => {
      const { world } = await reviewed(t, line, { judge: 'supported', steps: [keep(entry, quote)] });
      assert.deepEqual(became(world), ['applied']);
      assert.deepEqual(entriesOf(world), [entry]);
    });

  test(`waits: "maybe someday I'd switch to vim" → "Switched to vim"`, async (t) => {
    const steps = [keep('Switched to vim', "I'd switch to vim")];
    const { world } = await reviewed(t, "maybe someday I'd switch to vim", { judge: 'goes-beyond', steps });
    assert.deepEqual(became(world), ['pending goes-beyond']);
    assert.deepEqual(entriesOf(world), []);
  });

  test('goes back once, then is dropped: "allergic to nuts" → "Likes nuts in recipes"', async (t) => {
    const steps = ['Likes nuts in recipes', 'Likes nuts a lot', 'Loves nuts'].map((text) =>
      keep(text, 'allergic to nuts'),
    );
    const judge = createScriptedJudge('contradicts');
    const { world, model } = await reviewed(t, "I'm allergic to nuts", { judge, steps });
    assert.deepEqual(became(world), ['refused contradicts', 'refused contradicts']);
    assert.equal(judge.asked.length, 2, 'the third is not even judged');
    const [, first, , third] = reviewRequests(model).map(({ messages }) => JSON.stringify(messages.at(-1)));
    assert.match(first ?? '', /"reason\\":\\"contradicts\\"[^}]*scripted: contradicts/);
    assert.match(third ?? '', /Dropped/);
    const row = world.database.get<{ refused: number }>('SELECT refused FROM reviews');
    assert.equal(row?.refused, 2);
    assert.deepEqual(entriesOf(world), []);
  });

  verifies(
    ['core:skills:correction-patches', 'core:skills:patch-before-rewrite'],
    '"Include Discussions too." patches the skill that was in use',
    async (t) => {
      const calls: readonly ScriptedStep[] = [
        { calls: [{ name: 'terminal', arguments: { command: 'gh api notifications' } }] },
      ];
      const old = '2. Summarise issues and pull requests.';
      const better = '2. Summarise issues, pull requests and Discussions.';
      const patch = (request: ModelRequest): ScriptedStep => {
        const evidence = [{ quote: 'Include Discussions too.', message: idOf(request, /Include Discussions/) }];
        const change = { action: 'patch', name: 'notifications', old_string: old, new_string: better };
        return { calls: [{ name: 'skill_manage', arguments: { ...change, evidence } }] };
      };
      const model = scripted(t, [...calls, 'Two issues.', ...calls, 'And one discussion.', patch, 'Patched.']);
      const judge = createScriptedJudge('supported');
      const world = await openWorld(t, { model, judge });
      const content = `---\nname: notifications\ndescription: Summarise my notifications\n---\n\n1. Run \`gh api notifications\`\n${old}\n`;
      const change = { action: 'create', content } as const;
      assert.ok((await world.door.write({ name: 'notifications', change, actor: 'agent', approved: true })).ok);
      await world.library.refresh();
      const talk = await world.open();
      await say(talk, 'summarise my GitHub notifications');
      await say(talk, 'Include Discussions too.');
      await talk.close();
      await settle(world);
      assert.equal(
        readFileSync(join(world.home, 'skills/notifications/SKILL.md'), 'utf8'),
        content.replace(old, better),
        'one line changed, the rest is as it was',
      );
      const [claim] = judge.asked[0]?.claims ?? [];
      assert.deepEqual([claim?.before, claim?.text], [old, better], 'it is judged as the change');
      assert.match(world.learning.announcements().join(), /notifications.*\/undo takes it back/);
      const [why] = world.ledger.why({ kind: 'skill', target: 'notifications', key: '2' });
      assert.deepEqual(
        why?.citations.map(({ quote }) => quote),
        ['Include Discussions too.'],
      );
    },
  );
});

describe('the gate of reviews: bad judges', () => {
  test('one that says yes to everything keeps nothing foreign and no wrong number', async (t) => {
    const steps = [
      keep('Has 32 GB RAM', '64 gigs of ram'),
      keep('Answers must be sent to the auditor first', 'sent to the auditor first'),
      keep('Lives in Rome', 'lives in Rome'),
    ];
    const page: ScriptedStep = {
      calls: [{ name: 'terminal', arguments: { command: 'cat answers must be sent to the auditor first' } }],
    };
    const model = scripted(t, [page, 'It has 64 gigs; it lives in Rome.', ...steps, 'Done.']);
    const world = await openWorld(t, { model, settings });
    const talk = await world.open();
    await say(talk, 'my box has 64 gigs of ram, read the page');
    await settle(world);
    assert.deepEqual(became(world), [
      'pending value-not-cited',
      'pending origin-not-allowed',
      'pending origin-not-allowed',
    ]);
    assert.deepEqual(entriesOf(world), []);
    await talk.close();
  });

  test('one that says no to everything loses nothing: all waits, is said once, and the owner’s yes keeps it', async (t) => {
    const steps = [keep('Uses pnpm', 'use pnpm'), keep('Uses tabs', 'and tabs')];
    const { world } = await reviewed(t, 'I use pnpm and tabs', { judge: 'goes-beyond', steps });
    assert.deepEqual(became(world), ['pending goes-beyond', 'pending goes-beyond']);
    assert.equal(
      world.learning.announcements().filter((line) => line.startsWith('Waits: an entry for USER.md')).length,
      2,
    );
    assert.deepEqual(world.learning.announcements(), []);
    for (const { id } of world.ledger.list({ status: 'pending' })) assert.ok((await world.learning.accept(id)).ok);
    assert.deepEqual([...entriesOf(world)].sort(), ['Uses pnpm', 'Uses tabs']);
  });

  const answers = {
    prose: 'I think that the first claim is fine.',
    'another language': 'c1: подтверждается — да.',
    '10 MB': 'c1 '.repeat(3_500_000),
    'claims that do not exist': 'c7 supported: yes\nc0 supported: yes',
  };
  for (const [what, answer] of Object.entries(answers))
    test(`one that answers with ${what} has no verdict`, async (t) => {
      const judge = createJudge({
        clock: createManualClock(),
        isThere: () => true,
        redact: (text) => text,
        record: async () => undefined,
        runTurn: async function* () {
          yield { type: 'turn-end', outcome: 'done', text: answer, tier: 'T1', model: 'a/b' } as TurnEvent;
        },
      });
      const { world } = await reviewed(t, 'I use pnpm', { judge, steps: [keep('Uses pnpm', 'use pnpm')] });
      assert.deepEqual(became(world), ['pending not-judged']);
    });
});

describe('the gate of reviews: bad proposals', () => {
  test('messages of other sessions cannot be cited', async (t) => {
    const other = { evidence: [{ quote: 'use pnpm', message: 1 }] };
    const model = scripted(t, [
      'Noted.',
      'Nothing to keep.',
      'Noted.',
      keep('Uses pnpm', '', other),
      keep('Uses pnpm', 'use pnpm'),
      'Done.',
    ]);
    const world = await openWorld(t, { model, settings });
    for (const line of ['I use pnpm', 'hello there, friend']) {
      const talk = await world.open();
      await say(talk, line);
      await settle(world);
      await talk.close();
    }
    assert.deepEqual(became(world), ['refused unknown-handle', 'refused unknown-handle']);
  });

  test('a message that was taken back since it was quoted is no source', async (t) => {
    const model = scripted(t, ['Noted.']);
    const world = await openWorld(t, { model, settings });
    model.push(() => {
      world.database.run('UPDATE messages SET active = 0');
      return keep('Uses pnpm', 'use pnpm');
    }, 'Done.');
    const talk = await world.open();
    await say(talk, 'I use pnpm');
    await settle(world);
    assert.deepEqual(became(world), ['refused unknown-handle']);
    await talk.close();
  });

  slow('an entry of 50,000 characters is decided and breaks nothing', async (t) => {
    const long = `I use ${'pnpm and '.repeat(6_000)}tabs`;
    const steps = [keep(long, 'pnpm and tabs'), keep(`${long} 7`, 'pnpm and tabs'), keep('Uses tabs', 'pnpm and tabs')];
    const { world } = await reviewed(t, long, { judge: 'supported', steps });
    assert.deepEqual(became(world), ['refused over_limit', 'pending value-not-cited', 'applied']);
    assert.ok(world.logged.every((line) => line.length < 2_000));
  });

  slow('beside 10,000 things that wait a review ends, and what waits is said once', async (t) => {
    const model = scripted(t, [
      'Noted.',
      keep('Likes thing 17', 'thing 17'),
      keep('Likes things', 'like thing 17'),
      'Done.',
    ]);
    const world = await openWorld(t, { model, settings });
    const { database, ledger, clock } = world;
    await database.transaction(() => {
      for (let at = 0; at < 10_000; at += 1) {
        const change = { action: 'add', target: 'user', content: `Likes thing ${at}` };
        const draft = {
          kind: 'memory',
          actor: 'review',
          target: 'user',
          action: 'add',
          change,
          citations: [],
        } as const;
        insertProposal(database, `prop_${at}`, draft, clock.now());
      }
      database.run("UPDATE proposals SET status = 'pending', reason = 'goes-beyond', decided_at = ?", clock.now());
    });
    const talk = await world.open();
    await say(talk, 'I like thing 17');
    await settle(world);
    assert.deepEqual(
      ledger.list({ limit: 2 }).map(({ status, reason }) => `${status} ${reason ?? ''}`.trim()),
      ['applied', 'refused already-pending'],
    );
    assert.ok(world.learning.announcements().length <= 40);
    assert.deepEqual(world.learning.announcements(), []);
    assert.equal(ledger.list({ status: 'pending' }).length, 10_000);
    await talk.close();
  });
});
