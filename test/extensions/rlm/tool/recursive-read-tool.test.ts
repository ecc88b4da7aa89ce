/** The tool `recursive_read` before its engine: what it takes, what it refuses, what it costs, and the path rules of read_file. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { ok, refuse } from '#base/result.ts';
import { createFileTools } from '#core/tools/files/file-tools.ts';
import { functionSchema } from '#core/tools/tool-registry.ts';
import { asInnerCall, openNesting } from '#extensions/rlm/call/call-limits.ts';
import { type AnswerMaterial, type MaterialQuestion, recursiveReadTool } from '#extensions/rlm/recursive-read-tool.ts';
import type { AnyTool } from '#public/talaria.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { toolContract } from '../../../contract/tool.contract.ts';
import { makeToolPlace, type ToolPlaceForTest } from '../../../core/tools/place.ts';
import { testGround } from '../../../ground.ts';
import { createStage, openConversation, play } from '../../../surfaces/app/app-fixture.ts';
import { verifies } from '../../../verifies.ts';

describe('rlm/tool: recursive_read', () => {
  let place: ToolPlaceForTest;
  let asked: MaterialQuestion[] = [];
  before(() => {
    place = makeToolPlace();
    place.write('notes.txt', 'the harbour opens at six\n');
    place.write('.env', 'KEY=hunter2\n');
    mkdirSync(join(place.folder, '.ssh'));
    symlinkSync(join(place.cwd, '.env'), join(place.cwd, 'plain.txt'));
  });
  after(() => place.remove());

  const engine: AnswerMaterial = async (question, signal) => {
    asked.push(question);
    if (question.question === 'wait') await new Promise((resolve) => signal.addEventListener('abort', resolve));
    if ('path' in question.material && question.material.path.endsWith('none'))
      return refuse('material-refused', `there is no ${question.material.path}`);
    return ok({ text: 'It opens at six. [s1]', failed: question.question === 'unknown' });
  };
  const toolWith = (variables: Record<string, string> = {}, answer = engine): AnyTool => {
    const { home, folder } = place;
    const ground = testGround({ places: { home, userHome: folder }, variables });
    return recursiveReadTool({ ground, answer: async () => answer });
  };
  const run = async (input: unknown, tool = toolWith()) => {
    asked = [];
    return place.run(tool, input);
  };

  toolContract('recursive_read', () => ({
    tool: toolWith(),
    context: () => place.context(),
    good: () => ({ path: 'notes.txt', question: 'When does the harbour open?' }),
    hopeless: () => ({ path: 'none', question: 'When?' }),
    slow: () => ({ path: 'notes.txt', question: 'wait' }),
  }));

  test('a file, a folder or a text; never both, never none', async () => {
    assert.equal((await run({ path: 'notes.txt', question: 'When?' })).text, 'It opens at six. [s1]');
    assert.deepEqual(asked[0]?.material, { path: join(place.cwd, 'notes.txt') });
    assert.equal(asked[0]?.depth, 5);
    assert.equal(asked[0]?.root, place.cwd);
    assert.ok(asked[0]?.keep);
    await run({ text: 'a long text', question: 'When?', path: '' });
    assert.deepEqual(asked[0]?.material, { text: 'a long text' });
    for (const input of [
      { question: 'When?' },
      { path: 'a', text: 'b', question: 'When?' },
      { text: ' ', question: 'x' },
    ]) {
      const output = await run(input);
      assert.ok(output.isError && /Give either path .* or text/.test(output.text), output.text);
      assert.deepEqual(asked, []);
    }
  });

  test('what is not supported is an error result with its text; what cannot be read says why', async () => {
    const unsupported = await run({ text: 'x', question: 'unknown' });
    assert.ok(unsupported.isError && unsupported.text.includes('[s1]') && unsupported.origin === 'foreign');
    const unreadable = await run({ path: 'none', question: 'When?' });
    assert.ok(unreadable.isError && /there is no .*none/.test(unreadable.text));
  });

  test('inside an inner call and at the deepest level it is refused as data, and nothing is read', async () => {
    const input = { path: 'notes.txt', question: 'When?' };
    const inside = await asInnerCall(() => run(input));
    assert.ok(inside.isError && /inner call/.test(inside.text), inside.text);
    assert.deepEqual(asked, []);
    const deep = await run(input, toolWith({ TALARIA_RLM_DEPTH: '5' }));
    assert.ok(deep.isError && /5 levels deep/.test(deep.text), deep.text);
    assert.deepEqual(asked, []);
    assert.equal(openNesting({ TALARIA_RLM_DEPTH: '5' }).ok, false);
    await run(input, toolWith({ TALARIA_RLM_DEPTH: '3' }));
    assert.deepEqual(
      asked.map(({ depth }) => depth),
      [2],
    );
    assert.equal(openNesting({}).ok, true);
  });

  test('secrets are asked about as read_file does, also behind a link; what was allowed once is not written down', async () => {
    const readFile = createFileTools({ home: place.home, userHome: place.folder }).find(
      ({ name }) => name === 'read_file',
    );
    assert.ok(readFile);
    for (const path of [
      'notes.txt',
      '.env',
      'plain.txt',
      '~/.ssh',
      join(place.home, '.env'),
      '/etc/shadow',
      '..',
      'none',
    ]) {
      const mine = place.risk(toolWith(), { path, question: 'x' });
      assert.deepEqual(mine, place.risk(readFile, { path }), path);
    }
    assert.equal(place.risk(toolWith(), { path: '.env', question: 'x' }).level, 'ask');
    assert.equal(place.risk(toolWith(), { text: 'x', question: 'x' }).level, 'none');
    await run({ path: 'plain.txt', question: 'Which key?' });
    assert.deepEqual(asked[0]?.material, { path: join(place.cwd, '.env') });
    assert.equal(asked[0]?.keep, false);
    await run({ path: '.', question: 'Which key?' });
    assert.ok(
      asked[0]?.keep && asked[0].isSecret(join(place.cwd, '.env')) && !asked[0].isSecret(join(place.cwd, 'notes.txt')),
    );
  });

  verifies(
    'rlm:run:opt-in',
    'a turn that does not ask for it makes one model call and no file of recursion',
    async (t) => {
      const model = createScriptedModel(['The harbour opens at six.'], { context: t });
      const stage = createStage(t);
      const app = await stage.open({ extra: { client: model } });
      const { end } = await play(await openConversation(app), 'When does the harbour open?');
      assert.equal(end.outcome, 'done');
      assert.deepEqual(
        model.requests.map(({ purpose }) => purpose),
        ['answer'],
      );
      assert.doesNotMatch(model.requests[0]?.system ?? '', /recurs/i);
      assert.equal(existsSync(join(stage.root, 'rlm')), false);
    },
  );

  verifies('core:prompt:size-budget', 'its schema costs 60 tokens at most', () => {
    const schema = JSON.stringify({ type: 'function', function: functionSchema(toolWith()) });
    assert.ok(countTokens(schema) <= 60, `${countTokens(schema)} tokens: ${schema}`);
  });
});
