// Owns reading what is piped into the command: as one text, or as messages, one JSON object a line. Knows no turn.
// Invariant: a pipe that nobody writes to never blocks a turn that has its text; a line that makes no sense ends nothing.
import { fstatSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { throwIfAborted } from '#base/abort.ts';
import { systemClock } from '#base/clock.ts';
import { isJsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { sliceText } from '#base/text.ts';

/** Characters of piped input that a turn takes; more is cut in the middle, saying so. */
const LIMIT = 400_000;
/** Characters that are kept at all: tools can search what the turn does not take. */
const WHOLE_LIMIT = 32_000_000;

export interface PipedInput {
  readonly text: string;
  readonly whole: string;
  /** Characters in the middle that are not in `text`. */
  readonly leftOut: number;
  /** Nothing came in time, and the pipe was still open. */
  readonly silent: boolean;
  /** It holds NUL characters: no text. */
  readonly binary: boolean;
}

export const NO_INPUT: PipedInput = { text: '', whole: '', leftOut: 0, silent: false, binary: false };

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
  const { text, whole, leftOut } = kept.end();
  return { text: text.replace(/\n$/, ''), whole, leftOut, silent, binary: text.includes('\u0000') };
}

/** Head and tail of a stream of any length, in memory of a fixed size. */
function createKept() {
  const decoder = new TextDecoder();
  let head = '';
  let tail = '';
  let total = 0;
  const put = (text: string) => {
    total += text.length;
    if (head.length < WHOLE_LIMIT) head += text;
    tail = (tail + text).slice(-LIMIT);
  };
  const cut = (limit: number) => {
    if (total <= limit) return { text: head, leftOut: 0 };
    const kept = sliceText(head, limit - LIMIT / 4);
    const last = tail.slice(-LIMIT / 4).toWellFormed();
    const leftOut = total - kept.length - last.length;
    return { text: `${kept}\n[… ${leftOut} characters left out …]\n${last}`, leftOut };
  };
  const end = () => {
    put(decoder.decode());
    return { ...cut(LIMIT), whole: cut(WHOLE_LIMIT).text };
  };
  return { add: (chunk: Uint8Array) => put(decoder.decode(chunk, { stream: true })), end };
}

/** One line of `--input-format stream-json`: a message of the owner, or what is wrong with the line. */
export type InputLine =
  | { readonly line: number; readonly text: string }
  | { readonly line: number; readonly problem: string };

/** The lines of `stream` as they come, to its end or until the signal aborts; empty ones do not count. */
export async function* readInputLines(stream: Readable, signal: AbortSignal): AsyncGenerator<InputLine, void> {
  const reader = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY, signal });
  let line = 0;
  for await (const typed of reader) {
    line += 1;
    if (typed.trim() !== '') yield { line, ...readInputLine(typed) };
  }
}

const SHAPE = '{"type":"user","message":{"content":"…"}}';

function readInputLine(typed: string): { readonly text: string } | { readonly problem: string } {
  const parsed = parseJson(typed);
  if (!parsed.ok) return { problem: `it is no JSON (${parsed.detail}); a line is ${SHAPE}` };
  if (!isJsonObject(parsed.value)) return { problem: `it is no JSON object; a line is ${SHAPE}` };
  const { type, text, message } = parsed.value;
  if (type !== 'user')
    return { problem: `its "type" is ${JSON.stringify(type) ?? 'missing'}, and only "user" is taken` };
  const said = contentText(isJsonObject(message) ? message.content : text);
  if (said === undefined) return { problem: `it has no text; a line is ${SHAPE} or {"type":"user","text":"…"}` };
  return said.trim() === '' ? { problem: 'its text is empty' } : { text: said };
}

/** A string, or a list of text blocks. */
function contentText(content: JsonValue | undefined): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  const texts = content.map((block) => (isJsonObject(block) && block.type === 'text' ? block.text : undefined));
  return texts.every((text) => typeof text === 'string') ? texts.join('\n') : undefined;
}
