/** Several models for one question: who is asked, what the one that weighs sees, and what is told. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type ServerStep, startScriptedServer } from '#testing/scripted-server.ts';
import { createStage, openConversation, play } from '../../surfaces/app/app-fixture.ts';
import { verifies } from '../../verifies.ts';

async function ask(t: TestContext, proposers: readonly string[], answers: readonly ServerStep[], aggregator = '') {
  const call = { calls: [{ name: 'mixture_of_agents', arguments: { question: 'Is it so?' } }] };
  const model = await startScriptedServer([call, ...answers, 'over'], { context: t, models: ['a', 'b', 'c', 'main'] });
  const stage = createStage(t);
  mkdirSync(stage.root, { recursive: true });
  const lines = [
    `model: {default: main, base_url: "${model.baseUrl}"}`,
    'toolsets: [mixture]',
    `providers: {p: {base_url: "${model.baseUrl}"}}`,
    `mixture: {proposers: ${JSON.stringify(proposers)}${aggregator && `, aggregator: ${aggregator}`}}`,
  ];
  writeFileSync(join(stage.root, 'config.yaml'), lines.join('\n'));
  const talk = await openConversation(await stage.open());
  const turn = await play(talk, 'ask them');
  const bodies = model.requests.map(({ body }) => body);
  return { turn, bodies, told: JSON.stringify(bodies.at(-1)) };
}

verifies(['R5.166'], 'two models answer, a third brings them together without their names', async (t) => {
  const { bodies, told } = await ask(t, ['p/a', 'p/b'], ['yes', 'no', 'It depends.']);
  assert.deepEqual(
    bodies.map(({ model }) => model),
    ['main', 'a', 'b', 'main', 'main'],
  );
  const weighed = JSON.stringify(bodies[3]?.messages);
  assert.match(weighed, /Answer 1:.*Answer 2:/);
  assert.doesNotMatch(weighed, /p\/a|p\/b/);
  assert.match(told, /It depends\..*Asked: p\/a, p\/b; brought together by .*main; cost /);
});

verifies(['R5.166'], 'one that fails is left out and named; fewer than two is refused', async (t) => {
  const { told, bodies } = await ask(t, ['p/a', 'p/b'], ['yes', { status: 400 }]);
  assert.equal(bodies.length, 4);
  assert.match(told, /Fewer than two models answered.*p\/b did not answer/);
});

verifies(
  ['R5.166'],
  'of three one fails: two are weighed by the model that is set, which says where they differ',
  async (t) => {
    const answers = ['yes', { status: 400 }, 'no', 'Some of each.'];
    const { told, bodies } = await ask(t, ['p/a', 'p/b', 'p/c'], answers, 'p/c');
    assert.equal(bodies[4]?.model, 'c');
    const weighed = JSON.stringify(bodies[4]?.messages);
    assert.match(weighed, /Where they differ/);
    const parts = [...weighed.matchAll(/Answer (\d):\\n(\w+)/g)].map(([, at, text]) => [at, text]);
    assert.deepEqual(
      parts.map(([at]) => at),
      ['1', '2'],
    );
    assert.deepEqual(parts.map(([, text]) => text).sort(), ['no', 'yes']);
    assert.match(told, /Some of each\..*Asked: p\/a, p\/c; brought together by p\/c; cost .*p\/b did not answer: /);
  },
);
