// One stretch of a conversation is flushed once, whatever becomes of the compression behind it.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Conversation } from '#core/agent/conversation.ts';
import { openWorld, say, type World } from '../learning-world.ts';
import { scripted } from '../release-script.ts';

const settings = { intervals: { memory: 0, skills: 0 } };

async function beforeCompression(world: World, talk: Conversation): Promise<void> {
  const flush = world.learning.hooks.find(({ name }) => name === 'flush');
  const info = { sessionId: talk.session.id, source: 'cli', cwd: '/' };
  await flush?.beforeCompress?.(info, talk.history, new AbortController().signal);
}

describe('the flush before a compression', () => {
  test('is not paid for again while little is new, also after a restart, and is when much is', async (t) => {
    const model = scripted(t, ['Good to know.', 'Nothing to keep.']);
    const flushes = () => model.requests.filter(({ purpose }) => purpose === 'flush').length;
    const world = openWorld(t, { model, settings });
    const talk = await world.open();
    await say(talk, 'For the record: the staging server is called bluebird.');
    await beforeCompression(world, talk);
    await beforeCompression(world, talk);
    assert.equal(flushes(), 1);
    model.push('Yes.', 'Yes.');
    await say(talk, 'one more line');
    await say(talk, 'and another one');
    await beforeCompression(world, talk);
    assert.equal(flushes(), 1);
    await talk.close();
    await world.close();

    const next = openWorld(t, { home: world.home, model, settings });
    const resumed = await next.open('cli', talk.session.id);
    await beforeCompression(next, resumed);
    assert.equal(flushes(), 1);
    model.push('A long story.', 'Nothing to keep.');
    await say(resumed, 'a word and then some more of them '.repeat(4_000));
    await beforeCompression(next, resumed);
    await beforeCompression(next, resumed);
    assert.equal(flushes(), 2);
    await resumed.close();
  });

  test('that failed is tried again', async (t) => {
    const model = scripted(t, ['Good to know.', { error: 'model-unreachable' }, 'Nothing to keep.']);
    const world = openWorld(t, { model, settings });
    const talk = await world.open();
    await say(talk, 'For the record: the staging server is called bluebird.');
    await beforeCompression(world, talk);
    await beforeCompression(world, talk);
    assert.equal(model.requests.filter(({ purpose }) => purpose === 'flush').length, 2);
    await talk.close();
  });
});
