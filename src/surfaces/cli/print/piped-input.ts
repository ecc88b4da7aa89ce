// Owns reading what is piped into the command: as one text, or as messages, one JSON object a line. Knows no turn.
// Invariant: a pipe that nobody writes to never blocks a turn that has its text; a line that makes no sense ends nothing.
import { fstatSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { throwIfAborted } from '#base/abort.ts';
import { systemClock } from '#base/clock.ts';
import { isJsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { estimateTokens, headTail, sliceText } from '#base/text.ts';

/** Characters of piped input that are kept; tools can search what a turn does not take. */
const KEPT = 32_000_000;
/** Characters that a turn takes, and its share of a small window; more is cut in the middle, saying so. */
const LIMIT = 400_000;
const WINDOW_SHARE = 0.4;
/** What of a text tells how many characters a token has. */
const SAMPLE = 100_000;

export interface PipedInput {
  readonly text: string;
  /** Characters that came, also those that were not kept. */
  readonly total: number;
  /** Nothing came in time, and the pipe was still open. */
  readonly silent: boolean;
  /** It holds NUL characters: no text. */
  readonly binary: boolean;
}

export const NO_INPUT: PipedInput = { text: '', total: 0, silent: false, binary: false };

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
  const { text, total } = kept.end();
  return { text, total, silent, binary: text.includes('\u0000') };
}

/** Head and tail of a stream of any length, in memory of a fixed size. */
function createKept() {
  const decoder = new TextDecoder();
  let head = '';
  let tail = '';
  let total = 0;
  const put = (text: string) => {
    total += text.length;
    if (head.length < KEPT) head += text;
    tail = (tail + text).slice(-LIMIT);
  };
  const end = () => {
    put(decoder.decode());
    return { text: total <= KEPT ? head : joined(head, tail, total), total };
  };
  return { add: (chunk: Uint8Array) => put(decoder.decode(chunk, { stream: true })), end };
}

function joined(head: string, tail: string, total: number): string {
  const kept = sliceText(head, KEPT - LIMIT);
  const last = tail.toWellFormed();
  return `${kept}\n[… ${total - kept.length - last.length} characters left out …]\n${last}`;
}

/** What a turn takes of it, for a model that reads `window` tokens at once, and how many characters it does not take. */
export function forOneTurn(
  { text, total }: PipedInput,
  window: number,
): { readonly text: string; readonly leftOut: number } {
  const sample = text.slice(0, SAMPLE);
  const room = (window * WINDOW_SHARE * sample.length) / Math.max(1, estimateTokens(sample));
  const limit = Math.min(LIMIT, Math.max(1_000, Math.floor(room)));
  if (text.length <= limit) return { text: text.replace(/\n$/, ''), leftOut: 0 };
  const tail = Math.floor(limit / 4);
  return { text: headTail(text, limit - tail, tail), leftOut: total - limit };
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
