/** The seed's story with a language model (seed 001 ch 11 to 13): a task, a review, a yes; a use, a correction, a patch; a use of the patch. */
import assert from 'node:assert/strict';
import { describe, type TestContext } from 'node:test';
import { parseJsonObject } from '#base/json.ts';
import { messageText } from '#core/model/message.ts';
import type { ModelRequest } from '#core/model/model-client.ts';
import { readSteps } from '#mind/learning/procedure/steps.ts';
import { createScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { answerOf, commandsOf, openWorld, say, type World } from '../mind/learning/learning-world.ts';
import { verifies } from '../verifies.ts';

const SORT = ['gh auth status', 'gh api notifications', 'jq -f pulls.jq', 'jq -f issues.jq', 'jq -f digest.jq'];
const DISCUSSIONS = 'gh api graphql -f query=discussions';

const SKILL = `---
name: github-digest
description: Sort GitHub notifications into a digest
---

# github-digest

## When to use

When the owner asks to sort the GitHub notifications.

## Steps

${SORT.map((command, index) => `${index + 1}. Run \`${command}\``).join('\n')}

## Constraints

- Use \`gh api notifications\`: plain \`gh notifications\` fails.
`;

const run = (command: string): ScriptedStep => ({ calls: [{ name: 'terminal', arguments: { command } }] });

/** The id under which the review lists the newest message that fits. */
function idOf(request: ModelRequest, pattern: RegExp): number {
  const text = request.messages.map(messageText).join('\n');
  const line = text.split('\n').findLast((one) => /^#\d+ /.test(one) && pattern.test(one));
  return Number(/^#(\d+)/.exec(line ?? '')?.[1]);
}

function proposeSkill(request: ModelRequest): ScriptedStep {
  const steps = SORT.map((command) => ({
    message_id: idOf(request, new RegExp(`assistant: .*${command}`)),
    quote: `Ran terminal. command: ${command}`,
  }));
  const owner = { message_id: idOf(request, /user: sort my/), quote: 'sort my GitHub notifications into a digest' };
  const failed = { message_id: idOf(request, /gh notifications FAIL/), quote: 'cannot gh notifications FAIL' };
  const evidence = [owner, failed, ...steps];
  return {
    calls: [{ name: 'skill_manage', arguments: { action: 'create', name: 'github-digest', content: SKILL, evidence } }],
  };
}

function proposePatch(request: ModelRequest): ScriptedStep {
  const evidence = [
    { message_id: idOf(request, /user: Include Discussions/), quote: 'Include Discussions too' },
    { message_id: idOf(request, /assistant: .*graphql/), quote: `Ran terminal. command: ${DISCUSSIONS}` },
  ];
  const patch = {
    old_string: '5. Run `jq -f digest.jq`',
    new_string: `5. Run \`${DISCUSSIONS}\`\n6. Run \`jq -f digest.jq\``,
  };
  return {
    calls: [{ name: 'skill_manage', arguments: { action: 'patch', name: 'github-digest', ...patch, evidence } }],
  };
}

/** A model that does what the skill says: the next command of it that was not run since it was viewed. */
function follow(request: ModelRequest): ScriptedStep {
  const at = request.messages.findLastIndex(
    (message) => message.role === 'tool' && message.parts[0].name === 'skill_view',
  );
  const viewed = parseJsonObject(messageText(request.messages[at] as never));
  const steps = readSteps(String(viewed.ok ? viewed.value.content : '')).map(({ step }) => step);
  const done = request.messages.slice(at + 1).filter(({ role }) => role === 'tool').length;
  const next = steps[done];
  return next?.kind === 'call' ? { calls: [{ name: next.tool, arguments: next.arguments }] } : 'Here is the digest.';
}

const VIEW: ScriptedStep = { calls: [{ name: 'skill_view', arguments: { name: 'github-digest' } }] };

async function settle(world: World): Promise<void> {
  await world.background.settled();
  assert.deepEqual(world.background.failures, []);
}

/** Every session is a process of its own: nothing but the home is shared. */
async function inProcess(
  t: TestContext,
  { home, steps }: { readonly home?: string; readonly steps: readonly ScriptedStep[] },
  body: (world: World) => Promise<void>,
): Promise<string> {
  const world = openWorld(t, {
    ...(home === undefined ? {} : { home }),
    model: createScriptedModel(steps, { context: t }),
  });
  await body(world);
  await settle(world);
  await world.close();
  return world.home;
}

describe('learning, start to end', () => {
  verifies(
    [
      'core:skills:confirm-create-and-delete',
      'core:skills:correction-patches',
      'core:skills:next-conversation',
      'core:skills:patch-before-rewrite',
    ],
    'a task becomes a skill after the yes, a correction patches it, the next session follows the patch; why shows the messages',
    async (t) => {
      const task = [
        run('gh notifications FAIL'),
        ...SORT.map(run),
        'Two pull requests, one issue.',
        proposeSkill,
        'Proposed.',
      ];
      const home = await inProcess(t, { steps: task }, async (world) => {
        const talk = await world.open();
        await say(talk, 'sort my GitHub notifications into a digest');
        await talk.close();
        await settle(world);
        const [offer] = world.learning.offers();
        assert.match(offer?.line ?? '', /^New skill "github-digest" \(\d steps: .*\)\?$/);
        const kept = await world.learning.accept(offer?.id ?? '');
        assert.deepEqual(kept, { ok: true, value: 'Kept the new skill github-digest' });
      });

      const correction = [
        VIEW,
        ...SORT.map(() => follow),
        follow,
        run(DISCUSSIONS),
        'With discussions now.',
        proposePatch,
        'Patched.',
      ];
      await inProcess(t, { home, steps: correction }, async (world) => {
        const talk = await world.open();
        assert.deepEqual(commandsOf(await say(talk, 'check GitHub')), SORT);
        await say(talk, 'Include Discussions too.');
        await talk.close();
        await settle(world);
        assert.deepEqual(world.learning.offers(), [], 'a patch of its own skill asks nobody');
        assert.deepEqual(world.learning.announcements(), [
          `Patched the skill github-digest: "5. Run \`${DISCUSSIONS}\`" · /undo takes it back`,
        ]);
      });

      const patched = [...SORT.slice(0, 4), DISCUSSIONS, 'jq -f digest.jq'];
      await inProcess(t, { home, steps: [VIEW, ...patched.map(() => follow), follow] }, async (world) => {
        const talk = await world.open();
        const events = await say(talk, 'check GitHub');
        assert.deepEqual(commandsOf(events), patched, 'the correction need not be said again');
        assert.equal(answerOf(events), 'Here is the digest.');
        const why = (version: string) => world.ledger.why({ kind: 'skill', target: 'github-digest', key: version });
        const [created] = why('1');
        assert.ok(created?.citations.some(({ text }) => text?.includes('sort my GitHub notifications into a digest')));
        const [changed] = why('2');
        assert.ok(changed?.citations.some(({ text }) => text === 'Include Discussions too.'));
        await talk.close();
      });
    },
  );
});
