// Owns the chat as plain lines: no colours, no cursor movement, one line an event. For pipes, dumb terminals, --plain, screen readers.
// Knows no session logic (chat-session). Invariant: ends when its input ends, after every line was answered.
import { createInterface } from 'node:readline';
import { PassThrough, type Readable } from 'node:stream';
import type { Clock } from '#base/clock.ts';
import { createAsyncQueue } from '#base/fabric.ts';
import { absentAsker, denyingApprover } from '#core/agent/approver.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { App } from '#surfaces/app/app.ts';
import { ChatSession } from './chat/chat-session.ts';
import { commandOf } from './chat/typed-line.ts';
import { isExitLine } from './mount-command.ts';
import type { PipedInput } from './print-mode.ts';
import { type Ask, createTerminalApprover, createTerminalAsker, QuestionQueue } from './questions.ts';
import { failureLines, type OutputTarget, outputLines } from './render-output.ts';
import { commandLines, type EventLine, eventLines, plain } from './terminal-text.ts';

export interface PlainChatOptions {
  readonly input: Readable;
  /** A person sits at the input: questions are asked and a prompt is shown. */
  readonly interactive: boolean;
  readonly resume?: string;
  readonly newId?: string;
  readonly continueLast: boolean;
  /** The first line, with what was piped in; `once`: nothing is read after it. */
  readonly prompt?: string;
  readonly piped?: PipedInput;
  readonly once?: boolean;
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
  output: '',
  end: '= ',
};

export async function runPlainChat(app: App, options: PlainChatOptions, target: Target): Promise<number> {
  const { clock } = app;
  const questions = new QuestionQueue({ onChange: () => asking.change(), onOpen: () => asking.open(), clock });
  const lines = readLines(options.input, questions, () => interrupt() || process.kill(process.pid, 'SIGINT'));
  const asking = createAsking(questions, { lines, target, clock });
  const waiting: string[] = [];
  const chat = new ChatSession({
    app,
    continueLast: options.continueLast,
    submit: (line) => waiting.push(line),
    ...answering(options, questions.ask),
  });
  const stop = () => {
    chat.stop();
    lines.close();
  };
  target.signal.addEventListener('abort', stop, { once: true });
  const interrupt = () => {
    if (!chat.isBusy) return false;
    if (questions.current) target.out('\n');
    chat.stop();
    return true;
  };
  options.onInterrupt(interrupt);
  try {
    return await talk(chat, { options, lines, waiting, target });
  } finally {
    options.onInterrupt(undefined);
    target.signal.removeEventListener('abort', stop);
    lines.close();
    await chat.close();
  }
}

/** What is asked comes after the line of the call it is about, which is on its way when the question is. */
const ASK_AFTER_MS = 20;

interface Asking {
  readonly lines: TypedLines;
  readonly target: Target;
  readonly clock: Clock;
}

/** Shows the current question, and under it, when answers count, what can be typed; a secret one is answered unseen. */
function createAsking(questions: QuestionQueue, { lines, target, clock }: Asking) {
  let secret = false;
  let cancel: (() => void) | undefined;
  const show = () => {
    const { current } = questions;
    if (!current) return;
    target.out(current.lines.map((text) => `? ${text}\n`).join(''));
    lines.listen({ hidden: secret, dropped: true });
    questions.drawn();
  };
  return {
    change: () => {
      cancel?.();
      if (secret) target.out('\n');
      secret = questions.current?.secret === true;
      lines.listen({ hidden: secret, dropped: false });
      if (questions.current) cancel = clock.after(ASK_AFTER_MS, show);
    },
    open: () => {
      const { keys } = questions.current ?? {};
      lines.listen({ hidden: secret, dropped: false });
      target.out(`${keys === undefined ? '' : `? ${keys}\n`}answer: `);
    },
  };
}

function answering({ interactive, resume, newId }: PlainChatOptions, ask: Ask) {
  const start = { ...(resume === undefined ? {} : { resume }), ...(newId === undefined ? {} : { newId }) };
  return interactive
    ? { ...start, ask, approver: createTerminalApprover(ask), asker: createTerminalAsker(ask) }
    : { ...start, approver: denyingApprover, asker: absentAsker };
}

interface Talk {
  readonly options: PlainChatOptions;
  readonly lines: TypedLines;
  /** Lines that a command gave, answered before the next typed one. */
  readonly waiting: string[];
  readonly target: Target;
}

async function talk(chat: ChatSession, seat: Talk): Promise<number> {
  const { options, target } = seat;
  for (const text of options.greeting) target.out(`${text}\n`);
  const problem = await chat.open();
  if (problem !== undefined) {
    for (const text of failureLines(problem)) target.err(`talaria: ${text}\n`);
    return problem.exitCode;
  }
  const isLastDone = await answerAll(chat, seat);
  const session = chat.resumable();
  if (!options.interactive || options.once) return isLastDone ? 0 : 1;
  if (session !== undefined) target.out(`\nsession ${session} · talaria --resume ${session}\n`);
  return 0;
}

/** False when the last line was not done as asked. */
async function answerAll(chat: ChatSession, { options, lines, waiting, target }: Talk): Promise<boolean> {
  const prompt = () => {
    if (options.interactive) target.out('you: ');
  };
  let isDone = true;
  await between(chat, target);
  if (options.prompt !== undefined) {
    isDone = await answerFirst(chat, { prompt: options.prompt, piped: options.piped }, target);
    if (options.once) return isDone;
    await between(chat, target);
  }
  prompt();
  for await (const line of lines) {
    if (isExitLine(line)) break;
    if (line.trim() !== '') waiting.unshift(line);
    isDone = (await answerWaiting(chat, waiting, target)) ?? isDone;
    if (chat.isLeaving || target.signal.aborted) break;
    await between(chat, target);
    prompt();
  }
  return isDone;
}

