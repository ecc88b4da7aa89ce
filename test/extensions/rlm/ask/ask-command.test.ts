/** `talaria rlm ask` as it is typed and shown. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { askCommands } from '#extensions/rlm/commands/ask-command.ts';
import type { CommandOutput, CommandSpec } from '#public/talaria.ts';
import { createScriptedJudge } from '#testing/scripted-model.ts';
import { verifies } from '../../../verifies.ts';
import { type AskGround, askGround } from './ask-ground.ts';
import { js, NOTES } from './ask-scene.ts';

const ANSWER = js(`
  const h = span(context.search("port")[0]);
  const n = compute((all) => all.search("ERROR", {max: 1000}).length, context);
  finish([
    {text: "The gateway listens on port 8080.", handles: [h]},
    {text: "There are 20 lines with ERROR.", handles: [n]},
    {text: "Its host is Paris.", handles: [h]},
  ])`);

async function typed(
  place: AskGround,
  input: Record<string, unknown>,
  terminal = false,
): Promise<readonly CommandOutput[]> {
  const [command] = askCommands(place.ground) as unknown as readonly CommandSpec<unknown>[];
  assert.ok(command !== undefined);
  const outputs: CommandOutput[] = [];
  const ask = terminal ? { ask: async () => '' } : {};
  const context = { cwd: place.cwd, signal: new AbortController().signal, ...ask };
  for await (const output of command.run(command.input.parse(input), context)) outputs.push(output);
  return outputs;
}

function shown(outputs: readonly CommandOutput[]): string {
  return outputs
    .map((one) => (one.type === 'line' ? one.text : one.type === 'failure' ? `${one.exitCode} ${one.code}` : ''))
    .join('\n');
}

function placeWith(t: TestContext, answer = ANSWER): AskGround {
  const place = askGround(t, () => answer);
  place.write('notes.md', NOTES);
  return place;
}

const asked = { context: 'notes.md', question: ['Which', 'port?'] };

describe('rlm ask', () => {
  verifies.slow(
    ['rlm:ask:cited', 'rlm:ask:gaps'],
    'cited sentences with their places, the rest apart, what was not read',
    async (t) => {
      const text = shown(await typed(placeWith(t), asked));
      assert.match(
        text,
        /^The gateway listens on port 8080\.\n {4}quoted: notes\.md:2\nThere are 20 lines with ERROR\.\n {4}values of code; [^\n]+\n {6}value {2}20\n {6}by: [^\n]+\nIts host is Paris\.\n {4}NOT SUPPORTED: no model to read it\n {4}notes\.md:2 {2}"The gateway[^\n]+\n\nRead [\d.]+ % of \d+ bytes; the rest was only searched by code\.\n/,
      );
      assert.match(text, /talaria rlm show ask_\d{14}_[0-9a-f]{8}/);
      assert.doesNotMatch(text, /verif/i);
    },
  );

  test('strictly: quotations and computed values, the rest counted', async (t) => {
    const outputs = await typed(placeWith(t), { ...asked, strict: true });
    assert.match(
      shown(outputs),
      /quoted: notes[\s\S]+value {2}20[\s\S]+\nLeft out: 1 sentence that no line says word for word\.\n/,
    );
    assert.doesNotMatch(JSON.stringify(outputs), /Paris/);
    const nothing = await typed(placeWith(t, '{"answer": "It is a gateway."}'), { ...asked, strict: true });
    assert.match(
      shown(nothing),
      /^\nLeft out: 1 sentence that no line says word for word\.\n[\s\S]*3 ask-unsupported$/,
    );
  });

  test('what a model read is shown as read by it, with its lines; the judge is not asked by strictness or by rules', async (t) => {
    const place = placeWith(
      t,
      js('finish([{text: "It answers at 8080.", handles: [span(context.search("port")[0])]}])'),
    );
    const judge = createScriptedJudge('supported');
    const ground = { ...place.ground, open: async () => ({ ...place.mind, judge }) };
    const text = shown(await typed({ ...place, ground }, asked));
    assert.match(
      text,
      /^It answers at 8080\.\n {4}read by scripted\/judge: scripted: supported\n {4}notes\.md:2 {2}"The gateway/,
    );
    assert.equal(judge.asked.length, 1);
    assert.match(judge.asked[0]?.policy.subject ?? '', /^ask_/);
    for (const other of [{ strict: true }, { family: 'reflex' }])
      await typed({ ...place, ground }, { ...asked, ...other });
    assert.equal(judge.asked.length, 1);
  });

  test('nothing that counts is exit 3, a model that fails exit 1', async (t) => {
    const unsupported = await typed(placeWith(t, '{"answer": [{"text": "It is 9999.", "handles": ["h9"]}]}'), asked);
    assert.match(
      shown(unsupported),
      /^It is 9999\.\n {4}NOT SUPPORTED: there is no handle h9\n[\s\S]*3 ask-unsupported$/,
    );
    assert.match(shown(await typed(placeWith(t, 'It is 8080, surely.'), asked)), /3 ask-unsupported$/);
    assert.match(shown(await typed(placeWith(t, js('print(1)')), asked)), /3 ask-no-answer$/);
  });

  test('without trace nothing is kept', async (t) => {
    assert.match(shown(await typed(placeWith(t), { ...asked, trace: false })), /Nothing of the run is kept\.$/m);
  });

  test('what is typed wrongly', async (t) => {
    const place = placeWith(t);
    const end = async (input: Record<string, unknown>, terminal?: boolean) =>
      shown(await typed(place, input, terminal));
    assert.equal(await end({ question: ['x'] }), '2 context-missing');
    assert.equal(await end({ context: 'notes.md' }), '2 question-missing');
    assert.equal(await end({ context: '-', question: ['x'] }, true), '2 context-terminal');
    assert.equal(await end({ context: 'none.md', question: ['x'] }), '1 context-not-found');
    assert.equal(await end({ ...asked, maxSteps: 1.5 }), '2 limit-out-of-range');
    assert.equal(await end({ ...asked, family: 'nobody' }), '2 rlm-family-unknown');
  });
});
