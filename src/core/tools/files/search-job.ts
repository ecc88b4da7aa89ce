// Owns one search over a folder or a file: what it reads, which lines fit, how they are shown, and how far it goes.
// Knows no tool and no thread: it runs where it is called. Invariants: the order is fixed, so that offset pages through the same list; secrets
// are never searched; a search ends at its bounds, and says at which and what it left out; no pattern blocks longer than the time given.
import { closeSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { createContext, Script } from 'node:vm';
import type { Clock } from '#base/clock.ts';
import { errorCode } from '#base/errors.ts';
import { openRegular } from '#base/paths/open-files.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { globTest } from '#base/text/glob.ts';
import { ellipsize, escapeRegExp, plural } from '#base/text.ts';
import type { ToolOutput } from '#core/agent/tool.ts';
import { type FileToolsOptions, realPath, secretTest } from './file-access.ts';
import { describeBinary } from './text-file.ts';
import { type FoundFile, factsOf, systemFolders, type WalkOptions, walkFolder } from './walk-folder.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1_000;
/** Characters of one line found. */
const LINE_CHARS = 300;

export interface SearchRequest {
  readonly pattern: string;
  readonly target?: 'content' | 'files' | undefined;
  readonly path?: string | undefined;
  readonly file_glob?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly context?: number | undefined;
  readonly output_mode?: 'content' | 'files' | 'count' | undefined;
}

/** Plain data: it may go to a thread. */
export interface SearchJob {
  readonly request: SearchRequest;
  /** What is searched; it has no links. */
  readonly root: string;
  readonly cwd: string;
  readonly places: Pick<FileToolsOptions, 'home' | 'userHome'>;
}

export interface SearchBounds {
  /** Entries of folders that are looked at. */
  readonly entries: number;
  /** Bytes of files that are read, and of one. */
  readonly bytes: number;
  readonly fileBytes: number;
  /** For all, and for matching in one file, ms. */
  readonly ms: number;
  readonly fileMs: number;
  /** What was found until a bound is the answer; else there is none, and another search goes further. */
  readonly final: boolean;
}

/** What most searches need; they block nobody. */
export const SMALL_SEARCH: SearchBounds = {
  entries: 2_000,
  bytes: 4_000_000,
  fileBytes: 256_000,
  ms: 100,
  fileMs: 50,
  final: false,
};
export const WHOLE_SEARCH: SearchBounds = {
  entries: 1_000_000,
  bytes: 2 * 1024 ** 3,
  fileBytes: 50 * 1024 ** 2,
  ms: 20_000,
  fileMs: 1_000,
  final: true,
};

/** A bound was met; the words say which. */
class OverBound extends Error {}

interface Search {
  readonly job: SearchJob;
  readonly bounds: SearchBounds;
  readonly clock: Clock;
  readonly page: ReturnType<typeof createPage>;
  readonly skipped: { secret: number; large: number; unreadable: number; deep: number; system: string[] };
  /** Throws OverBound. */
  readonly spend: (entries: number, bytes: number) => void;
}

/** Undefined: it met a bound that is not final. */
export async function runSearch(
  job: SearchJob,
  { bounds, clock }: { readonly bounds: SearchBounds; readonly clock: Clock },
  signal: AbortSignal,
): Promise<ToolOutput | undefined> {
  const kind = await kindOf(job.root);
  const refused = whyNot(job, kind);
  if (kind === undefined || refused !== undefined) return { text: refused ?? '', isError: true };
  const search = startSearch(job, bounds, clock);
  const files = filesOf(search, kind, signal);
  // A file that was named itself was judged already.
  const isSecret = kind === 'file' ? () => false : secretTest(job.cwd, job.places, job.root);
  try {
    const isNames = job.request.target === 'files';
    const failed = isNames ? await findFiles(search, files) : await findLines(search, files, isSecret, signal);
    return failed ?? render(search.page, skipNotes(search));
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof OverBound)) throw error;
    if (!bounds.final) return undefined;
    return render(search.page, [`stopped ${error.message}; narrow it with path or file_glob`, ...skipNotes(search)]);
  }
}

