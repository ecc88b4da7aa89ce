/** What counts as a use of a skill, how it ends, and what many bad ends lead to. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { sha256 } from '#base/ids.ts';
import type { TurnInfo } from '#core/agent/hooks.ts';
import type { TurnOutcome } from '#core/agent/turn-event.ts';
import type { Message, ToolCallPart, ToolResultPart } from '#core/model/message.ts';
import { END_MARKER, START_MARKER, withoutBlock } from '#mind/skills/format/managed-block.ts';
import { createSkillRecords } from '#mind/skills/record/skill-records.ts';
import { countUses } from '#mind/skills/use/read-uses.ts';
import { createUseTracker, type SkillFallback } from '#mind/skills/use/use-tracker.ts';
import { open } from '../door/door-bench.ts';
import { skillText } from '../door/open-door.ts';

const quiet = new AbortController().signal;
let calls = 0;

function call(name: string, given: ToolCallPart['arguments'] = {}): ToolCallPart {
  calls += 1;
  return { type: 'tool-call', callId: `call_${calls}`, name, arguments: given, origin: 'model' };
}

const view = (name: string) => call('skill_view', { name });

function resultOf({ callId, name }: ToolCallPart, isError = false): ToolResultPart {
  return { type: 'tool-result', callId, name, text: '', isError, origin: 'observed', observed: { ms: 1, bytes: 0 } };
}

function tracking(context: TestContext) {
  const opened = open(context);
  const told: SkillFallback[] = [];
  const records = createSkillRecords({ database: opened.database, root: opened.root, clock: opened.clock });
  const textOf = (name: string) => opened.read(`data/${name}/SKILL.md`);
  const tracker = createUseTracker({ ...opened, records, textOf, tell: (event) => told.push(event) });
  let turn = 0;
  const history: Message[] = [];
  const info = (): TurnInfo => ({ sessionId: 's1', source: 'cli', cwd: '/', turn });
  /** One turn: the owner's line, then steps of calls. */
  const play = async (text: string, steps: readonly (readonly ToolCallPart[])[], outcome: TurnOutcome = 'done') => {
    turn += 1;
    await tracker.hooks.beforeTurn?.({ ...info(), text }, quiet);
    history.push({ role: 'user', parts: [{ type: 'text', text, origin: 'owner' }] });
    for (const step of steps) {
      history.push({ role: 'assistant', parts: step, model: 'test' });
      for (const one of step) {
        const result = resultOf(one, one.callId.startsWith('failed_'));
        await tracker.hooks.afterTool?.(info(), one, result);
        history.push({ role: 'tool', parts: [result] });
      }
    }
    await tracker.hooks.afterTurn?.(info(), { outcome, messages: history });
  };
  const counts = (version = 1) => {
    const { successes, failures } = countUses(opened.database, 'csv', version);
    return [successes, failures];
  };
  const end = () => tracker.hooks.sessionEnd?.(info());
  return { ...opened, tracker, records, told, play, counts, end };
}

