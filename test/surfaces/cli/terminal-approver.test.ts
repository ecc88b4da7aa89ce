/** Asking the person at the terminal: all of what would run is shown, and anything but a yes is a no. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApprovalDecision } from '#core/agent/approver.ts';
import { type Ask, QuestionQueue } from '#surfaces/cli/questions.ts';
import { createTerminalApprover, createTerminalAsker } from '#surfaces/cli/terminal-approver.ts';
import { approverContract, SAMPLE_REQUEST } from '../../contract/approver.contract.ts';
import { verifies } from '../../verifies.ts';

const TYPED: Readonly<Record<ApprovalDecision, string>> = { once: 'y', session: 'S', always: ' always ', deny: 'n' };

approverContract('terminal', () => {
  const next: ApprovalDecision[] = [];
  const queue = new QuestionQueue(() => {
    const decision = queue.current ? next.shift() : undefined;
    if (decision) queueMicrotask(() => queue.answer(TYPED[decision]));
  });
  return {
    approver: createTerminalApprover(queue.ask),
    answer: (decision) => next.push(decision),
    silence: () => undefined,
    close: async () => queue.close(),
  };
});

const live = () => new AbortController().signal;

const answered = (answer: string | undefined, seen: string[] = []): Ask => {
  return async ({ lines }) => {
    seen.push(...lines);
    return answer;
  };
};

describe('terminal approver', () => {
  verifies('core:approval:risky-asks', 'shows the whole command and the reason', async () => {
    const seen: string[] = [];
    const preview = Array.from({ length: 60 }, (_, i) => `line ${i}`).join('\n');
    await createTerminalApprover(answered('y', seen)).approve({ ...SAMPLE_REQUEST, preview }, live());
    assert.match(seen[0] ?? '', /terminal.*deletes files recursively/);
    assert.equal(seen.filter((line) => line.startsWith('  line ')).length, 60);
  });

  it('offers no memory of what is asked each time', async () => {
    for (const [typed, decision] of [
      ['a', 'once'],
      ['n', 'deny'],
    ] as const) {
      const seen: string[] = [];
      const answer = await createTerminalApprover(answered(typed, seen)).approve(
        { ...SAMPLE_REQUEST, key: '' },
        live(),
      );
      assert.equal(answer.decision, decision);
      assert.equal(seen.at(-1), 'y = yes · n = no, or say what to do instead');
    }
  });

  it('writes out what a terminal would swallow', async () => {
    const seen: string[] = [];
    const preview = 'echo hi \u001b[8m; rm -rf ~\u001b[0m \u202etxt.exe';
    await createTerminalApprover(answered('n', seen)).approve({ ...SAMPLE_REQUEST, preview }, live());
    assert.equal(seen[1], '  echo hi \\u001b[8m; rm -rf ~\\u001b[0m \\u202etxt.exe');
  });

  it('says to the model what was typed instead of a yes', async () => {
    const decide = (answer: string | undefined) =>
      createTerminalApprover(answered(answer)).approve(SAMPLE_REQUEST, live());
    assert.deepEqual(await decide('use the trash'), { decision: 'deny', reason: 'the owner said: use the trash' });
    assert.deepEqual(await decide('NO'), { decision: 'deny', reason: 'the owner said no' });
    assert.deepEqual(await decide(''), { decision: 'deny', reason: 'the owner said no' });
    assert.deepEqual(await decide(undefined), { decision: 'deny', reason: 'the owner left without an answer' });
    assert.deepEqual(await decide('constructor'), { decision: 'deny', reason: 'the owner said: constructor' });
  });

  it('gives choices by number, and free text as it is', async () => {
    const question = { question: 'Which?', choices: ['red', 'green'] };
    const ask = (answer: string | undefined) => createTerminalAsker(answered(answer)).ask(question, live());
    assert.deepEqual(await ask('2'), { ok: true, value: 'green' });
    assert.deepEqual(await ask('3'), { ok: true, value: '3' });
    assert.deepEqual(await ask('blue, please'), { ok: true, value: 'blue, please' });
    assert.equal((await ask('')).ok, false);
    assert.equal((await ask(undefined)).ok, false);
  });
});
