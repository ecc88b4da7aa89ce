// Owns the read_file tool: a window of a text file of any size, as it is. Lines carry no numbers: what a model reads is what it may pass to patch,
// what reflex quotes or saves, and what evidence is compared with; a note at the end says which lines were shown.
// Invariants: no bytes of a binary file, and nothing of a secret without an answer, reach the model; memory is bounded by the window.
import { close, type Dirent, read, readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import type { z } from 'zod';
import { throwIfAborted } from '#base/abort.ts';
import { known } from '#base/errors.ts';
import { holdFolder, openRegular } from '#base/paths/open-files.ts';
import { defineTool, type ToolOutput } from '#core/agent/tool.ts';
import { isWithin } from '../risk/place.ts';
import { OUTPUT_LIMITS, READ_FILE } from '../tool-cards.ts';
import { type FileToolsOptions, fullPath, linksOf, readRisk } from './file-access.ts';
import { describeBinary, openRefusal, readPicture, sniffFile, statFile } from './text-file.ts';

type ReadInput = z.infer<typeof READ_FILE.input>;

export function createReadFileTool(options: FileToolsOptions) {
  return defineTool<ReadInput>({
    ...READ_FILE,
    summary: ({ path, offset }) => `read ${path}${offset === undefined ? '' : `:${offset}`}`,
    risk: ({ path }, context) => readRisk(path, context.cwd, { ...options, follow: linksOf(context) }),
    run: (request, context, signal) => {
      const full = fullPath(request.path, context.cwd, options);
      const isTheirs = options.tempIsPrivate?.() && /^\/(?:var\/)?tmp\//.test(full) && !isWithin(full, context.cwd);
      return readFile(linksOf(context)(full), request, isTheirs ? OWN_TEMP : '', signal);
    },
  });
}

/** Not of the working folder, which commands see wherever it lies. */
const OWN_TEMP = '. Commands have a /tmp of their own: read it with a command, or write into the working folder';

async function readFile(path: string, request: ReadInput, hint: string, signal: AbortSignal): Promise<ToolOutput> {
  const stats = statFile(path);
  if (!stats.ok) return failure(`${request.path}: ${stats.detail}${hintFor(stats.reason, path, hint)}`);
  const start = sniffFile(path);
  if (!start.ok) return failure(`${request.path}: ${start.detail}`);
  const binary = describeBinary(start.value.bytes);
  const picture = binary === undefined ? undefined : readPicture(path);
  if (picture?.ok)
    return { text: `${request.path}: ${binary}`, images: [{ bytes: picture.value, name: basename(path) }] };
  if (binary !== undefined)
    return failure(
      `${request.path} is ${binary}, ${start.value.size} bytes; read_file shows only text.${binaryHint(binary)}`,
    );
  const offset = request.offset ?? 1;
  const limit = Math.min(OUTPUT_LIMITS.readLines, request.limit ?? OUTPUT_LIMITS.readLines);
  const wanted = { offset, limit, maxChars: OUTPUT_LIMITS.readChars, maxLine: OUTPUT_LIMITS.readLineChars };
  try {
    return { text: renderWindow(await readWindow(path, wanted, signal), offset) };
  } catch (error) {
    throwIfAborted(signal);
    return failure(`${request.path}: ${openRefusal(error)[1]}`);
  }
}

function failure(text: string): ToolOutput {
  return { text, isError: true };
}

function renderWindow(window: FileWindow, offset: number): string {
  const { lines, totalLines, more, badBytes } = window;
  if (lines.length === 0) {
    return totalLines === 0
      ? '[the file is empty]'
      : `[nothing at line ${offset}: the file has ${totalLines ?? 'fewer'} lines]`;
  }
  const last = offset + lines.length - 1;
  const range = `lines ${offset}-${last} of ${totalLines ?? 'many'}`;
  const notes = [
    ...(more ? [`${range}; go on with offset ${last + 1}`] : offset > 1 ? [range] : []),
    ...(badBytes ? ['some bytes are not UTF-8 and are shown as \uFFFD'] : []),
  ];
  return notes.length === 0 ? lines.join('\n') : `${lines.join('\n')}\n[${notes.join('; ')}]`;
}

function binaryHint(what: string): string {
  if (what.includes('PDF')) return ' Get its text with a command, e.g. pdftotext.';
  if (what.includes('image')) return ' Of images it shows PNG, JPEG, GIF and WebP up to 10 MB.';
  if (what.includes('SQLite')) return ' Look into it with sqlite3.';
  return what.includes('archive') ? ' List it with a command, e.g. tar -tf or unzip -l.' : '';
}

function hintFor(reason: string, path: string, hint: string): string {
  if (reason === 'folder') return `. It holds: ${listFolder(path).join('  ') || 'nothing'}`;
  if (reason !== 'missing') return '';
  const near = nearNames(path);
  return (near.length > 0 ? `. Near names in ${dirname(path)}: ${near.join(', ')}` : '') + hint;
}

const SHOWN_ENTRIES = 60;

function listFolder(path: string): readonly string[] {
  const names = entriesOf(path)
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .sort();
  return names.length > SHOWN_ENTRIES
    ? [...names.slice(0, SHOWN_ENTRIES), `… ${names.length - SHOWN_ENTRIES} more`]
    : names;
}

/** None of a folder that is not where it was judged any more, or may not be read: they are a hint. */
function entriesOf(folder: string): readonly Dirent[] {
  const held = known(() => holdFolder(folder));
  const entries = held && known(() => readdirSync(held.name, { withFileTypes: true }));
  held?.close();
  return entries ?? [];
}

/** Names in the same folder that differ in case, ending or a few letters. */
function nearNames(path: string): readonly string[] {
  const folder = statFile(dirname(path));
  if (folder.ok || folder.reason !== 'folder') return [];
  const stem = (name: string) =>
    name
      .toLowerCase()
      .replace(/\.[^.]*$/, '')
      .replace(/[^a-z0-9]/g, '');
  const wanted = stem(basename(path));
  if (wanted === '') return [];
  const fits = (name: string) => stem(name) !== '' && (stem(name).includes(wanted) || wanted.includes(stem(name)));
  return entriesOf(dirname(path))
    .map(({ name }) => name)
    .filter(fits)
    .slice(0, 5);
}

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
  /** A line is not shown to its end. */
  readonly isCut: boolean;
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
    const lines = new WindowLines(request);
    const decoder = new TextDecoder('utf-8', { fatal: false });
    const buffer = Buffer.allocUnsafe(CHUNK);
    for (let total = 0, behind = 0; behind <= COUNT_BYTES && total <= MAX_BYTES; ) {
      throwIfAborted(signal);
      const { bytesRead } = await readBytes(fd, buffer, 0, CHUNK, null);
      const chunk = buffer.subarray(0, bytesRead);
      if (lines.wantsText(chunk)) lines.add(decoder.decode(chunk, { stream: bytesRead > 0 }));
      else lines.count(chunk);
      if (bytesRead === 0) return lines.finish(true);
      total += bytesRead;
      if (lines.isFull) behind += bytesRead;
    }
    return lines.finish(false);
  } finally {
    await closeFile(fd);
  }
}

