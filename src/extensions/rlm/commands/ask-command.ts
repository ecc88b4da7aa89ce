// Owns `rlm ask`: its flags, what is wrong with what was typed, how the outcome is shown. Heavy parts load when it runs.
// Exit codes: 0 something is quoted, supported or computed, 3 nothing is, 1 failed or stopped, 2 typed wrongly.

import { stdin } from 'node:process';
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import type { Refusal } from '#base/result.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  defineCommand,
  type Failure,
  failed,
  refused,
  wrongUse,
} from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { secretTest } from '#core/tools/files/file-access.ts';
import type { AskContext, AskOptions, AskRefusal } from '../ask/prepare-ask.ts';
import type { AskOutcome } from '../outcome.ts';
import { budgetOf, familiesOf, given } from './engine-flags.ts';

const number = z.coerce.number().positive().optional();

const input = z.object({
  question: z.array(z.string()).default([]),
  context: z.string().optional().describe('File or folder to ask about; - for what is piped in'),
  strict: z
    .boolean()
    .default(false)
    .describe('Only sentences that stand in the material word for word, and counted values'),
  maxSteps: number.describe('Blocks of code that the model may run; default 12'),
  maxCalls: number.describe('Calls of models in all; default 100'),
  maxTokens: number.describe('Tokens in all'),
  maxCost: number.describe('US dollars in all'),
  timeout: number.describe('Seconds in all'),
  concurrency: number.describe('Sub-calls at once; default 4'),
  window: number.describe('Tokens that the model can read at once; default: what it says, 32768 at most'),
  family: z.string().optional().describe('Who answers, in order: NAME or NAME,NAME'),
  depth: number.describe('Levels of recursion, 1 to 5; default 5'),
  trace: z.boolean().default(true).describe('Keep nothing of the run'),
  keepContext: z.boolean().default(false).describe('Keep piped input below the home, so that the run can be replayed'),
});

type Asked = z.infer<typeof input>;

export function askCommands(ground: Ground): readonly AnyCommand[] {
  return [
    defineCommand<Asked>({
      name: 'rlm ask',
      summary: 'Ask about long material: a model searches it with code, each sentence has its source and its grade',
      surfaces: ['cli'],
      input: input as z.ZodType<Asked>,
      positional: ['question...'],
      examples: [
        'talaria rlm ask --context README.md "Which Node version is needed?"',
        'talaria rlm ask --context logs/ --strict "Which errors occur most often?"',
        'journalctl -b | talaria rlm ask --context - "Why did the network restart?"',
      ],
      run: (asked, context) => run(ground, asked, context),
    }),
  ];
}

async function* run(ground: Ground, asked: Asked, command: CommandContext): AsyncGenerator<CommandOutput> {
  const context = contextOf(ground, asked, command);
  if ('exitCode' in context) return yield context;
  const [{ askQuestion }, { askLines, strictSentences }] = await Promise.all([
    import('../ask/ask-question.ts'),
    import('../ask/ask-lines.ts'),
  ]);
  const { trace: keep, keepContext, strict } = asked;
  const question = asked.question.join(' ');
  const { progress } = command;
  const answered = await askQuestion(
    { ground, context, question, options: optionsOf(asked), keep, keepContext, progress },
    command.signal,
  ).finally(() => progress?.(''));
  if (!answered.ok) return yield refusalOf(answered);
  const { outcome, kept, context: spooled, notices } = answered.value;
  for (const text of notices) yield { type: 'line', text };
  for (const text of askLines({ outcome, strict, kept, context: spooled })) yield { type: 'line', text };
  const sentences = strict ? strictSentences(outcome.sentences) : outcome.sentences;
  yield { type: 'data', value: { ...outcome, sentences, kept, context: spooled } as unknown as JsonValue };
  const failure = failureOf(outcome);
  if (failure !== null) yield failure;
}

function contextOf({ places }: Ground, asked: Asked, { cwd, ask }: CommandContext): AskContext | Failure {
  const { context } = asked;
  if (context === undefined || context === '')
    return wrongUse(
      'context-missing',
      'no context is named',
      'Name a file or folder: --context README.md, or - for what is piped in.',
    );
  if (asked.question.join('').trim() === '')
    return wrongUse(
      'question-missing',
      'there is no question',
      'Type it last: talaria rlm ask --context README.md "Which …?"',
    );
  if (context !== '-') {
    // Of a folder, what holds secrets stays out; a file that is named is the person's word.
    const path = typedPath(context, { cwd, userHome: places.userHome });
    return { path, root: cwd, leaveOut: secretTest(cwd, places, path) };
  }
  if (ask !== undefined || stdin.isTTY === true)
    return wrongUse(
      'context-terminal',
      '--context - reads what is piped in, and nothing is',
      'Pipe it: cat notes.md | talaria rlm ask --context - "…".',
    );
  return { input: stdin };
}

function optionsOf(asked: Asked): AskOptions {
  const { maxSteps: max_steps, concurrency, window: window_tokens, depth, strict } = asked;
  const limits = given({ max_steps, concurrency, window_tokens, depth });
  return { ...limits, strict, families: familiesOf(asked), budget: budgetOf(asked) };
}

const FIXES: Readonly<Partial<Record<AskRefusal, string>>> = {
  'context-not-found': 'Check the path; a folder is read with all text files below it.',
  'context-empty': 'Name a file that holds text.',
  'context-binary': 'Name a text; take the text out of it first, with pdftotext for instance.',
  'context-unreadable': 'Check the rights: ls -l tells them.',
  'question-missing': 'Type a question with words.',
  'question-too-long': 'Keep the question short.',
  'rlm-family-unknown': 'Families are named in config.yaml under rlm.families.',
};
const NOT_ALLOWED: ReadonlySet<AskRefusal> = new Set(['rlm-nested', 'rlm-nested-too-deep']);
const TYPED: ReadonlySet<AskRefusal> = new Set([
  'question-missing',
  'question-too-long',
  'limit-out-of-range',
  'rlm-family-unknown',
]);

function refusalOf({ reason, detail }: Refusal<AskRefusal>): Failure {
  const fix = FIXES[reason] ?? '';
  if (NOT_ALLOWED.has(reason)) return refused(reason, detail, fix);
  return TYPED.has(reason) ? wrongUse(reason, detail, fix) : failed(reason, detail, fix);
}

function failureOf({ verdict, detail, run_id }: AskOutcome): Failure | null {
  const why = detail ?? '';
  const show = `talaria rlm show ${run_id} tells each step; talaria doctor looks at the models.`;
  const less = 'Ask for less at once, or let a stronger model answer with --family.';
  const more = 'Allow more with --max-steps or --max-calls, or let a stronger model answer.';
  if (verdict === 'unsupported') return refused('ask-unsupported', why, less);
  if (verdict === 'no_answer') return refused('ask-no-answer', why, more);
  if (verdict === 'failed') return failed('ask-failed', why, show);
  return verdict === 'cancelled' ? failed('ask-cancelled', why, 'Ask again.') : null;
}
