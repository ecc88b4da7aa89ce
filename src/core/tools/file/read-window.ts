// Owns reading a window of lines from a file of any size in bounded memory: stops as soon as it has enough.
// Knows no tool. Invariant: memory is bounded by the window's characters and one chunk, whatever the file's size or line length.
import { close, read } from 'node:fs';
import { promisify } from 'node:util';
import { throwIfAborted } from '#base/abort.ts';
import { openRegular } from '#base/paths/open-files.ts';

export interface WindowRequest {
  /** First line, from 1. */
  readonly offset: number;
  readonly limit: number;
  /** Characters of the whole window. */
  readonly maxChars: number;
  /** Characters of one line. */
  readonly maxLine: number;
}

export interface FileWindow {
  readonly lines: readonly string[];
  /** There is more after the last line given. */
  readonly more: boolean;
  /** Lines of the whole file, when reading got that far. */
  readonly totalLines?: number;
  readonly cutLines: number;
  /** Some bytes were no UTF-8 and are shown as U+FFFD. */
  readonly badBytes: boolean;
}

const readBytes = promisify(read);
const closeFile = promisify(close);

const CHUNK = 256 * 1024;
/** How far reading goes on behind the window to count the lines of the file, and how far it goes to find the window. */
const COUNT_BYTES = 8 * 1024 * 1024;
const MAX_BYTES = 4 * 1024 ** 3;

/** `path` has no links. Throws as `openRegular`. */
export async function readWindow(path: string, request: WindowRequest, signal: AbortSignal): Promise<FileWindow> {
  const { fd } = openRegular(path, 'link-free');
  try {
    const collect = collectLines(request);
    const decoder = new TextDecoder('utf-8', { fatal: false });
    const buffer = Buffer.allocUnsafe(CHUNK);
    let behind = 0;
    let total = 0;
    for (;;) {
      throwIfAborted(signal);
      const { bytesRead } = await readBytes(fd, buffer, 0, CHUNK, null);
      total += bytesRead;
      const chunk = buffer.subarray(0, bytesRead);
      if (collect.wantsText(chunk)) collect.text(decoder.decode(chunk, { stream: bytesRead > 0 }));
      else collect.count(chunk);
      if (bytesRead === 0) return collect.finish(true);
      if (collect.full()) behind += bytesRead;
      if (behind > COUNT_BYTES || total > MAX_BYTES) return collect.finish(false);
    }
  } finally {
    await closeFile(fd);
  }
}

/** What has been read so far. */
interface Collected {
  readonly request: WindowRequest;
  readonly lines: string[];
  /** Number of the line that is being read. */
  line: number;
  /** Its start, at most one character more than may be shown, and its length so far. */
  open: string;
  openLength: number;
  chars: number;
  cutLines: number;
  badBytes: boolean;
  /** The window has as many characters as it may. */
  stopped: boolean;
}

function collectLines(request: WindowRequest) {
  const state: Collected = {
    request,
    lines: [],
    line: 1,
    open: '',
    openLength: 0,
    chars: 0,
    cutLines: 0,
    badBytes: false,
    stopped: false,
  };
  const full = () => state.stopped || state.line >= request.offset + request.limit;
  return {
    full,
    /** Before and behind the window only line ends matter: bytes are counted, not decoded. */
    wantsText: (chunk: Buffer) => !full() && state.line + 1 + countLineEnds(chunk) >= request.offset,
    count(chunk: Buffer): void {
      state.line += countLineEnds(chunk);
      if (chunk.length > 0) state.openLength = chunk.at(-1) === LINE_END ? 0 : 1;
    },
    text(text: string): void {
      let at = 0;
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
        addPiece(state, text.slice(at, end));
        endLine(state);
        state.line += 1;
        at = end + 1;
      }
      addPiece(state, text.slice(at));
    },
    finish: (complete: boolean) => finishWindow(state, complete),
  };
}

const LINE_END = 10;

function isShown({ request, line, stopped }: Collected): boolean {
  return !stopped && line >= request.offset && line < request.offset + request.limit;
}

function addPiece(state: Collected, piece: string): void {
  state.openLength += piece.length;
  if (!isShown(state)) return;
  const room = state.request.maxLine + 1 - state.open.length;
  if (room > 0) state.open += piece.slice(0, room);
  state.badBytes ||= piece.includes('\uFFFD');
}

function endLine(state: Collected): void {
  if (isShown(state)) showLine(state);
  state.open = '';
  state.openLength = 0;
}

function showLine(state: Collected): void {
  const { maxLine, maxChars } = state.request;
  const body = state.open.endsWith('\r') ? state.open.slice(0, -1) : state.open;
  const isLong = state.openLength > maxLine + 1;
  const shown = isLong
    ? `${body.slice(0, maxLine)}… [${state.openLength - maxLine} more characters in this line]`
    : body;
  if (state.chars + shown.length > maxChars && state.lines.length > 0) {
    state.stopped = true;
    return;
  }
  state.lines.push(shown.toWellFormed());
  state.chars += shown.length + 1;
  if (isLong) state.cutLines += 1;
}

function finishWindow(state: Collected, complete: boolean): FileWindow {
  const { lines, request } = state;
  const unfinished = state.openLength > 0;
  if (unfinished) endLine(state);
  const totalLines = state.line - 1 + (unfinished ? 1 : 0);
  const shownTo = request.offset + lines.length - 1;
  const more = !complete || (lines.length > 0 && totalLines > shownTo);
  const { cutLines, badBytes } = state;
  return { lines, more, cutLines, badBytes, ...(complete ? { totalLines } : {}) };
}

function countLineEnds(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(LINE_END); at >= 0; at = chunk.indexOf(LINE_END, at + 1)) count += 1;
  return count;
}
