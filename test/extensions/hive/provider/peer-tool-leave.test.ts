// What the tools ask the owner: no message to whom the owner's line does not name, nobody introduced without a yes to the very words.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { parseJson } from '#base/json.ts';
import { type Message, userMessage } from '#core/model/message.ts';
import { NEVER, said, summaryOf } from '../../../contract/hive/hive-transport-ground.ts';
import { verifies } from '../../../verifies.ts';
import { bobsWorld, type HiveTalk, idOf, introduceMore, talkOf, toolContext, toolOf } from './hive-talk.ts';

const CAROL = 'hermes-of-carol';
const BOTH = { peer_a: 'hermes-of-alice', peer_b: CAROL };

describe('peer tools: what the owner is asked', () => {
  const foreign = (text: string): Message => ({
    role: 'user',
    parts: [
      { type: 'text', text, origin: 'foreign', label: 'context' },
      { type: 'text', text: `${text} from a pipe`, origin: 'owner', label: 'stdin' },
      { type: 'text', text: 'what is the weather?', origin: 'owner' },
    ],
  });
  const riskOf = async (
    talk: HiveTalk,
    history: readonly Message[],
    args: JsonObject,
    name = 'hivemind_send_to_peer',
  ) => {
    const tool = toolOf(talk.provider, name);
    return tool.risk?.(tool.input.parse(args) as never, toolContext(history));
  };

  test('a message to a peer whom the line of this turn does not name', async () => {
    const { talk } = await bobsWorld();
    await talk.line('hello there');
    const args = { peer: CAROL, message: 'a\u001b[31mb\nc' };
    const asks: readonly (readonly Message[])[] = [
      [],
      [foreign(`tell ${CAROL}: hello`)],
      [userMessage(`tell ${CAROL}: hello`), userMessage('and what is the weather?')],
      [userMessage('tell hermes-of-caroline: hello')],
      [userMessage('tell very-hermes-of-carol: hello')],
      [userMessage('tell hermes-of-carol@elsewhere: hello')],
      [userMessage('tell @hermes-of-carol:elsewhere.org hello')],
      [{ role: 'assistant', model: 'm', parts: [{ type: 'text', text: CAROL, origin: 'model' }] }],
    ];
    for (const history of asks)
      assert.deepEqual(await riskOf(talk, history, args), {
        level: 'ask',
        reason: 'sends a message to a peer that your line does not name',
        key: `send-peer:${idOf('carol')}`,
        preview: `to ${idOf('carol')}:\nab\nc`,
      });
    const named = [
      `tell ${CAROL}: hello`,
      `Write to ${CAROL}.`,
      `send ${idOf('carol')} what you found`,
      `read the report, then send it to ${idOf('carol')}`,
      `ask ${CAROL.toUpperCase()}, please`,
    ];
    for (const line of named) assert.equal((await riskOf(talk, [userMessage(line)], args))?.level, 'none', line);
    const steered: Message = {
      role: 'user',
      parts: [{ type: 'text', text: 'do it', origin: 'owner', label: 'steer' }],
    };
    assert.equal((await riskOf(talk, [userMessage(`tell ${CAROL}`), steered], args))?.level, 'none');
  });

  test('a plain word is a name only where somebody is addressed to whom the owner wrote before', async () => {
    const { talk, hub } = await bobsWorld();
    await introduceMore(hub, ['carol@localhost', 'you@localhost', 'production@localhost']);
    await talk.line('hello there');
    const ask = async (peer: string, line: string) =>
      (await riskOf(talk, [userMessage(line)], { peer, message: 'm' }))?.level;
    const addressed = ['tell carol hi', 'send this to carol', 'please write to Carol', 'ask "carol": are you in?'];
    for (const line of addressed) assert.equal(await ask('carol', line), 'ask', line);
    for (const peer of ['carol', 'you', 'production'])
      assert.deepEqual((await talk.call('hivemind_send_to_peer', { peer, message: 'first' })).json, {
        sent: true,
        to: peer,
      });
    for (const line of addressed) assert.equal(await ask('carol', line), 'none', line);
    for (const line of [
      'sing a carol for me',
      'a christmas carol is nice',
      'carol: hi there',
      'hey @carol, are you in?',
      'let carol know',
      'text carol',
      'update carol',
      'sit down with carol',
      'me and carol',
    ])
      assert.equal(await ask('carol', line), 'ask', line);
    assert.equal(await ask('you', 'thank you, tell you what, send it to you'), 'ask');
    assert.equal(await ask('production', 'is it in production yet?'), 'ask');
  });

  verifies('R4.31', 'an introduction, with every word that both will read, unless the line orders it', async () => {
    const { talk, carol, bob } = await bobsWorld();
    await talk.line('hello there');
    const name = 'hivemind_introduce_peers';
    const args = { ...BOTH, reason: 'audits' };
    const asked = {
      level: 'ask',
      reason: 'introduces two peers to each other',
      key: `introduce-peers:${idOf('alice')} ${idOf('carol')}`,
      preview: [
        `introduce ${idOf('alice')} and ${idOf('carol')}; both will read:`,
        `About ${idOf('alice')}: Alice knows people`,
        `About ${idOf('carol')}: Carol specializes in TEE attestation`,
        'Why: audits',
      ].join('\n'),
    };
    for (const line of [
      'yes',
      `what do you think of hermes-of-alice and ${CAROL}?`,
      `should I introduce hermes-of-alice and ${CAROL}?`,
      `do not introduce hermes-of-alice and ${CAROL}`,
      `introduce ${CAROL} to somebody`,
    ])
      assert.deepEqual(await riskOf(talk, [userMessage(line)], args, name), asked, line);
    for (const line of [`introduce hermes-of-alice and ${CAROL}`, `could you connect ${CAROL} with hermes-of-alice?`])
      assert.equal((await riskOf(talk, [userMessage(line)], args, name))?.level, 'none', line);
    const refused = await talk.call(name, args, false);
    assert.equal(refused.output, undefined);
    await carol.refresh(NEVER);
    assert.equal(said(await carol.messages(idOf('alice'), {}, NEVER).catch(() => []), carol, idOf('alice')).length, 0);
    assert.deepEqual(bob.sparks(), []);
  });

  verifies('R4.31', 'what was shown is what is sent, whatever was learned meanwhile', async () => {
    const { talk, bob, hub } = await bobsWorld();
    await introduceMore(hub, [idOf('dave'), idOf('erin')]);
    await bob.refresh(NEVER);
    await talk.line('hello there');
    const tool = toolOf(talk.provider, 'hivemind_introduce_peers');
    const input = tool.input.parse({ peer_a: 'hermes-of-dave', peer_b: 'hermes-of-erin' }) as never;
    const context = toolContext(talk.history);
    const risk = tool.risk?.(input, context);
    assert.ok(risk?.level === 'ask' && risk.preview.includes(`About ${idOf('dave')}: context`));
    await bob.keepSummary(idOf('dave'), summaryOf('x', { summary_text: 'never shown to the owner' }), NEVER);
    await talk.line('another turn brings it');
    assert.deepEqual(tool.risk?.(input, context), risk);
    const output = await tool.run(input, context, NEVER);
    assert.ok(parseJson(output.text).ok && output.isError === undefined);
    const erin = hub.join(idOf('erin'));
    await erin.refresh(NEVER);
    const told = (await erin.messages(idOf('dave'), {}, NEVER)).map(({ text }) => text);
    assert.deepEqual(told, [`About ${idOf('erin')}: context`, `About ${idOf('dave')}: context`]);
  });

  test('what could not be weighed because nobody was known yet is not done', async () => {
    const { hub } = await bobsWorld();
    const talk = talkOf(async () => hub.join(idOf('bob')));
    const first = await talk.call('hivemind_introduce_peers', BOTH);
    assert.match(first.output?.text ?? '', /try again now/);
    const { risk, json } = await talk.call('hivemind_introduce_peers', BOTH);
    assert.deepEqual([risk.level, (json as JsonObject).introduced], ['ask', true]);
  });
});
