/** The tool with its engine: a real file, the real sandbox and store, a scripted model behind the turn; and the same with reflex alone. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { isJsonObject, parseJsonObject } from '#base/json.ts';
import { messageText } from '#core/model/message.ts';
import { answerByAsking } from '#extensions/rlm/ask/ask-question.ts';
import { recursiveReadTool } from '#extensions/rlm/recursive-read-tool.ts';
import { openTraceStore } from '#extensions/rlm/trace/trace-store.ts';
import { noJudge } from '#mind/evidence/judge.ts';
import type { Ground, ModelRequest } from '#public/talaria.ts';
import type { App } from '#surfaces/app/app.ts';
import { readConfigSection } from '#surfaces/app/home/config.ts';
import { createScriptedModel, type ScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { makeToolPlace, type ToolPlaceForTest } from '../../../core/tools/place.ts';
import { testGround } from '../../../ground.ts';
import { slow } from '../../../slow.ts';
import { createStage, type Stage } from '../../../surfaces/app/app-fixture.ts';
import { verifies } from '../../../verifies.ts';

const LINES = Array.from({ length: 3_000 }, (_, n) => `Gulls circled above pier ${n} all day.`);
LINES[1_733] = 'The harbour opens at six in the morning.';
const TEXT = `${LINES.join('\n')}\n`;

const CODE = `Let me look.
\`\`\`js
const [hit] = context.search('harbour opens');
const h = span(hit);
finish([{ text: 'It opens at six in the morning.', handles: [h] }, { text: 'It closes at nine.', handles: [h] }]);
\`\`\``;

function groundOf(stage: Stage, app: App): Ground {
  const mind = {
    runTurn: app.runExtensionTurn.bind(app),
    config: ((section, schema) => readConfigSection(app.loaded, section, schema)) as Awaited<
      ReturnType<Ground['open']>
    >['config'],
    judge: noJudge,
    answering: () => app.model().tier,
    window: app.windowOf,
    redact: app.redact,
  };
  const places = { home: stage.root, userHome: stage.temp.path };
  const { variables } = stage.environment;
  return testGround({ places, variables, open: async () => mind });
}

interface Scene {
  readonly place: ToolPlaceForTest;
  readonly root: string;
  readonly ask: (input: unknown) => ReturnType<ToolPlaceForTest['run']>;
}

async function scene(t: TestContext, model?: ScriptedModel): Promise<Scene> {
  const place = makeToolPlace();
  t.after(() => place.remove());
  const stage = createStage(t);
  const app = await stage.open(model ? { extra: { client: model } } : {});
  const ground = groundOf(stage, app);
  const tool = recursiveReadTool({ ground, answer: async () => answerByAsking(ground) });
  place.write('log.txt', TEXT);
  return { place, root: stage.root, ask: (input) => place.run(tool, input) };
}

/** The root of an ask gets the code; whatever else is asked, an empty object. */
function answering(code: string): (request: ModelRequest) => ScriptedStep {
  return ({ messages }) => {
    const prompt = parseJsonObject(messages.map(messageText).join(''));
    const isRoot = prompt.ok && isJsonObject(prompt.value) && prompt.value.schema_version === 'talaria.rlm.repl.v1';
    return { reply: isRoot ? code : '{}' };
  };
}

describe('rlm/tool: recursive_read over its engine', () => {
  verifies(
    ['rlm:ask:cited', 'rlm:run:inner-bounded'],
    'a model finds one line of many, and each sentence has its grade',
    async (t) => {
      const model = createScriptedModel([answering(CODE)]);
      const { ask, root } = await scene(t, model);
      const { text, isError } = await ask({ path: 'log.txt', question: 'When does the harbour open?' });
      assert.equal(isError, false, text);
      assert.match(
        text,
        /It opens at six in the morning\.\n {4}NOT SUPPORTED: no model to read it\n {4}log\.txt:1734 {2}"The harbour opens[^\n]+\nIt closes at nine\.\n {4}NOT SUPPORTED: 9: not in the lines that it cites\n/,
      );
      const [, run_id = ''] = /Recorded as (\S+);/.exec(text) ?? [];
      const store = openTraceStore(root, { readOnly: true });
      assert.ok(store.find(run_id).ok);
      assert.equal(store.calls(run_id).length, model.requests.length);
      store.close();
      for (const { tools, purpose, system } of model.requests) {
        assert.deepEqual([tools, purpose], [[], 'recurse']);
        assert.doesNotMatch(system, /You are Talaria/);
      }
      assert.ok(JSON.stringify(model.requests).length < TEXT.length, 'the material was sent whole');
    },
  );

  slow('without a model, reflex answers with quotations of a file, a folder or a text', async (t) => {
    const { ask, place } = await scene(t);
    place.write('.env', 'HARBOUR_KEY=hunter2-hunter2\n');
    const question = 'When does the harbour open?';
    for (const input of [
      { path: 'log.txt', question },
      { path: '.', question },
      { text: TEXT, question },
    ]) {
      const { text, isError } = await ask(input);
      assert.equal(isError, false, text);
      assert.match(text, /The harbour opens at six in the morning\.\n {4}quoted: /);
      assert.match(text, /:1734/);
      assert.doesNotMatch(text, /hunter2/);
    }
    const folder = await ask({ path: '.', question: 'Which HARBOUR_KEY is set?' });
    assert.doesNotMatch(folder.text, /hunter2/);
    assert.match(folder.text, /\.env/);
  });

  test('what nothing supports is told as such, and not as untrue; a model that fails is an error', async (t) => {
    const code = "```js\nfinish([{ text: 'It closes at nine.', handles: [] }]);\n```";
    const unsupported = await scene(t, createScriptedModel(Array.from({ length: 30 }, () => answering(code))));
    const said = await unsupported.ask({ path: 'log.txt', question: 'When does the harbour close?' });
    assert.equal(said.isError, false, said.text);
    assert.match(
      said.text,
      /which does not make it untrue[\s\S]*It closes at nine\.\n {4}NOT SUPPORTED: it cites nothing/,
    );
    const failing = await scene(
      t,
      createScriptedModel(Array.from({ length: 30 }, () => ({ error: 'model-bad-request' }) as const)),
    );
    const failed = await failing.ask({ path: 'log.txt', question: 'When does the harbour open?' });
    assert.ok(failed.isError && /^No answer: .*scripted model-bad-request/.test(failed.text), failed.text);
  });

  test('material that cannot be read is named', async (t) => {
    const { ask, place } = await scene(t);
    place.write('empty.txt', '');
    place.write('image.png', Buffer.from('89504e470d0a1a0a0000000d', 'hex'));
    for (const [path, why] of [
      ['none.txt', /none\.txt/],
      ['empty.txt', /empty\.txt/],
      ['image.png', /image\.png|no text|text/],
    ] as const) {
      const { text, isError } = await ask({ path, question: 'What is in it?' });
      assert.ok(isError && why.test(text), text);
    }
  });

  test('what the owner allowed once is answered and written nowhere', async (t) => {
    const { ask, place, root } = await scene(t);
    place.write('.env', 'The harbour key is hunter2-hunter2.\n');
    const { text } = await ask({ path: '.env', question: 'What is the harbour key?' });
    assert.match(text, /harbour key/);
    assert.doesNotMatch(text, /Recorded/);
    assert.equal(existsSync(join(root, 'rlm')), false);
  });
});
