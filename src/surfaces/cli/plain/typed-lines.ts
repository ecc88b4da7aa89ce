// Owns turning what is typed or piped into messages: one a line, a backslash at its end goes on with the next. Knows no chat.
// Invariant: a line typed while a question waits is its answer and nothing else; a hidden line is not echoed by the terminal.
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { createAsyncQueue } from '#base/async-queue.ts';
import type { QuestionQueue } from '../questions.ts';

export interface TypedLines extends AsyncIterable<string> {
  /** True: what is typed now is not shown. */
  hide(hidden: boolean): void;
  close(): void;
}

/** Ctrl-C and Ctrl-D as raw mode gives them. */
const ENDING = ['\u0003', '\u0004'];

type RawMode = Readable & { setRawMode?: (raw: boolean) => void };

export function readLines(input: Readable, questions: QuestionQueue): TypedLines {
  const queue = createAsyncQueue<string>();
  const reader = createInterface({ input, terminal: false });
  const pending: string[] = [];
  let hidden = false;
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
  const hide = (wanted: boolean) => {
    if (wanted === hidden) return;
    hidden = wanted;
    (input as RawMode).setRawMode?.(wanted);
  };
  const onHiddenKey = (chunk: Uint8Array | string) => {
    // Raw mode gives the keys that end things as characters: they are no part of a key.
    if (hidden && ENDING.some((key) => String(chunk).includes(key))) questions.answer('');
  };
  input.on('data', onHiddenKey);
  return {
    [Symbol.asyncIterator]: () => queue[Symbol.asyncIterator](),
    hide,
    close: () => {
      hide(false);
      input.off('data', onHiddenKey);
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
