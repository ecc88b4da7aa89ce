// Owns the search_files tool: lines by pattern, or files by name. One walker and matcher of our own instead of ripgrep where it happens to
// be: the same answer on every machine, the same rules for secrets and ignored files, and a pattern that cannot run for ever.
// Knows no other tool. Invariant: the order is fixed, so that offset pages through the same list; secrets are never searched.
import { readFileSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import { errorCode } from '#base/errors.ts';
import { ellipsize, plural } from '#base/text.ts';
import { defineTool, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import { type FileToolsOptions, fullPath, readRisk, realPath, secretTest } from '../file/file-access.ts';
import { describeBinary } from '../file/text-file.ts';
import { OUTPUT_LIMITS } from '../output-limits.ts';
import { lenientInput } from '../registry/lenient-input.ts';
import { globTest } from './glob.ts';
import { createLineMatcher, type LineMatch, type LineMatcher } from './line-matcher.ts';
import { type FoundFile, walkFolder } from './walk-folder.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1_000;

const input = lenientInput({
  pattern: z.string().min(1).describe('regex; for files a glob'),
  target: z.enum(['content', 'files']).optional(),
  path: z.string().min(1).optional(),
  file_glob: z.string().min(1).optional(),
  limit: z.int().min(1).optional(),
  offset: z.int().min(0).optional(),
  context: z.int().min(0).optional(),
  output_mode: z.enum(['content', 'files', 'count']).optional(),
});

type SearchInput = z.infer<typeof input>;

export function createSearchFilesTool(options: FileToolsOptions) {
  return defineTool<SearchInput>({
    name: 'search_files',
    description: 'Search file contents by regex, or find files by name.',
    input,
    toolset: 'file',
    effect: 'read',
    risk: ({ path, target }, { cwd }) =>
      path === undefined || target === 'files' ? { level: 'none' } : readRisk(path, cwd, options),
    summary: ({ pattern, path }) => `search ${ellipsize(pattern, 80)}${path === undefined ? '' : ` in ${path}`}`,
    run: (request, context, signal) => search(request, { context, options }, signal),
  });
}

interface Surroundings {
  readonly context: ToolContext;
  readonly options: FileToolsOptions;
}

async function search(request: SearchInput, around: Surroundings, signal: AbortSignal): Promise<ToolOutput> {
  const root = fullPath(request.path ?? '.', around.context.cwd, around.options);
  const kind = await kindOf(root);
  if (kind === undefined) return { text: `there is no file or folder ${request.path}`, isError: true };
  const files = kind === 'folder' ? walkFolder(root, {}, signal) : single(root);
  const isSecret = kind === 'file' ? () => false : secretTest(around.context.cwd, around.options);
  const job: Job = { request, files: inGlob(files, request.file_glob), isSecret, clock: around.context.clock };
  return request.target === 'files' ? findFiles(job) : findLines(job, signal);
}

async function kindOf(path: string): Promise<'file' | 'folder' | undefined> {
  try {
    const stats = await stat(path);
    return stats.isDirectory() ? 'folder' : stats.isFile() ? 'file' : undefined;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}

async function* single(path: string): AsyncGenerator<FoundFile> {
  yield { path, name: basename(path), link: false };
}

async function* inGlob(files: AsyncIterable<FoundFile>, glob: string | undefined): AsyncGenerator<FoundFile> {
  const fits = glob === undefined ? () => true : globTest(glob);
  for await (const file of files) if (fits(file.name)) yield file;
}

interface Job {
  readonly request: SearchInput;
  readonly files: AsyncIterable<FoundFile>;
  /** False for a file that was named itself: its risk was judged already. */
  readonly isSecret: (path: string) => boolean;
  readonly clock: Clock;
}

/** Counts rows, keeps those of the page, and knows when to stop. */
function createPage({ offset = 0, limit: wanted = DEFAULT_LIMIT }: SearchInput) {
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

async function findFiles(job: Job): Promise<ToolOutput> {
  const { pattern } = job.request;
  const fits = globTest(/[*?[{]/.test(pattern) ? pattern : `*${pattern}*`);
  const page = createPage(job.request);
  for await (const { name } of job.files) {
    if (fits(name)) page.add(() => name);
    if (page.isFull()) break;
  }
  return render(page, []);
}

/** Time for matching in one search, and for one file. */
const MATCH_MS = 10_000;
const FILE_MS = 1_000;
const REST_MS = 15;
const MAX_FILE = 50 * 1024 * 1024;

async function findLines(job: Job, signal: AbortSignal): Promise<ToolOutput> {
  const matcher = createLineMatcher(job.request.pattern);
  if (!matcher.ok) return { text: matcher.detail, isError: true };
  const page = createPage(job.request);
  const skipped = { secret: 0, large: 0 };
  const from = job.clock.monotonic();
  let rested = from;
  for await (const file of job.files) {
    const text = readSearchable(file, job, skipped);
    // Files are read at once, which is four times as fast; in between everything else gets its turn.
    if (job.clock.monotonic() - rested > REST_MS) {
      await kindOf(file.path);
      rested = job.clock.monotonic();
    }
    signal.throwIfAborted();
    const left = MATCH_MS - (job.clock.monotonic() - from);
    if (left <= 0)
      return {
        text: `${render(page, []).text}\n[stopped after ${MATCH_MS / 1000} s; narrow it with path or file_glob]`,
      };
    const slow =
      text === undefined
        ? undefined
        : addMatches(page, { file, text, matcher: matcher.value, ms: Math.min(left, FILE_MS) }, job.request);
    if (slow !== undefined) return { text: `${file.name}: ${slow}`, isError: true };
    if (page.isFull()) break;
  }
  return render(page, skipNotes(skipped));
}

function skipNotes(skipped: { readonly secret: number; readonly large: number }): readonly string[] {
  return [
    ...(skipped.secret > 0 ? [`${plural(skipped.secret, 'file')} with secrets not searched`] : []),
    ...(skipped.large > 0 ? [`${plural(skipped.large, 'file')} over ${MAX_FILE / 1024 / 1024} MB not searched`] : []),
  ];
}

/** The text of a file, or undefined when it is not to be searched. */
function readSearchable(file: FoundFile, job: Job, skipped: { secret: number; large: number }): string | undefined {
  if (job.isSecret(file.path) || (file.link && job.isSecret(realPath(file.path)))) {
    skipped.secret += 1;
    return undefined;
  }
  try {
    if (statSync(file.path).size > MAX_FILE) {
      skipped.large += 1;
      return undefined;
    }
    const bytes = readFileSync(file.path);
    return describeBinary(bytes.subarray(0, 8_192)) === undefined ? bytes.toString('utf8') : undefined;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}

interface Searched {
  readonly file: FoundFile;
  readonly text: string;
  readonly matcher: LineMatcher;
  readonly ms: number;
}

/** Adds the rows of one file; the reason when its pattern is too slow. */
function addMatches(page: ReturnType<typeof createPage>, searched: Searched, request: SearchInput): string | undefined {
  const mode = request.output_mode ?? 'content';
  const max = mode === 'count' ? Number.MAX_SAFE_INTEGER : mode === 'files' ? 1 : page.room();
  const found = searched.matcher.match(searched.text, max, searched.ms);
  if (!found.ok) return found.detail;
  const { name } = searched.file;
  const matches = found.value;
  if (matches.length === 0) return undefined;
  if (mode === 'files') page.add(() => name);
  else if (mode === 'count') page.add(() => `${name}: ${matches.length}`);
  else
    for (const match of matches)
      page.add(() => renderMatch(name, match, { text: searched.text, around: Math.min(20, request.context ?? 0) }));
  return undefined;
}

/** `path:line:text`, with `path-line-text` for lines around it, as grep writes it. */
function renderMatch(name: string, match: LineMatch, view: { readonly text: string; readonly around: number }): string {
  const row = (mark: string, line: number, text: string) =>
    `${name}${mark}${line}${mark}${ellipsize(text, OUTPUT_LIMITS.searchLineChars)}`;
  if (view.around === 0) return row(':', match.line, match.text);
  const lines = view.text.split(/\r?\n/);
  const from = Math.max(1, match.line - view.around);
  const block = lines.slice(from - 1, match.line + view.around);
  return `${block.map((text, i) => row(from + i === match.line ? ':' : '-', from + i, text)).join('\n')}\n--`;
}
