// What counts as observed: an effect that we saw end well, never a command that does nothing, and never words that a command printed.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gateProposal } from '#mind/evidence/gate/gate-proposal.ts';
import { messageEvidence, ranLines } from '#mind/evidence/gate/message-evidence.ts';
import type { ProposalDraft } from '#mind/evidence/proposal.ts';
import { verifies } from '../../../verifies.ts';
import { call, owner, stored } from '../conversation.ts';

const ran = (command: string, exitCode = 0) =>
  stored([owner('go on'), ...call('terminal', { command }, 'ok', { exitCode })]);

function isRecord(messages: ReturnType<typeof stored>): boolean {
  return messageEvidence(messages, { observedArguments: 'all' }).some(({ texts }) => texts.some((one) => one.isRecord));
}

const NOTHING = [
  'echo deploy --prod',
  'printf "deploy --prod\\n"',
  'true',
  ':',
  ': deploy --prod',
  '# deploy --prod',
  '   ',
  'test 1 = 1',
  '[ -n deploy ]',
  '[[ a == a ]]',
  'command echo deploy',
  'env -i echo deploy',
  '/bin/echo deploy',
  '\\echo deploy',
  "'echo' deploy",
  'echo a && echo b; true',
  'echo deploy > notes.txt',
  'cat <<EOF\ndeploy --prod\nEOF',
  'cat <<< "deploy --prod"',
  'sleep 5',
  'exit 0',
  'deploy --help',
  'export DEPLOY=prod',
  'deploy --prod || true',
  'deploy --prod || echo failed',
  'true || deploy --prod',
  'deploy --prod; true',
  'deploy --prod; echo done',
  'deploy --prod; exit 0',
  'deploy --prod\necho done',
  'deploy --prod &',
];
const SOMETHING = [
  'make',
  'cd src && make test',
  'npm test 2>&1 | tail -20',
  'deploy --prod && echo done',
  'set -e; make',
  'grep "a || b; true" notes.txt',
  'echo y | deploy --prod',
  'cat notes.txt',
];

describe('observed', () => {
  for (const command of NOTHING)
    test(`does nothing that we saw: ${JSON.stringify(command)}`, () => {
      assert.equal(isRecord(ran(command)), false);
      assert.deepEqual(ranLines(ran(command)), []);
    });

  for (const command of SOMETHING)
    test(`did something: ${JSON.stringify(command)}`, () => assert.equal(isRecord(ran(command)), true));

  test('a call that failed, was refused, or stands in a row that was changed, is none', () => {
    assert.equal(isRecord(ran('make', 1)), false);
    const refused = call('terminal', { command: 'make' }, 'no', { exitCode: 0, refused: 'denied' });
    assert.equal(isRecord(stored([owner('go on'), ...refused])), false);
    const [asked, result] = call('terminal', { command: 'make' }, 'ok', { exitCode: 0 });
    assert.ok(asked?.role === 'assistant' && result);
    const forged = { ...asked, parts: asked.parts.map((part) => ({ ...part, origin: 'foreign' }) as typeof part) };
    assert.equal(isRecord(stored([owner('go on'), forged, result])), false);
  });

  for (const [name, given] of [
    ['memory', { action: 'add', content: 'deploy --prod' }],
    ['clarify', { question: 'Always deploy with --prod?' }],
    ['todo', { todos: [{ content: 'deploy --prod' }] }],
  ] as const)
    test(`a call of ${name} records nothing of the world`, () =>
      assert.equal(isRecord(stored([owner('go on'), ...call(name, given, 'ok')])), false));

  verifies('core:origin:effect-seen', 'a skill step rests on no call that did nothing, and on no printed words', () => {
    const draft = (messages: ReturnType<typeof stored>, quote: string): ProposalDraft => ({
      ...{ kind: 'skill', actor: 'review', target: 'deploying-it', action: 'create', sessionId: 's' },
      change: {
        action: 'create',
        name: 'deploying-it',
        content: 'Rotate the staging certificates with the release tool.',
      },
      citations: [{ handle: `message:${messages.at(-1)?.id}`, quote }],
    });
    const decide = (command: string, quote = '') => {
      const messages = stored([
        owner('go on'),
        ...call('terminal', { command }, 'Rotate the staging certificates with the release tool.', { exitCode: 0 }),
      ]);
      return gateProposal(draft(messages, quote), messages).decision;
    };
    assert.equal(decide('echo Rotate the staging certificates with the release tool.'), 'refused');
    assert.equal(decide('make release'), 'pending', 'its words stand in the output alone');
    assert.equal(decide('make release', 'Rotate the staging certificates with the release tool.'), 'pending');
  });
});