describe('use tracker', () => {
  test('a use is a skill that was seen and then followed by a call of a later step', async (context) => {
    const { create, play, counts, end, records } = tracking(context);
    await create('csv');
    await play('look', [[view('csv')]]);
    await play('look on', [[view('csv')], [call('skills_list')]]);
    await play('both at once', [[view('csv'), call('terminal')]]);
    await play('before', [[call('terminal')], [view('csv')]]);
    await play('end', []);
    assert.deepEqual(counts(), [0, 0], 'none of these is a use');
    await play('work', [[view('csv')], [call('terminal')]]);
    assert.deepEqual(counts(), [0, 0], 'not known yet');
    await play('thanks', []);
    assert.deepEqual(counts(), [1, 0]);
    await play('again', [[view(' csv ')], [call('terminal')]]);
    await end();
    assert.deepEqual(counts(), [2, 0]);
    const record = records.get('csv');
    assert.equal(record?.viewCount, 6);
    assert.equal(record?.useCount, 2);
    assert.equal(record?.successCount, 2);
    assert.equal(record?.confidence, 0.75);
  });

  test('an undo, an error and an abort are failures; a limit and what is said say nothing', async (context) => {
    const { create, play, counts, end, tracker } = tracking(context);
    await create('csv');
    const work = () => [[view('csv')], [call('terminal')]];
    await play('work', work());
    await play('no, that is wrong', work(), 'failed');
    assert.deepEqual(counts(), [1, 1]);
    await play('go', work(), 'aborted');
    assert.deepEqual(counts(), [1, 2]);
    await play('go', work());
    await tracker.undone('s1');
    assert.deepEqual(counts(), [1, 3]);
    await play('go', work(), 'stopped');
    await end();
    assert.deepEqual(counts(), [1, 3]);
  });

  test('a use after which a command of the skill failed has not worked, however late', async (context) => {
    const { create, play, counts, end, records } = tracking(context);
    await create('csv', '1. Run `make table`\n');
    const failing = (command: string) => ({ ...call('terminal', { command }), callId: `failed_${command}` });
    await play('work', [[view('csv')], [failing('cd x && make table')]]);
    assert.deepEqual(counts(), [0, 1], 'in its own turn');
    await play('work', [[view('csv')], [failing('ls')]]);
    await play('more', [[failing('ls')]]);
    assert.deepEqual(counts(), [1, 1], 'a command that stands elsewhere says nothing of it');
    await play('and now', [[failing('make table')], [failing('make table')]]);
    assert.deepEqual(counts(), [0, 2], 'later in the session, once');
    await play('work', [[failing('make table')], [view('csv')], [call('terminal')]]);
    await end();
    assert.deepEqual(counts(), [1, 2], 'before it was seen');
    const { useCount, successCount, failureCount, confidence } = records.get('csv') ?? {};
    assert.deepEqual([useCount, successCount, failureCount, confidence], [3, 1, 2, 0.4]);
  });

  test('a note in the text is no version: its uses count for the text, and go back with it', async (context) => {
    const { create, write, play, counts, told, read } = tracking(context);
    await create('csv');
    const note = (what: string) => `\n${START_MARKER}\n${what}\n${END_MARKER}\n`;
    const noted = async (what: string) => {
      const text = read('data/csv/SKILL.md');
      const content = `${withoutBlock(text)}${note(what)}`;
      const done = await write('csv', { action: 'edit', content }, { actor: 'curator', expectedHash: sha256(text) });
      assert.ok(done.ok, done.ok ? '' : done.detail);
    };
    const work = () => [[view('csv')], [call('terminal')]];
    for (let i = 0; i < 4; i += 1) await play('go', work());
    await play('thanks', []);
    await noted('one');
    for (let i = 0; i < 4; i += 1) await play('go', work());
    await play('thanks', []);
    assert.deepEqual(counts(1), [8, 0]);
    assert.ok((await write('csv', { action: 'patch', oldString: 'Step one.', newString: 'Step wrong.' })).ok);
    for (const what of ['two', 'three']) {
      for (let i = 0; i < 2; i += 1) await play('go', work(), 'failed');
      await noted(what);
    }
    assert.deepEqual([counts(3), told.length], [[0, 4], 0]);
    await play('go', work(), 'failed');
    assert.match(
      told[0]?.text ?? '',
      /csv: version 3 did worse and was rolled back \(0 of 5 uses went well, 8 of 8 before\)/,
    );
    assert.equal(read('data/csv/SKILL.md'), `${skillText('csv')}${note('one')}`);
    for (let i = 0; i < 5; i += 1) await play('go', work(), 'failed');
    assert.equal(told.length, 1, 'a rollback is not judged');
  });

  test('a skill that was put into the message counts as seen', async (context) => {
    const { create, play, counts, end, tracker } = tracking(context);
    await create('csv');
    tracker.injected('s1', ['csv']);
    await play('talk only', []);
    await play('nothing injected', [[call('terminal')]]);
    tracker.injected('s1', ['csv']);
    await play('work', [[call('terminal')]]);
    await end();
    assert.deepEqual(counts(), [1, 0]);
  });

  test('a version that does clearly worse is rolled back once, with an event', async (context) => {
    const { create, write, play, counts, told, read, door, database } = tracking(context);
    await create('csv');
    const work = () => [[view('csv')], [call('terminal')]];
    for (let i = 0; i < 8; i += 1) await play('go', work());
    const patch = { action: 'patch', oldString: 'Step one.', newString: 'Step wrong.' } as const;
    await play('thanks', []);
    assert.ok((await write('csv', patch)).ok);
    for (let i = 0; i < 5; i += 1) await play('go', work(), 'failed');
    assert.deepEqual(counts(1), [8, 0]);
    assert.deepEqual(counts(2), [0, 5]);
    assert.equal(told.length, 1);
    assert.equal(told[0]?.type, 'skill-rolled-back');
    assert.match(
      told[0]?.text ?? '',
      /csv: version 2 did worse and was rolled back \(0 of 5 uses went well, 8 of 8 before\)/,
    );
    assert.equal(read('data/csv/SKILL.md'), skillText('csv'));
    assert.equal(door.versions('csv').at(-1)?.actor, 'rollback');

    for (let i = 0; i < 8; i += 1) await play('go', work());
    await play('thanks', []);
    assert.ok((await write('csv', patch)).ok);
    for (let i = 0; i < 12; i += 1) await play('go', work(), 'failed');
    assert.equal(told.length, 1, 'the same pair of texts is never rolled back twice');
    assert.equal(read('data/csv/SKILL.md'), skillText('csv', 'Step wrong.\nStep two.\n'));
    assert.deepEqual(countUses(database, 'csv', 4), { successes: 0, failures: 12 });
  });

  test('what cannot be rolled back is told', async (context) => {
    const { create, write, play, told, root } = tracking(context);
    await create('csv');
    const work = () => [[view('csv')], [call('terminal')]];
    for (let i = 0; i < 8; i += 1) await play('go', work());
    await play('thanks', []);
    await write('csv', { action: 'patch', oldString: 'Step one.', newString: 'Step wrong.' });
    const { writeFileSync } = await import('node:fs');
    writeFileSync(`${root}/data/csv/SKILL.md`, skillText('csv', 'By hand.\n'));
    for (let i = 0; i < 5; i += 1) await play('go', work(), 'failed');
    assert.deepEqual(
      told.map(({ type }) => type),
      ['skill-rollback-failed'],
    );
  });
});
