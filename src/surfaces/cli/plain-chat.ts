// Owns the chat as plain lines: no colours, no cursor movement, one line an event. For pipes, dumb terminals, --plain, screen readers.
// Knows no session logic (chat-session). Invariant: ends when its input ends, after every line was answered.
import { createInterface, type Interface } from 'node:readline';
import type { Readable } from 'node:stream';
import { createAsyncQueue } from '#base/async-queue.ts';
import { absentAsker, denyingApprover } from '#core/agent/approver.ts';
import type { App } from '#surfaces/app/app.ts';
import { ChatSession } from './chat/chat-session.ts';
import { type EventLine, eventLines } from './event-lines.ts';
import { failureLines, type OutputTarget, outputLines } from './render-output.ts';
import { createTerminalApprover, createTerminalAsker } from './terminal-approver.ts';
import { plain } from './terminal-text.ts';

export interface PlainChatOptions {
  readonly input: Readable;
  /** A person sits at the input: questions are asked and a prompt is shown. */
  readonly interactive: boolean;
  readonly resume?: string;
  readonly continueLast: boolean;
  readonly greeting: readonly string[];
}

const MARKS: Readonly<Record<EventLine['kind'], string>> = {
  tool: '> ',
  result: '< ',
  error: '! ',
  notice: '* ',
  answer: '',
  end: '= ',
};

export async function runPlainChat(
  app: App,
  options: PlainChatOptions,
  target: OutputTarget & { readonly signal: AbortSignal },
): Promise<number> {
  const lines = createAsyncQueue<string>();
  const questions: ((answer: string | undefined) => void)[] = [];
  const reader = readLines(options, { lines, questions, signal: target.signal });
  const ask = (said: readonly string[]) =>
    new Promise<string | undefined>((resolve) => {
      for (const text of said) target.out(`? ${text}\n`);
      questions.push(resolve);
    });
  const chat = new ChatSession({
    app,
    approver: options.interactive ? createTerminalApprover(ask) : denyingApprover,
    asker: options.interactive ? createTerminalAsker(ask) : absentAsker,
    continueLast: options.continueLast,
    ...(options.resume === undefined ? {} : { resume: options.resume }),
    ...(options.interactive ? { ask: async (question: string) => (await ask([question])) ?? '' } : {}),
  });
  reader.on('SIGINT', () => interrupt(chat, reader));
  try {
    return await talk(chat, { options, lines, target });
  } finally {
    reader.close();
    await chat.close();
  }
}

interface Talk {
  readonly options: PlainChatOptions;
  readonly lines: AsyncIterable<string>;
  readonly target: OutputTarget & { readonly signal: AbortSignal };
}

async function talk(chat: ChatSession, { options, lines, target }: Talk): Promise<number> {
  for (const text of options.greeting) target.out(`${text}\n`);
  const problem = await chat.open();
  if (problem !== undefined) {
    target.err(`talaria: ${problem}\n`);
    return 3;
  }
  let failed = false;
  prompt(options, target);
  for await (const line of lines) {
    if (line.trim() !== '') failed = !(await answer(chat, line, target));
    if (chat.isLeaving || target.signal.aborted) break;
    prompt(options, target);
  }
  return failed ? 1 : 0;
}

function prompt(options: PlainChatOptions, target: OutputTarget): void {
  if (options.interactive) target.out('you: ');
}

/** True when the line was done as asked. */
async function answer(chat: ChatSession, line: string, target: Talk['target']): Promise<boolean> {
  if (line.startsWith('/')) return runSlash(chat, line, target);
  const onStop = () => chat.stopTurn();
  target.signal.addEventListener('abort', onStop, { once: true });
  let done = false;
  try {
    for await (const event of chat.send(line)) {
      for (const shown of eventLines(event)) target.out(`${MARKS[shown.kind]}${plain(shown.text)}\n`);
      if (event.type === 'turn-end') done = event.outcome === 'done';
    }
  } finally {
    target.signal.removeEventListener('abort', onStop);
  }
  return done;
}

async function runSlash(chat: ChatSession, line: string, target: Talk['target']): Promise<boolean> {
  for await (const output of chat.slash(line, target.signal)) {
    if (output.type === 'failure') {
      for (const text of failureLines(output)) target.out(`! ${text}\n`);
      return false;
    }
    if (output.type !== 'data') for (const text of outputLines(output)) target.out(`${text}\n`);
  }
  return true;
}

interface Inputs {
  readonly lines: { push(line: string): void; close(): void };
  readonly questions: ((answer: string | undefined) => void)[];
  readonly signal: AbortSignal;
}

function readLines(options: PlainChatOptions, { lines, questions, signal }: Inputs): Interface {
  const reader = createInterface({ input: options.input, terminal: false });
  reader.on('line', (line) => {
    const waiting = questions.shift();
    if (waiting) waiting(line);
    else lines.push(line);
  });
  reader.on('close', () => {
    for (const waiting of questions.splice(0)) waiting(undefined);
    lines.close();
  });
  signal.addEventListener('abort', () => reader.close(), { once: true });
  return reader;
}

function interrupt(chat: ChatSession, reader: Interface): void {
  if (chat.isRunning) chat.stopTurn();
  else reader.close();
}