const LINE_END = 10;

/** What has been read so far. */
class WindowLines {
  readonly #request: WindowRequest;
  readonly #lines: string[] = [];
  /** Number of the line that is being read; its start, at most one character more than may be shown, and its length so far. */
  #line = 1;
  #open = '';
  #length = 0;
  #chars = 0;
  #isCut = false;
  #badBytes = false;
  /** The window has as many characters as it may. */
  #isStopped = false;

  constructor(request: WindowRequest) {
    this.#request = request;
  }

  get isFull(): boolean {
    return this.#isStopped || this.#line >= this.#request.offset + this.#request.limit;
  }

  /** Before and behind the window only line ends matter: bytes are counted, not decoded. */
  wantsText(chunk: Buffer): boolean {
    return !this.isFull && this.#line + 1 + countLineEnds(chunk) >= this.#request.offset;
  }

  count(chunk: Buffer): void {
    this.#line += countLineEnds(chunk);
    if (chunk.length > 0) this.#length = chunk.at(-1) === LINE_END ? 0 : 1;
  }

  add(text: string): void {
    const pieces = text.split('\n');
    for (const [index, piece] of pieces.entries()) {
      this.#length += piece.length;
      if (this.#isShown) {
        this.#open += piece.slice(0, Math.max(0, this.#request.maxLine + 1 - this.#open.length));
        this.#badBytes ||= piece.includes('\uFFFD');
      }
      if (index < pieces.length - 1) this.#endLine();
    }
  }

  finish(complete: boolean): FileWindow {
    if (this.#length > 0) this.#endLine();
    const totalLines = this.#line - 1;
    const shownTo = this.#request.offset + this.#lines.length - 1;
    const more = !complete || (this.#lines.length > 0 && totalLines > shownTo);
    const window = { lines: this.#lines, more, isCut: this.#isCut, badBytes: this.#badBytes };
    return complete ? { ...window, totalLines } : window;
  }

  get #isShown(): boolean {
    return !this.isFull && this.#line >= this.#request.offset;
  }

  #endLine(): void {
    if (this.#isShown) this.#showLine();
    this.#line += 1;
    this.#open = '';
    this.#length = 0;
  }

  #showLine(): void {
    const { maxLine, maxChars } = this.#request;
    const body = this.#open.replace(/\r$/, '');
    const isLong = this.#length > maxLine + 1;
    const more = `… [${this.#length - maxLine} more characters in this line]`;
    const shown = isLong ? `${body.slice(0, maxLine)}${more}` : body;
    this.#isStopped = this.#chars + shown.length > maxChars && this.#lines.length > 0;
    if (this.#isStopped) return;
    this.#lines.push(shown.toWellFormed());
    this.#chars += shown.length + 1;
    this.#isCut ||= isLong;
  }
}

function countLineEnds(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(LINE_END); at >= 0; at = chunk.indexOf(LINE_END, at + 1)) count += 1;
  return count;
}
