// Owns reading what is piped into the command. Knows no turn. Invariant: a pipe that nobody writes to never blocks a start.
import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { systemClock } from '#base/clock.ts';
import { headTail } from '#base/text.ts';

/** Characters of piped input that a turn takes; more is cut in the middle, saying so. */
const LIMIT = 400_000;
const FIRST_BYTE_MS = 1_000;

export function hasPipedInput(): boolean {
  try {
    const facts = fstatSync(0);
    return facts.isFIFO() || facts.isFile() || facts.isSocket();
  } catch {
    return false;
  }
}

/** All of `stream` as text; empty when nothing comes within a second of the start. */
export async function readPipedInput(stream: Readable): Promise<string> {
  const silence = new AbortController();
  const cancel = systemClock.after(FIRST_BYTE_MS, () => {
    silence.abort();
    stream.destroy();
  });
  const decoder = new TextDecoder();
  let head = '';
  let tail = '';
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      cancel();
      const text = decoder.decode(chunk, { stream: true });
      if (head.length < LIMIT) head += text;
      else tail = (tail + text).slice(-LIMIT / 4);
    }
  } catch (error) {
    if (!silence.signal.aborted) throw error;
  } finally {
    cancel();
  }
  return headTail(head + tail, (LIMIT * 3) / 4, LIMIT / 4).replace(/\n$/, '');
}
