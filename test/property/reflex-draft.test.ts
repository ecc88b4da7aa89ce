/** A skill that is drafted by rule passes the gate that it is judged by, whatever was run and whatever failed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { StoredMessage } from '#core/agent/session-store.ts';
import { gateProposal } from '#mind/evidence/gate/gate-proposal.ts';
import type { ProposalDraft } from '#mind/evidence/proposal.ts';
import { reflexReview } from '#mind/learning/reflex-review.ts';
import type { Message } from '#public/talaria.ts';
import { type CallSpec, call, turn } from '../mind/learning/learning-world.ts';
import { many } from '../property-runs.ts';

function stored(messages: readonly Message[]): readonly StoredMessage[] {
  return messages.map((message, index) => ({ id: index + 11, message }) as StoredMessage);
}

/** What the rules would propose, and what the gate says to it. */
async function draftOf(messages: readonly Message[], hint?: string) {
  const all = stored(messages);
  const drafts: ProposalDraft[] = [];
  const keep = async (draft: ProposalDraft) => {
    drafts.push(draft);
    return {
      status: 'pending',
      proposal: { ...draft, id: 'prop_1', status: 'pending', createdAt: 0 },
      reason: '',
      detail: '',
    } as const;
  };
  const judge = (draft: ProposalDraft) => gateProposal(draft, all);
  const parts = {
    keep,
    judge: (draft: ProposalDraft) => judge(draft).decision,
    keptEntries: () => [],
    skillBody: () => undefined,
  };
  const request = { sessionId: 's', kind: 'skills', messages: all, wantsSkill: true, isRepeated: true } as const;
  await reflexReview(parts, hint === undefined ? request : { ...request, hint }, new AbortController().signal);
  const [draft] = drafts;
  return draft && { draft, verdict: judge(draft) };
}

const word = fc.constantFrom(
  ...[
    'build',
    'check',
    'out',
    'notes',
    'npm',
    'run',
    'test',
    'release',
    'Straße',
    'données',
    '文件',
    'a',
    '-l',
    '--force',
  ],
  ...['v1.2.3', '8080', '10,000', 'HEAD~1', '$HOME', '{host}', 'https://example.com/x?y=1', "it's", 'README'],
);
const path = fc
  .tuple(word, fc.constantFrom('.sh', '.txt', '.tar.gz', '/', '.d/x.ts', ''))
  .map(([name, end]) => `${name}${end}`);
const quoted = fc
  .array(word, { minLength: 1, maxLength: 6 })
  .chain((words) =>
    fc.constantFrom(`"${words.join(' ')}"`, `'${words.join(' ')}'`, `\`${words.join(' ')}\``, `$(${words.join(' ')})`),
  );
const argument = fc.oneof(word, path, path, quoted, fc.string({ unit: 'grapheme', maxLength: 8 }));
const program = fc.constantFrom(
  'sh',
  'ls',
  'cat',
  'npm run',
  'git',
  'echo',
  'printf',
  'python3',
  './build',
  'grep -n',
  'FOO=1 make',
);
const command = fc
  .tuple(
    program,
    fc.array(argument, { maxLength: 6 }),
    fc.constantFrom('', '', '', ' && ls', ' | head -3', '\necho done', ' > out.txt'),
  )
  .map(([head, rest, end]) => `${[head, ...rest].join(' ')}${end}`);
const long = fc.array(argument, { minLength: 40, maxLength: 80 }).map((words) => `sh ${words.join(' ')}`);
const anyCall: fc.Arbitrary<CallSpec> = fc
  .tuple(
    fc.oneof(
      { weight: 8, arbitrary: command.map((text) => call(text)) },
      { weight: 1, arbitrary: long.map((text) => call(text)) },
      { weight: 1, arbitrary: path.map((text) => call({ path: text }, { name: 'read_file' })) },
      {
        weight: 1,
        arbitrary: fc
          .tuple(path, fc.string({ unit: 'grapheme', maxLength: 40 }))
          .map(([to, content]) => call({ path: to, content }, { name: 'write_file' })),
      },
    ),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([spec, ...fails]) => ({ ...spec, isError: fails.every(Boolean) }));
const line = fc.oneof(
  fc.constantFrom('don’t do that', 'never run the tests first', 'no problem'),
  fc.array(word, { minLength: 1, maxLength: 12 }).map((words) => words.join(' ')),
  command.map((text) => `run ${text}`),
  command.map((text) => `run \`${text}\``),
  command.map((text) => `no, also run ${text}`),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }),
);
const talk = fc
  .array(fc.tuple(line, fc.array(anyCall, { maxLength: 4 })), { minLength: 1, maxLength: 6 })
  .map((turns) => turns.flatMap(([said, calls]) => turn(said, calls)));

const RUNS = many(60, 8);

describe('a skill drafted by rule', () => {
  test('named after a file of its steps, with a failed step behind it, is taken', async () => {
    const fine = ['ls -l out.txt', 'cat notes.txt', 'wc -c out.txt', 'cksum out.txt', 'sh check.sh'];
    const messages = [
      ...fine.flatMap((text) => turn(`run ${text}`, [call(text)])),
      ...turn('run sh nosuch.sh', [call('sh nosuch.sh', { isError: true })]),
    ];
    const found = await draftOf(messages);
    assert.equal(found?.verdict.decision, 'accepted', JSON.stringify(found));
    assert.match(String(found?.draft.change.content), /Failed: `sh nosuch\.sh`/);
  });

  test('is taken by its own gate, whatever was run', async () => {
    await fc.assert(
      fc.asyncProperty(talk, fc.option(word, { nil: undefined }), async (messages, hint) => {
        const found = await draftOf(messages, hint);
        if (found === undefined) return;
        assert.notEqual(found.verdict.decision, 'refused', JSON.stringify(found));
      }),
      { numRuns: RUNS },
    );
  });

  test('comes out of every two commands of the owner that worked', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(command, fc.nat(3)), { minLength: 2, maxLength: 7 }), async (commands) => {
        const messages = commands.flatMap(([text, fails]) =>
          turn(`run ${text}`, [call(text, { isError: fails === 3 })]),
        );
        const worked = new Set(commands.filter(([, fails]) => fails !== 3).map(([text]) => text));
        if (worked.size < 2) return;
        const found = await draftOf(messages);
        assert.notEqual(found?.verdict.decision ?? 'refused', 'refused', String(found?.draft.change.content));
      }),
      { numRuns: RUNS },
    );
  });
});