function whyNot({ root, request }: SearchJob, kind: 'file' | 'folder' | undefined): string | undefined {
  if (kind === undefined) return `there is no file or folder ${request.path ?? root}`;
  if (kind === 'file' || /^\/dev\/shm(?:\/|$)/.test(root)) return undefined;
  const system = [...systemFolders()].find((folder) => root === folder || root.startsWith(`${folder}/`));
  if (system === undefined) return undefined;
  return `${system} is not searched: the kernel shows itself there; read_file reads a file of it`;
}

function startSearch(job: SearchJob, bounds: SearchBounds, clock: Clock): Search {
  const from = clock.monotonic();
  const spent = { entries: 0, bytes: 0 };
  const spend = (entries: number, bytes: number) => {
    spent.entries += entries;
    spent.bytes += bytes;
    if (spent.entries > bounds.entries) throw new OverBound(`after ${bounds.entries} entries of folders`);
    if (spent.bytes > bounds.bytes) throw new OverBound(`after ${Math.round(bounds.bytes / 1024 ** 2)} MB`);
    if (clock.monotonic() - from > bounds.ms) throw new OverBound(`after ${bounds.ms / 1000} s`);
  };
  const skipped = { secret: 0, large: 0, unreadable: 0, deep: 0, system: [] };
  return { job, bounds, clock, page: createPage(job.request), skipped, spend };
}

async function kindOf(path: string): Promise<'file' | 'folder' | undefined> {
  const stats = await factsOf(path);
  return stats?.isDirectory() ? 'folder' : stats?.isFile() ? 'file' : undefined;
}

async function* filesOf(search: Search, kind: 'file' | 'folder', signal: AbortSignal): AsyncGenerator<FoundFile> {
  const { root, request } = search.job;
  const { skipped } = search;
  if (kind === 'file') {
    yield { path: root, name: basename(request.path ?? root), link: false };
    return;
  }
  const options: WalkOptions = {
    onEntries: (count) => search.spend(count, 0),
    onSkipped: (name, why) => {
      if (why === 'system') skipped.system.push(`/${name}`.replace('//', '/'));
      else skipped[why] += 1;
    },
  };
  const fits = request.file_glob === undefined ? () => true : globTest(request.file_glob);
  for await (const file of walkFolder(root, options, signal)) if (fits(file.name)) yield file;
}

/** Counts rows, keeps those of the page, and knows when to stop. */
function createPage({ offset = 0, limit: wanted = DEFAULT_LIMIT }: SearchRequest) {
  const limit = Math.min(MAX_LIMIT, wanted);
  const rows: string[] = [];
  let seen = 0;
  return {
    rows,
    add(row: () => string): void {
      if (seen >= offset && seen < offset + limit) rows.push(row());
      seen += 1;
    },
    /** One row more than the page has shows that there is more. */
    isFull: () => seen > offset + limit,
    room: () => Math.max(1, offset + limit + 1 - seen),
    next: () => (seen > offset + limit ? `more; go on with offset ${offset + limit}` : undefined),
    empty: () =>
      offset > 0 && seen > 0 ? `nothing after ${plural(seen, 'match').replace('matchs', 'matches')}` : 'nothing found',
  };
}

function render(page: ReturnType<typeof createPage>, notes: readonly string[]): ToolOutput {
  const next = page.next();
  const all = [...(page.rows.length === 0 ? [page.empty()] : []), ...(next === undefined ? [] : [next]), ...notes];
  const note = all.length === 0 ? [] : [`[${all.join('; ')}]`];
  return { text: [...page.rows, ...note].join('\n') };
}

