/** The tool in a whole turn of the composed agent: the model asks for it, inner calls answer beside the session, the model goes on. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { createStage, openConversation, play } from '../../../surfaces/app/app-fixture.ts';
import { verifies } from '../../../verifies.ts';

const TEXT = `${'Gulls circled above the pier all day.\n'.repeat(2_000)}The harbour opens at six.\n`;
const CODE =
  "```js\nconst [hit] = context.search('harbour opens');\nfinish([{ text: 'It opens at six.', handles: [span(hit)] }]);\n```";
const call: ScriptedStep = {
  calls: [{ name: 'recursive_read', arguments: { path: 'log.txt', question: 'When does the harbour open?' } }],
};

describe('rlm/tool: recursive_read in a turn', () => {
  verifies(
    ['rlm:run:opt-in', 'rlm:run:inner-bounded'],
    'inner calls stand beside the session, with their own purpose, and the answer comes back as a result',
    async (t) => {
      const model = createScriptedModel([call, CODE, 'c1: supported: the line says it.', 'At six.'], { context: t });
      const stage = createStage(t);
      writeFileSync(join(stage.cwd, 'log.txt'), TEXT);
      const app = await stage.open({ toolsets: ['default', 'rlm'], extra: { client: model } });
      const { events, end } = await play(await openConversation(app), 'When does the harbour open?');
      assert.equal(end.text, 'At six.');
      const result = events.find((event) => event.type === 'tool-end');
      assert.ok(result?.type === 'tool-end' && !result.result.isError, JSON.stringify(result));
      assert.match(
        JSON.stringify(result.result),
        /It opens at six\.\\n {4}read by \S+: the line says it\..*log\.txt:2001/s,
      );
      const purposes = model.requests.map(({ purpose }) => purpose);
      assert.deepEqual(purposes, ['answer', 'recurse', 'judge', 'answer']);
      assert.deepEqual(model.requests[1]?.tools, []);
      assert.equal(model.requests[3]?.system, model.requests[0]?.system, 'the prefix of the session changed');
      assert.ok(existsSync(join(stage.root, 'rlm', 'runs.sqlite')));
      const spent = (await app.doors.sessions.costs({})).map(({ purpose }) => purpose).sort();
      assert.deepEqual([...new Set(spent)], ['answer', 'judge', 'recurse']);
    },
  );

  test('an inner call that asks for it is refused, and nothing is read', async (t) => {
    const model = createScriptedModel([call, call, ...Array.from({ length: 20 }, () => CODE)]);
    const stage = createStage(t);
    writeFileSync(join(stage.cwd, 'log.txt'), TEXT);
    const app = await stage.open({ toolsets: ['default', 'rlm'], extra: { client: model } });
    const { events } = await play(await openConversation(app), 'When does the harbour open?');
    assert.equal(events.filter((event) => event.type === 'tool-start').length, 1);
    for (const { tools } of model.requests.filter(({ purpose }) => purpose === 'recurse')) assert.deepEqual(tools, []);
  });

  test('a session has it when the configuration names its toolset, and not by default', async (t) => {
    const stage = createStage(t);
    const has = async () => (await (await stage.open()).tools()).tools.some(({ name }) => name === 'recursive_read');
    assert.equal(await has(), false);
    stage.temp.write('home/config.yaml', 'toolsets: [default, rlm]\n');
    assert.equal(await has(), true);
  });

  test('config.yaml takes it away', async (t) => {
    const stage = createStage(t);
    await (await stage.open()).shutdown();
    writeFileSync(
      join(stage.root, 'config.yaml'),
      'version: 1\ntoolsets: [default, rlm]\nrlm:\n  recursive_read:\n    enabled: false\n',
    );
    const app = await stage.open();
    assert.ok(!(await app.tools()).tools.some(({ name }) => name === 'recursive_read'));
  });
});
