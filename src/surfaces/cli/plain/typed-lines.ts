// Owns turning what is typed or piped into messages: one a line, a backslash at its end goes on with the next. Knows no chat.
// Invariant: a line typed while a question takes answers is its answer and nothing else; a hidden line is not echoed by the terminal.
import { createInterface } from 'node:readline';
import { PassThrough, type Readable } from 'node:stream';
import { createAsyncQueue } from '#base/async-queue.ts';
import type { QuestionQueue } from '../questions.ts';

export interface TypedLines extends AsyncIterable<string> {
  /** `hidden`: what is typed now is not shown. `dropped`: it is dropped, an unfinished line too, but for the keys that end things. */
  listen(how: { readonly hidden: boolean; readonly dropped: boolean }): void;
  close(): void;
}

/** Ctrl-C and Ctrl-D as raw mode gives them. */
const ENDING = ['\u0003', '\u0004'];

type RawMode = Readable & { setRawMode?: (raw: boolean) => void };

/** @param onInterrupt Ctrl-C where the terminal does not make a signal of it */
export function readLines(input: Readable, questions: QuestionQueue, onInterrupt: () => void): TypedLines {
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
