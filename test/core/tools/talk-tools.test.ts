import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ok } from '#base/result.ts';
import { createClarifyTool, createTodoTool, readTodos } from '#core/tools/talk-tools.ts';
import type { Message, Question } from '#public/talaria.ts';
import { verifies } from '../../verifies.ts';
import { makeToolPlace, type ToolPlaceForTest } from './place.ts';

const asMessage = (text: string, isError = false): Message => ({
  role: 'tool',
  parts: [
    { type: 'tool-result', callId: 'c', name: 'todo', text, isError, origin: 'foreign', observed: { ms: 0, bytes: 0 } },
  ],
});

describe('core/tools/todo and clarify', () => {
  let place: ToolPlaceForTest;
  before(() => {
    place = makeToolPlace();
  });
  after(() => place.remove());

  verifies('core:todo:list', 'keeps its list in the conversation', async () => {
    const history: Message[] = [];
    const todo = async (input: unknown) => {
      const output = await place.run(createTodoTool(), input, { history: () => history });
      history.push(asMessage(output.text, output.isError ?? false));
      return output.text;
    };
    assert.equal(await todo({}), '(the list is empty)');
    assert.equal(
      await todo({ todos: [{ content: 'read  the\nfile' }, { id: 'b', content: 'fix it', status: 'in_progress' }] }),
      '[ ] 1: read the file\n[>] b: fix it',
    );
    assert.equal(
      await todo({ todos: [{ id: 1, status: 'completed' }, { content: 'test' }], merge: true }),
      '[x] 1: read the file\n[>] b: fix it\n[ ] 3: test',
    );
    assert.match(
      await todo({ todos: [{ id: 'zz', status: 'completed' }], merge: true }),
      /todos.0: there is no item zz/,
    );
    assert.equal(await todo({}), '[x] 1: read the file\n[>] b: fix it\n[ ] 3: test');
    assert.equal(await todo({ todos: '[{"content":"only","status":"cancelled"}]' }), '[-] 1: only');
    assert.deepEqual(readTodos(history), [{ id: '1', content: 'only', status: 'cancelled' }]);
  });

  verifies('core:clarify:asks', 'asks with choices, and says when nobody is there', async () => {
    const asked: Question[] = [];
    const asker = {
      ask: async (question: Question) => {
        asked.push(question);
        return ok('blue');
      },
    };
    const output = await place.run(createClarifyTool(), { question: 'Which?', options: ['red', 'blue'] }, { asker });
    assert.equal(output.text, 'The user answered: blue');
    assert.deepEqual(asked, [{ question: 'Which?', choices: ['red', 'blue'] }]);
    const alone = await place.run(createClarifyTool(), { question: 'Which?' });
    assert.equal(alone.isError, true);
    assert.match(alone.text, /No person can answer here/);
  });

  it('does not ask after an abort', async () => {
    await assert.rejects(place.run(createClarifyTool(), { question: 'Which?' }, {}, AbortSignal.abort()));
  });
});
