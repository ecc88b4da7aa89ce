// Owns the chat as plain lines: no colours, no cursor movement, one line an event. For pipes, dumb terminals, --plain, screen readers.
// Knows no session logic (chat-session). Invariant: ends when its input ends, after every line was answered.
import type { Readable } from 'node:stream';
import { systemClock } from '#base/clock.ts';
import { absentAsker, denyingApprover } from '#core/agent/approver.ts';
import type { App } from '#surfaces/app/app.ts';
import { ChatSession } from '../chat/chat-session.ts';
import { isExitLine } from '../command-words.ts';
import { type EventLine, eventLines } from '../event-lines.ts';
import { type Ask, QuestionQueue } from '../questions.ts';
import { failureLines, type OutputTarget, outputLines } from '../render-output.ts';
import { createTerminalApprover, createTerminalAsker } from '../terminal-approver.ts';
import { plain } from '../terminal-text.ts';
import { readLines, type TypedLines } from './typed-lines.ts';

export interface PlainChatOptions {
  readonly input: Readable;
  /** A person sits at the input: questions are asked and a prompt is shown. */
  readonly interactive: boolean;
  readonly resume?: string;
  readonly continueLast: boolean;
  readonly greeting: readonly string[];
  /** Takes SIGINT for the chat while it runs. */
  readonly onInterrupt: (handler: (() => boolean) | undefined) => void;
}

type Target = OutputTarget & { readonly signal: AbortSignal };

const MARKS: Readonly<Record<EventLine['kind'], string>> = {
  tool: '> ',
  result: '< ',
  diff: '  ',
  error: '! ',
  notice: '* ',
  answer: '',
  end: '= ',
};

export async function runPlainChat(app: App, options: PlainChatOptions, target: Target): Promise<number> {
  const questions = new QuestionQueue(() => asking.change());
  const lines = readLines(options.input, questions);
  const asking = createAsking(questions, lines, target);
  const chat = new ChatSession({ app, continueLast: options.continueLast, ...answering(options, questions.ask) });
  const stop = () => {
    chat.stop();
    lines.close();
  };
  target.signal.addEventListener('abort', stop, { once: true });
  options.onInterrupt(() => {
    if (!chat.isBusy) return false;
    if (questions.current) target.out('\n');
    chat.stop();
    return true;
  });
  try {
    return await talk(chat, { options, lines, target });
  } finally {
    options.onInterrupt(undefined);
    target.signal.removeEventListener('abort', stop);
    lines.close();
    await chat.close();
  }
}

/** What is asked comes after the line of the call it is about, which is on its way when the question is. */
const ASK_AFTER_MS = 20;

/** Shows the current question; a secret one is answered unseen. */
function createAsking(questions: QuestionQueue, lines: TypedLines, target: Target): { change(): void } {
  let secret = false;
  let cancel: (() => void) | undefined;
  const show = () => {
    const { current } = questions;
    if (current) target.out(`${current.lines.map((text) => `? ${text}`).join('\n')}\nanswer: `);
  };
  return {
    change: () => {
      cancel?.();
      if (secret) target.out('\n');
      secret = questions.current?.secret === true;
      lines.hide(secret);
      if (questions.current) cancel = systemClock.after(ASK_AFTER_MS, show);
    },
  };
}

function answering({ interactive, resume }: PlainChatOptions, ask: Ask) {
  const start = resume === undefined ? {} : { resume };
  return interactive
    ? { ...start, ask, approver: createTerminalApprover(ask), asker: createTerminalAsker(ask) }
    : { ...start, approver: denyingApprover, asker: absentAsker };
}

interface Talk {
  readonly options: PlainChatOptions;
  readonly lines: TypedLines;
  readonly target: Target;
}

async function talk(chat: ChatSession, { options, lines, target }: Talk): Promise<number> {
  for (const text of options.greeting) target.out(`${text}\n`);
  const problem = await chat.open();
  if (problem !== undefined) {
    for (const text of failureLines(problem)) target.err(`talaria: ${text}\n`);
    return problem.exitCode;
  }
  const isLastDone = await answerAll(chat, { options, lines, target });
  const session = chat.resumable();
  if (!options.interactive) return isLastDone ? 0 : 1;
  if (session !== undefined) target.out(`\nsession ${session} · talaria --resume ${session}\n`);
  return 0;
}

/** False when the last line was not done as asked. */
async function answerAll(chat: ChatSession, { options, lines, target }: Talk): Promise<boolean> {
  const prompt = () => {
    if (options.interactive) target.out('you: ');
  };
  const between = async () => {
    for await (const text of chat.betweenTurns.say(target.signal)) target.out(`${MARKS.notice}${plain(text)}\n`);
    const instead = chat.betweenTurns.takeLine();
    if (instead !== undefined) await answer(chat, instead, target);
  };
  let isDone = true;
  await between();
  prompt();
  for await (const line of lines) {
    if (isExitLine(line)) break;
    if (line.trim() !== '') isDone = await answer(chat, line, target);
    if (chat.isLeaving || target.signal.aborted) break;
    await between();
    prompt();
  }
  return isDone;
}

/** True when the line was done as asked. */
async function answer(chat: ChatSession, line: string, target: Target): Promise<boolean> {
  if (line.startsWith('/')) return runSlash(chat, line, target);
  let done = false;
  for await (const event of chat.send(line)) {
    for (const shown of eventLines(event)) target.out(`${MARKS[shown.kind]}${plain(shown.text)}\n`);
    if (event.type === 'turn-end') done = event.outcome === 'done';
  }
  return done;
}

async function runSlash(chat: ChatSession, line: string, target: Target): Promise<boolean> {
  for await (const output of chat.slash(line)) {
    if (output.type === 'failure') {
      for (const text of failureLines(output)) target.out(`! ${text}\n`);
      return false;
    }
    if (output.type !== 'data') for (const text of outputLines(output, target.width)) target.out(`${text}\n`);
  }
  return true;
}
