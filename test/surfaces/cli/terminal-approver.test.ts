/** Asking the person at the terminal: all of what would run is shown, and anything but a yes is a no. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApprovalDecision } from '#core/agent/approver.ts';
import {
  type Ask,
  createTerminalApprover,
  createTerminalAsker,
  QuestionQueue,
  UNREAD_MS,
} from '#surfaces/cli/questions.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { approverContract, SAMPLE_REQUEST } from '../../contract/approver.contract.ts';
import { verifies } from '../../verifies.ts';

const TYPED: Readonly<Record<ApprovalDecision, string>> = { once: 'y', session: 'S', always: ' always ', deny: 'n' };

approverContract('terminal', () => {
  const next: ApprovalDecision[] = [];
  const clock = createManualClock();
  const queue = new QuestionQueue({
    clock,
    onChange: () => {
      const decision = queue.current ? next.shift() : undefined;
      if (decision === undefined) return;
      queueMicrotask(async () => {
        queue.drawn();
        await clock.advance(UNREAD_MS);
        queue.answer(TYPED[decision]);
      });
    },
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
  return async ({ lines, keys = '' }) => {
    seen.push(...lines, keys);
    return answer;
  };
};

describe('terminal approver', () => {
  verifies(
    'core:approval:risky-asks',
    'shows the command, then why it is asked and how far it goes, then the keys',
    async () => {
      const cases = [
        [{}, 'deletes files recursively (its effect may go beyond this folder)'],
        [{ reach: 'folder' }, 'deletes files recursively (inside this folder)'],
        [{ reach: 'network' }, 'deletes files recursively (over the network)'],
      ] as const;
      for (const [more, why] of cases) {
        const seen: string[] = [];
        const request = { ...SAMPLE_REQUEST, reason: 'deletes files\nrecursively', preview: 'rm -rf a\nb', ...more };
        await createTerminalApprover(answered('y', seen)).approve(request, live());
        const keys = 'y = once · s = this chat · a = always · n = no, or say what to do instead';
        assert.deepEqual(seen, ['terminal asks to run this:', '  rm -rf a', '  b', `why: ${why}`, keys]);
      }
    },
  );

  verifies(
    'core:approval:risky-asks',
    'shows of a long one the ends, with the reason still last, and all of it on request',
    async () => {
      const lines = Array.from({ length: 200 }, (_, i) => `line ${i}`);
      const preview = [...lines, `end ${'x'.repeat(5_000)}`].join('\n');
      const seen: (readonly string[])[] = [];
      const answers = ['v', 'a'];
      const ask: Ask = async (question) => {
        seen.push([...question.lines, question.keys ?? '']);
        return answers.shift();
      };
      const answer = await createTerminalApprover(ask).approve({ ...SAMPLE_REQUEST, preview }, live());
      assert.equal(answer.decision, 'always');
      const [short = [], whole = []] = seen;
      assert.ok(short.length < 24 && short.every((line) => line.length < 450), short.join('\n'));
      assert.ok(short.includes('  … 186 lines left out …'));
      assert.match(short.join('\n'), / {2}line 0\n[\s\S]*line 199\n {2}end x+ … 4634 characters left out … x+\nwhy: /);
      assert.match(short.at(-1) ?? '', /v = view all of it/);
      assert.deepEqual(
        whole.slice(1, -2),
        preview.split('\n').map((line) => `  ${line}`),
      );
      assert.match(whole.at(-2) ?? '', /^why: /);
      assert.doesNotMatch(whole.at(-1) ?? '', /view/);
    },
  );

  it('offers no memory of what is asked each time, and takes none', async () => {
    for (const [typed, decision] of [
      [['s', 'v', 'ALWAYS', 'y'], 'once'],
      [['a', 'n'], 'deny'],
    ] as const) {
      const seen: (readonly string[])[] = [];
      const answers: string[] = [...typed];
      const ask: Ask = async ({ lines, keys = '' }) => {
        seen.push([...lines, keys]);
        return answers.shift();
      };
      const answer = await createTerminalApprover(ask).approve({ ...SAMPLE_REQUEST, key: '' }, live());
      assert.deepEqual([answer.decision, answers], [decision, []]);
      assert.equal(seen[0]?.at(-1), 'y = yes (asked each time) · n = no, or say what to do instead');
      assert.equal(seen[1]?.[0], `${typed[0]}: a yes to this counts once, so it is y or n.`);
    }
  });

  it('writes out what a terminal would swallow', async () => {
    const seen: string[] = [];
    const preview = 'echo hi \u001b[8m; rm -rf ~\u001b[0m \u202etxt.exe';
    await createTerminalApprover(answered('n', seen)).approve({ ...SAMPLE_REQUEST, preview }, live());
    assert.equal(seen[1], '  echo hi \\u001b[8m; rm -rf ~\\u001b[0m \\u202etxt.exe');
  });

  it('writes out what no eye sees: tags, joiners, direction marks, other line ends; not what pictures are made of', async () => {
    const seen: string[] = [];
    const preview = 'a\u{E0041}\u200b\u200f\u061c\u2028\u00ad\u2800b 👩🏽\u200d💻 ❤\ufe0f é';
    const reason = 'made \u{E0042}.md';
    await createTerminalApprover(answered('n', seen)).approve({ ...SAMPLE_REQUEST, preview, reason }, live());
    assert.equal(seen[1], '  a\\u{e0041}\\u200b\\u200f\\u061c\\u2028\\u00ad\\u2800b 👩🏽\u200d💻 ❤\ufe0f é');
    assert.match(seen[2] ?? '', /^why: made \\u\{e0042\}\.md /);
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
