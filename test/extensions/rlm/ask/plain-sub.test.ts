/** A sub-call whose reply was of no use is asked once more, plainly. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readPlainSub } from '#extensions/rlm/ask/read-sub-reply.ts';
import { PLAIN_RULE, PLAIN_SYSTEM } from '#extensions/rlm/run/plain-prompt.ts';
import { verifies } from '../../../verifies.ts';
import type { ScriptedInner } from '../call/scripted-call.ts';
import { holds, js, playAsk } from './ask-scene.ts';

const ROOT = js(`
  const r = await llmQuery("Which port?", span(0, 80));
  finish([{text: "The gateway listens on port 8080.", handles: r.claims}]);`);
const SUB = 'ask:sub:001:001';
const LINE = 'The gateway listens on port 8080.';

async function play(first: string | { readonly refuse: 'reply_too_large' | 'timeout' }, plain?: string) {
  const script: Readonly<Record<string, ScriptedInner>> = {
    'ask:root:001': ROOT,
    [SUB]: first,
    ...(plain === undefined ? {} : { [`${SUB}:plain`]: plain }),
  };
  return playAsk({ script: ({ call_id }) => script[call_id] ?? 'I give up.' });
}

describe('rlm/ask: a sub-call whose reply was of no use', () => {
  for (const [name, first] of [
    ['prose of its own', 'The port is eighty eighty, I think.'],
    ['claims that stand nowhere', '{"answer": "80", "claims": ["It listens on 80."]}'],
    ['an object of another form', '{"schema_version": "talaria.rlm.sub.v1", "task": "x"}'],
    ['too much', { refuse: 'reply_too_large' }],
  ] as const) {
    verifies('rlm:ask:cited', `(${name}) is asked plainly, and cited where its lines stand`, async () => {
      const { outcome, requests, store } = await play(first, `Here:\n- ${LINE}\n- It is in Rome.`);
      assert.equal(outcome.verdict, 'answered');
      const again = requests.find(({ call_id }) => call_id === `${SUB}:plain`);
      assert.equal(again?.system, PLAIN_SYSTEM);
      assert.ok(again.prompt.startsWith(`${PLAIN_RULE}\n\nQuestion: Which port?\n\nText:\n# Gateway\n${LINE}`));
      const [child] = outcome.handles.filter(({ kind }) => kind === 'child');
      assert.ok(child?.kind === 'child');
      assert.deepEqual([child.text, child.call_id], [LINE, `${SUB}:plain`]);
      assert.equal(outcome.totals.calls, 3);
      await holds({ store });
    });
  }

  test('which found nothing, in form, or failed otherwise, is not asked again', async () => {
    for (const first of ['{"answer": "not in this piece", "claims": []}', { refuse: 'timeout' }] as const) {
      const { requests } = await play(first);
      assert.ok(requests.every(({ call_id }) => !call_id.includes('plain')));
    }
  });

  test('keeps its first reply when the second is no better', async () => {
    const { store, requests } = await playAsk({
      script: {
        'ask:root:001': js(
          'const r = await llmQuery("?", span(0, 80)); print(r.text, r.claims.length); finish("None.")',
        ),
        [SUB]: 'It is eighty eighty.',
        [`${SUB}:plain`]: 'No.',
        'ask:root:002': js('finish("None.")'),
        'ask:root:003': js('finish("None.")'),
      },
    });
    assert.ok(requests.some(({ call_id }) => call_id === `${SUB}:plain`));
    assert.match(JSON.stringify(store.events('ask_1')), /It is eighty eighty\./);
  });

  test('about a plain text is asked once', async () => {
    const { requests } = await playAsk({
      script: ({ call_id }) =>
        call_id.includes('sub') ? 'No idea.' : js('await llmQuery("Who?", "The owner is Zoe."); finish("None.")'),
    });
    assert.ok(requests.every(({ call_id }) => !call_id.includes('plain')));
  });

  test('a plain reply counts as far as the piece says it', () => {
    const piece = `Port: 8080 is open. ${LINE}\nTelemetry is not enabled by default.`;
    const heard = (reply: string) => readPlainSub(reply, piece).claims;
    assert.deepEqual(heard(`It says so. ${LINE} Bye for now.`), [LINE]);
    assert.deepEqual(heard('is enabled by default'), []);
    assert.deepEqual(heard(`${PLAIN_RULE}\n\nText:\n${piece}`), []);
    assert.deepEqual(heard('The gateway listens on port 80.'), []);
  });
});
