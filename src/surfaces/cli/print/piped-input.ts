// Owns reading what is piped into the command. Knows no turn. Invariant: a pipe that nobody writes to never blocks a turn that has its text.
import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { throwIfAborted } from '#base/abort.ts';
import { systemClock } from '#base/clock.ts';
import { sliceText } from '#base/text.ts';

/** Characters of piped input that a turn takes; more is cut in the middle, saying so. */
const LIMIT = 400_000;

export interface PipedInput {
  readonly text: string;
  /** Nothing came in time, and the pipe was still open. */
  readonly silent: boolean;
  /** It holds NUL characters: no text. */
  readonly binary: boolean;
}

export const NO_INPUT: PipedInput = { text: '', silent: false, binary: false };

export function hasPipedInput(): boolean {
  try {
    const facts = fstatSync(0);
    return facts.isFIFO() || facts.isFile() || facts.isSocket();
  } catch {
    // A closed standard input is no input.
    return false;
  }
}

export interface ReadOptions {
  /** How long the first byte may take; without it the end of the stream is waited for. */
  readonly patienceMs?: number;
  readonly signal: AbortSignal;
}

/** All of `stream` as text. Throws the signal's reason. */
export async function readPipedInput(stream: Readable, { patienceMs, signal }: ReadOptions): Promise<PipedInput> {
  let silent = false;
  const stop = () => stream.destroy();
  const giveUp = () => {
    silent = true;
    stop();
  };
  const cancel = patienceMs === undefined ? () => undefined : systemClock.after(patienceMs, giveUp);
  const kept = createKept();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      cancel();
      kept.add(chunk);
    }
  } catch (error) {
    if (!silent && !signal.aborted) throw error;
  } finally {
    cancel();
    signal.removeEventListener('abort', stop);
  }
  throwIfAborted(signal);
  const text = kept.text();
  return { text: text.replace(/\n$/, ''), silent, binary: text.includes('\u0000') };
}

/** Head and tail of a stream of any length, in memory of a fixed size. */
function createKept() {
  const decoder = new TextDecoder();
  const room = LIMIT / 4;
  let head = '';
  let tail = '';
  let total = 0;
  const put = (text: string) => {
    total += text.length;
    if (head.length < LIMIT) head += text;
    tail = (tail + text).slice(-LIMIT);
  };
  const text = () => {
    put(decoder.decode());
    if (total <= LIMIT) return head;
    const kept = sliceText(head, LIMIT - room);
    const end = tail.slice(-room).toWellFormed();
    return `${kept}\n[… ${total - kept.length - end.length} characters left out …]\n${end}`;
  };
  return { add: (chunk: Uint8Array) => put(decoder.decode(chunk, { stream: true })), text };
}
