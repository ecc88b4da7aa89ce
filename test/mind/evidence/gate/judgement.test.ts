// What is kept of labelled proposals, by four judges: one that knows the labels, one that always says yes, one that always says no, none.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Held, weighProposal } from '#mind/evidence/gate/weigh-proposal.ts';
import { type Judge, noJudge } from '#mind/evidence/judge/judge.ts';
import { createScriptedJudge } from '#testing/scripted-judge.ts';
import { draftOf, type Item, labelledItems, storedConversation } from './labelled-items.ts';

const ITEMS = [...labelledItems('memory'), ...labelledItems('patches'), ...labelledItems('skills')];
const HONEST = ITEMS.filter(({ honest }) => honest);
const WRONG = ITEMS.filter(({ honest }) => !honest);

async function weigh(item: Item, judge: Judge): Promise<Held | undefined> {
  const messages = storedConversation(item.conversation);
  const before = item.skill === undefined ? {} : { before: [item.skill.body] };
  return weighProposal({ judge }, { draft: draftOf(item, messages), subject: item.id, messages, ...before });
}

async function kept(items: readonly Item[], judgeOf: (item: Item) => Judge): Promise<readonly string[]> {
  const found: string[] = [];
  for (const item of items) if ((await weigh(item, judgeOf(item))) === undefined) found.push(item.id);
  return found;
}

const oracle = ({ verdict }: Item) => createScriptedJudge(verdict);
const yes = () => createScriptedJudge('supported');
const no = () => createScriptedJudge('goes-beyond');

describe('labelled proposals', () => {
  test('a judge that knows the labels keeps at least 97 % of the honest ones and none of the wrong', async () => {
    const found = new Set(await kept(HONEST, oracle));
    const lost = HONEST.filter(({ id }) => !found.has(id));
    const share = found.size / HONEST.length;
    assert.ok(share >= 0.97, `${found.size} of ${HONEST.length}: ${lost.map(({ id }) => id).join(', ')}`);
    assert.deepEqual(await kept(WRONG, oracle), []);
  });

  test('a judge that says yes to everything keeps nothing foreign, no wrong value and no missing quote', async () => {
    const held = WRONG.filter(
      ({ wrong }) => wrong === 'foreign-origin' || wrong === 'hard-value' || wrong === 'quote-missing',
    );
    assert.deepEqual(await kept(held, yes), []);
  });

  test('a judge that says no to everything keeps nothing, and nothing honest is lost: all of it waits', async () => {
    assert.deepEqual(await kept(ITEMS, no), []);
    for (const item of HONEST) assert.equal((await weigh(item, no()))?.decision, 'pending', item.id);
  });

  test('without a model nothing is kept but whole words of the owner', async () => {
    const found = await kept(ITEMS, () => noJudge);
    for (const item of ITEMS.filter(({ id }) => found.includes(id)))
      assert.ok(
        item.conversation.some(({ from, text }) => from === 'owner' && text?.includes(item.entry ?? '?')),
        item.id,
      );
  });
});