async function findFiles({ job, page }: Search, files: AsyncIterable<FoundFile>): Promise<undefined> {
  const { pattern } = job.request;
  const fits = globTest(/[*?[{]/.test(pattern) ? pattern : `*${pattern}*`);
  for await (const { name } of files) {
    if (fits(name)) page.add(() => name);
    if (page.isFull()) break;
  }
}

const REST_MS = 15;

/** What went wrong, when it is not to be a page. */
async function findLines(
  search: Search,
  files: AsyncIterable<FoundFile>,
  isSecret: (path: string) => boolean,
  signal: AbortSignal,
): Promise<ToolOutput | undefined> {
  const matcher = createLineMatcher(search.job.request.pattern);
  if (!matcher.ok) return { text: matcher.detail, isError: true };
  const rest = resting(search.clock);
  for await (const file of files) {
    const text = readSearchable(file, search, isSecret);
    await rest(file.path);
    signal.throwIfAborted();
    const slow = text === undefined ? undefined : addMatches(search, file.name, text, matcher.value);
    if (slow !== undefined) return { text: `${file.name}: ${slow}`, isError: true };
    if (search.page.isFull()) return undefined;
  }
  return undefined;
}

/** Files are read at once, which is four times as fast; in between everything else gets its turn. */
function resting(clock: Clock): (path: string) => Promise<void> {
  let rested = clock.monotonic();
  return async (path) => {
    if (clock.monotonic() - rested <= REST_MS) return;
    await kindOf(path);
    rested = clock.monotonic();
  };
}

function skipNotes({ skipped, bounds }: Search): readonly string[] {
  const { secret, large, unreadable, deep, system } = skipped;
  return [
    ...(secret > 0 ? [`${plural(secret, 'file')} with secrets or hidden not searched`] : []),
    ...(large > 0 ? [`${plural(large, 'file')} over ${Math.round(bounds.fileBytes / 1024 ** 2)} MB not searched`] : []),
    ...(system.length > 0 ? [`${system.join(', ')} not searched: the kernel shows itself there`] : []),
    ...(unreadable > 0 ? [`${plural(unreadable, 'folder')} could not be read`] : []),
    ...(deep > 0 ? [`${plural(deep, 'folder')} too deep not searched`] : []),
  ];
}

/** The text of a file, or undefined when it is not to be searched. Of a link, what it leads to is judged and read. */
function readSearchable(file: FoundFile, search: Search, isSecret: (path: string) => boolean): string | undefined {
  const { skipped, bounds } = search;
  const path = file.link ? realPath(file.path) : file.path;
  if (isSecret(file.path) || isSecret(path)) {
    skipped.secret += 1;
    return undefined;
  }
  try {
    const { fd, stats } = openRegular(path, 'link-free');
    try {
      if (stats.size > bounds.fileBytes) {
        if (!bounds.final) throw new OverBound('at a large file');
        skipped.large += 1;
        return undefined;
      }
      const bytes = readFileSync(fd);
      return describeBinary(bytes.subarray(0, 8_192)) === undefined ? bytes.toString('utf8') : undefined;
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}

/** Adds the rows of one file; the reason when its pattern is too slow. Throws OverBound. */
function addMatches(
  { page, job, bounds, spend }: Search,
  name: string,
  text: string,
  matcher: LineMatcher,
): string | undefined {
  const { output_mode: mode = 'content', context = 0 } = job.request;
  spend(0, text.length);
  const max = mode === 'count' ? Number.MAX_SAFE_INTEGER : mode === 'files' ? 1 : page.room();
  const found = matcher.match(text, max, bounds.fileMs);
  if (!found.ok && !bounds.final) throw new OverBound('at a slow pattern');
  if (!found.ok) return found.detail;
  const matches = found.value;
  if (matches.length === 0) return undefined;
  if (mode === 'files') page.add(() => name);
  else if (mode === 'count') page.add(() => `${name}: ${matches.length}`);
  else for (const match of matches) page.add(() => renderMatch(name, match, text, Math.min(20, context)));
  return undefined;
}

/** `path:line:text`, with `path-line-text` for lines around it, as grep writes it. */
function renderMatch(name: string, match: LineMatch, all: string, around: number): string {
  const row = (mark: string, line: number, text: string) =>
    `${name}${mark}${line}${mark}${ellipsize(text, LINE_CHARS)}`;
  if (around === 0) return row(':', match.line, match.text);
  const lines = all.split(/\r?\n/);
  const from = Math.max(1, match.line - around);
  const block = lines.slice(from - 1, match.line + around);
  return `${block.map((text, i) => row(from + i === match.line ? ':' : '-', from + i, text)).join('\n')}\n--`;
}

export interface LineMatch {
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

export interface LineMatcher {
  /** Lines that fit, at most `max`. Refused when the pattern takes longer than `ms`. */
  match(text: string, max: number, ms: number): Result<readonly LineMatch[], 'too-slow'>;
}

/** Longer lines are looked at only this far: minified code must not make every pattern slow. */
const MAX_LINE = 10_000;
const MAX_PATTERN = 2_000;

/** A pattern that is no regular expression is searched for as it is written. `(?i)` at its start ignores case. */
export function createLineMatcher(pattern: string): Result<LineMatcher, 'bad-pattern'> {
  if (pattern === '' || pattern.length > MAX_PATTERN)
    return refuse('bad-pattern', `a pattern has 1 to ${MAX_PATTERN} characters`);
  const { test, literal } = compile(pattern);
  const effort = effortOf(pattern);
  let guarded: ReturnType<typeof guard> | undefined;
  return ok({
    match(text, max, ms) {
      if (literal !== undefined && !text.includes(literal)) return ok([]);
      const work = () => matchLines(text, test, max);
      if (effort === 'linear' || (effort === 'square' && !hasLongLine(text))) return ok(work());
      guarded ??= guard();
      return guarded(work, ms);
    },
  });
}

/** With one repetition at most, a line of bounded length takes a bounded time; watching over each file costs more than that. */
function effortOf(pattern: string): 'linear' | 'square' | 'any' {
  const repetitions = pattern.match(/[*+]|\{\d*,|\\\d|\\k/g)?.length ?? 0;
  if (repetitions > 1 || /\)[*+{]/.test(pattern)) return 'any';
  return repetitions === 0 ? 'linear' : 'square';
}

const LONG_LINE = 1_000;

function hasLongLine(text: string): boolean {
  for (let start = 0; start <= text.length; ) {
    const end = text.indexOf('\n', start);
    if ((end < 0 ? text.length : end) - start > LONG_LINE) return true;
    if (end < 0) return false;
    start = end + 1;
  }
  return false;
}

interface Compiled {
  readonly test: RegExp;
  /** A text that every fitting line holds, when the pattern is plain text. */
  readonly literal?: string;
}

function compile(pattern: string): Compiled {
  const flag = /^\(\?(i)\)/.exec(pattern);
  const body = flag ? pattern.slice(flag[0].length) : pattern;
  const flags = flag ? 'iu' : 'u';
  if (!/[\\^$.*+?()[\]{}|]/.test(body))
    return { test: new RegExp(escapeRegExp(body), flags), ...(flag ? {} : { literal: body }) };
  return {
    test: tryCompile(body, flags) ?? tryCompile(body, flags.replace('u', '')) ?? new RegExp(escapeRegExp(body), flags),
  };
}

function tryCompile(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function matchLines(text: string, test: RegExp, max: number): readonly LineMatch[] {
  const found: LineMatch[] = [];
  let line = 0;
  for (let start = 0; start <= text.length && found.length < max; line += 1) {
    const end = text.indexOf('\n', start);
    const body = lineBetween(text, start, end < 0 ? text.length : end);
    if (test.test(body)) found.push({ line: line + 1, text: body });
    start = end < 0 ? text.length + 1 : end + 1;
  }
  return found;
}

function lineBetween(text: string, start: number, end: number): string {
  const stop = end > start && text[end - 1] === '\r' ? end - 1 : end;
  return text.slice(start, Math.min(stop, start + MAX_LINE));
}

/** A regular expression cannot be stopped from inside its thread; V8 can, when it runs below a script with a time-out. */
function guard(): (work: () => readonly LineMatch[], ms: number) => Result<readonly LineMatch[], 'too-slow'> {
  const box: { work?: () => readonly LineMatch[]; found: readonly LineMatch[] } = { found: [] };
  const context = createContext({
    run: () => {
      box.found = box.work?.() ?? [];
    },
  });
  const script = new Script('run()');
  return (work, ms) => {
    box.work = work;
    try {
      script.runInContext(context, { timeout: Math.max(1, Math.ceil(ms)) });
      return ok(box.found);
    } catch (error) {
      if (!isTimeout(error)) throw error;
      return refuse('too-slow', 'the pattern takes too long on this text (nested repetitions?); make it simpler');
    }
  };
}

/** The error belongs to the inner context: it is no instance of our Error. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