/** What was learned, and what waits for a yes; a line typed instead of an answer is answered as any other. */
async function between(chat: ChatSession, target: Target): Promise<void> {
  for await (const text of chat.betweenTurns.say(target.signal)) target.out(`${MARKS.notice}${plain(text)}\n`);
  const instead = chat.betweenTurns.takeLine();
  if (instead !== undefined) await answer(chat, instead, target);
}

/** Also what is added meanwhile; whether the last was done as asked, undefined when nothing waited. */
async function answerWaiting(chat: ChatSession, waiting: string[], target: Target): Promise<boolean | undefined> {
  let isDone: boolean | undefined;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
    isDone = await answer(chat, next, target);
  return isDone;
}

/** True when the line was done as asked. */
async function answer(chat: ChatSession, line: string, target: Target): Promise<boolean> {
  if (line.startsWith('/')) return runSlash(chat, line, target);
  return showTurn(chat.send(line), target, commandOf(line) === undefined ? eventLines : commandLines);
}

interface FirstLine {
  readonly prompt: string;
  readonly piped: PipedInput | undefined;
}

async function answerFirst(chat: ChatSession, { prompt, piped }: FirstLine, target: Target): Promise<boolean> {
  const { app, conversation } = chat;
  if (!conversation || !piped || piped.text === '') return answer(chat, prompt, target);
  const [{ BINARY, leftOutText, stdinPart }, { forOneTurn }] = await Promise.all([
    import('./print-mode.ts'),
    import('./print-mode.ts'),
  ]);
  if (piped.binary) target.err(`talaria: ${BINARY}\n`);
  if (piped.binary) return false;
  const { leftOut } = forOneTurn(piped, app.model().contextWindow);
  if (leftOut > 0) target.err(`talaria: ${leftOutText(leftOut, app.model().tier, prompt)}\n`);
  return showTurn(chat.send(prompt, [stdinPart(app, conversation, piped)]), target);
}

async function showTurn(
  events: AsyncIterable<TurnEvent>,
  target: Target,
  linesOf: (event: TurnEvent) => readonly EventLine[] = eventLines,
): Promise<boolean> {
  let done = false;
  for await (const event of events) {
    for (const shown of linesOf(event)) target.out(`${MARKS[shown.kind]}${plain(shown.text)}\n`);
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

// Turning what is typed or piped into messages: one a line, a backslash at its end goes on with the next. Knows no chat.
// Invariant: a line typed while a question takes answers is its answer and nothing else; a hidden line is not echoed by the terminal.

interface TypedLines extends AsyncIterable<string> {
  /** `hidden`: what is typed now is not shown. `dropped`: it is dropped, an unfinished line too, but for the keys that end things. */
  listen(how: { readonly hidden: boolean; readonly dropped: boolean }): void;
  close(): void;
}

/** Ctrl-C and Ctrl-D as raw mode gives them. */
const ENDING = ['\u0003', '\u0004'];

type RawMode = Readable & { setRawMode?: (raw: boolean) => void };

/** @param onInterrupt Ctrl-C where the terminal does not make a signal of it */
function readLines(input: Readable, questions: QuestionQueue, onInterrupt: () => void): TypedLines {
  const queue = createAsyncQueue<string>();
  const heard = new PassThrough();
  const reader = createInterface({ input: heard, terminal: false });
  const pending: string[] = [];
  let [hidden, dropped, raw] = [false, false, false];
  const take = (line: string) => {
    if (line.endsWith('\\')) return void pending.push(line.slice(0, -1));
    queue.push([...pending.splice(0), line].join('\n'));
  };
  reader.on('line', (keys) => {
    // What was typed before Ctrl-C is still in front of the line: half a key must not become a message.
    const line = keys.slice(Math.max(...ENDING.map((key) => keys.lastIndexOf(key))) + 1);
    if (!questions.answer(hidden ? editedLine(line) : line)) take(line);
  });
  reader.on('close', () => {
    questions.close();
    if (pending.length > 0) queue.push(pending.splice(0).join('\n'));
    queue.close();
  });
  const listen: TypedLines['listen'] = (how) => {
    ({ hidden, dropped } = how);
    if (raw === (hidden || dropped)) return;
    raw = !raw;
    (input as RawMode).setRawMode?.(raw);
  };
  const onKeys = (chunk: Uint8Array | string) => {
    // Raw mode gives the keys that end things as characters: they are no part of a key.
    const ends = raw && ENDING.some((key) => String(chunk).includes(key));
    if (!dropped) heard.write(chunk);
    if (ends && hidden) questions.skip();
    else if (ends) onInterrupt();
  };
  const onEnd = () => void heard.end();
  input.on('data', onKeys);
  input.once('end', onEnd);
  // Whoever read from it before has paused it.
  input.resume();
  return {
    [Symbol.asyncIterator]: () => queue[Symbol.asyncIterator](),
    listen,
    close: () => {
      listen({ hidden: false, dropped: false });
      input.off('data', onKeys);
      input.off('end', onEnd);
      input.pause();
      reader.close();
    },
  };
}

/** What is left of raw keys after rubbing out; other control characters do not count. */
function editedLine(keys: string): string {
  let text = '';
  for (const key of keys) {
    if (key === '\u007f' || key === '\b') text = text.slice(0, -1);
    else if (key >= ' ') text += key;
  }
  return text;
}
