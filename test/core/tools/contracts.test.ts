/** Runs the tool and approver contracts for what this room and the core bring. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ok } from '#base/result.ts';
import { type ApprovalAnswer, type Approver, denyingApprover } from '#core/agent/approver.ts';
import { createAllowList } from '#core/tools/core-tools.ts';
import { createFileTools } from '#core/tools/files/file-tools.ts';
import { createClarifyTool, createTodoTool } from '#core/tools/talk-tools.ts';
import { createTerminalTool } from '#core/tools/terminal/terminal-tool.ts';
import { approverContract, SAMPLE_REQUEST } from '../../contract/approver.contract.ts';
import { toolContract } from '../../contract/tool.contract.ts';
import { createPlainWalls } from '../../doubles/plain-walls.ts';
import { verifies } from '../../verifies.ts';
import { makeToolPlace, type ToolPlaceForTest } from './place.ts';

describe('core/tools: contracts', () => {
  let place: ToolPlaceForTest;
  before(() => {
    place = makeToolPlace();
    place.write('a.txt', 'one\ntwo\n');
    for (let i = 0; i < 200; i += 1) place.write(`many/${i}.txt`, 'word '.repeat(20_000));
  });
  after(() => place.remove());

  const context = () => place.context();
  const file = (name: string) => {
    const tool = createFileTools({ home: place.home }).find((one) => one.name === name);
    assert.ok(tool);
    return tool;
  };

  toolContract('read_file', () => ({
    tool: file('read_file'),
    context,
    good: () => ({ path: 'a.txt' }),
    hopeless: () => ({ path: 'none' }),
  }));
  toolContract('write_file', () => ({
    tool: file('write_file'),
    context,
    good: () => ({ path: 'b.txt', content: 'x' }),
    hopeless: () => ({ path: 'many', content: 'x' }),
  }));
  toolContract('patch', () => {
    place.write('p.txt', 'one\n');
    return {
      tool: file('patch'),
      context,
      good: () => ({ path: 'p.txt', old_string: 'one', new_string: 'two' }),
      hopeless: () => ({ path: 'p.txt', old_string: 'absent', new_string: 'x' }),
    };
  });
  toolContract('search_files', () => ({
    tool: file('search_files'),
    context,
    good: () => ({ pattern: 'two' }),
    hopeless: () => ({ pattern: 'x', path: 'nowhere' }),
    slow: () => ({ pattern: '(w|o|r|d| )*!', path: 'many' }),
  }));
  toolContract('todo', () => ({
    tool: createTodoTool(),
    context,
    good: () => ({ todos: [{ content: 'x' }] }),
    hopeless: () => ({ todos: [{ id: 'x' }] }),
  }));
  toolContract('clarify', () => ({
    tool: createClarifyTool(),
    context: () => place.context({ asker: { ask: async () => ok('yes') } }),
    good: () => ({ question: 'ok?' }),
  }));
  const terminals = () => {
    const made = createTerminalTool({ walls: createPlainWalls(), env: { PATH: process.env.PATH } });
    const [terminal, jobs] = made.tools;
    assert.ok(terminal && jobs);
    return { terminal, jobs, close: () => made.closeAll() };
  };
  toolContract('terminal', () => {
    const { terminal, close } = terminals();
    const good = () => ({ command: 'echo hi' });
    return {
      tool: terminal,
      context,
      close,
      good,
      hopeless: () => ({ command: 'no-such-program' }),
      slow: () => ({ command: 'sleep 600' }),
    };
  });
  toolContract('process', () => {
    const { jobs, close } = terminals();
    return {
      tool: jobs,
      context,
      close,
      good: () => ({ action: 'list' }),
      hopeless: () => ({ action: 'log', id: 'job7' }),
    };
  });

  approverContract('deny', () => ({ approver: denyingApprover }));
  approverContract('scripted', () => {
    let next: ApprovalAnswer['decision'] | undefined = 'deny';
    const approver: Approver = {
      approve: (_, signal) =>
        next === undefined
          ? new Promise((_resolve, reject) =>
              signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
            )
          : Promise.resolve({ decision: next }),
    };
    return {
      approver,
      answer: (decision) => {
        next = decision;
      },
      silence: () => {
        next = undefined;
      },
    };
  });

  verifies(
    ['core:approval:non-interactive-denies', 'core:approval:contract-shared'],
    'where nobody can answer, the answer is no and says what to do',
    async () => {
      const { signal } = new AbortController();
      const near = await denyingApprover.approve({ ...SAMPLE_REQUEST, reach: 'folder' }, signal);
      const far = await denyingApprover.approve(SAMPLE_REQUEST, signal);
      assert.deepEqual([near.decision, far.decision], ['deny', 'deny']);
      assert.match(near.reason ?? '', /nobody can answer.*--yes/);
      assert.match(far.reason ?? '', /needs a yes at a terminal, and nobody can answer/);
    },
  );

  verifies(
    'core:approval:remembered',
    '"always" is made durable, "session" is not, and nothing wider is allowed',
    async () => {
      const saved: (readonly string[])[] = [];
      let kept: readonly string[] = ['git push --force', 'meanwhile by another process'];
      const list = createAllowList({
        always: ['git push --force'],
        persist: (edit) => {
          kept = edit(kept);
          saved.push(kept);
        },
      });
      assert.ok(list.has('git push --force'));
      assert.ok(!list.has('git push') && !list.has('git push --force\nsudo ls') && !list.has(''));
      await list.add('rm -r /w/build', 'session');
      assert.ok(list.has('rm -r /w/build') && !list.has('rm -r /w/src'));
      assert.deepEqual(saved, []);
      await list.add('sudo ls\nkill -9 3', 'always');
      assert.ok(list.has('sudo ls\nkill -9 3') && !list.has('sudo ls') && !list.has('kill -9 3'));
      await list.add('', 'always');
      assert.deepEqual(saved, [['git push --force', 'meanwhile by another process', 'sudo ls\nkill -9 3']]);
      const [always, session] = ['always' as const, 'session' as const];
      assert.deepEqual(list.list(), [
        { key: 'git push --force', scope: always },
        { key: 'sudo ls\nkill -9 3', scope: always },
        { key: 'rm -r /w/build', scope: session },
      ]);
    },
  );

  it('first hour 7: what was allowed is taken back at once, and of the list as it is kept by now', async () => {
    let kept: readonly string[] = ['sudo ls', 'kill -9 3', 'meanwhile by another process'];
    const list = createAllowList({
      always: ['sudo ls', 'kill -9 3'],
      persist: (edit) => {
        kept = edit(kept);
      },
    });
    await list.add('rm -r /w/build', 'session');
    assert.equal(await list.revoke('sudo ls'), true);
    assert.equal(await list.revoke('rm -r /w/build'), true);
    assert.equal(await list.revoke('sudo ls'), false);
    assert.ok(!list.has('sudo ls') && !list.has('rm -r /w/build') && list.has('kill -9 3'));
    assert.deepEqual(kept, ['kill -9 3', 'meanwhile by another process']);
  });

  verifies(
    'core:approval:remembered',
    'an approval that cannot be saved holds for the session and is reported',
    async () => {
      const list = createAllowList({
        persist: () => {
          throw new Error('disk full');
        },
      });
      await assert.rejects(async () => list.add('sudo ls', 'always'), /disk full/);
      assert.ok(list.has('sudo ls'));
      assert.deepEqual(list.list(), [{ key: 'sudo ls', scope: 'session' }]);
    },
  );
});
