// Owns the file tools as one set, and the two that write: a whole file, or one piece of one replaced. Invariants: a reader sees the old or the
// new file, with its owner, mode, line ends and byte order mark; the file that is replaced is the one that was judged, whoever turns links
// meanwhile; folders, pipes and the agent's own records are refused; patch changes exactly one place (or all, when asked), in doubt nothing.
// Search has one walker and matcher of our own instead of ripgrep where it happens to be: the same answer on every machine, the same rules for
// secrets, and a pattern that cannot run for ever. A small search is done at once; what is larger is begun anew in a thread, which an abort ends.

import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { errorCode, errorText } from '#base/errors.ts';
import { inOpenedFolder } from '#base/paths/open-files.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { decidedDiff, lineDiff } from '#base/text/line-diff.ts';
import { ellipsize, plural } from '#base/text.ts';
import {
  type AnyTool,
  defineTool,
  type Tool,
  type ToolCard,
  type ToolContext,
  type ToolOutput,
} from '#core/agent/tool.ts';
import { PATCH, SEARCH_FILES, WRITE_FILE } from '../tool-cards.ts';
import { type FileToolsOptions, fullPath, linksOf, readRisk, writeRisk } from './file-access.ts';
import { createReadFileTool } from './read-file.ts';
import { type Replacement, replaceText } from './replace-text.ts';
import { runSearch, type SearchJob, SMALL_SEARCH } from './search-job.ts';
import { type FileRefusal, readTextFile, type TextFile } from './text-file.ts';

/** read_file, write_file, patch, search_files. */
export function createFileTools(options: FileToolsOptions = {}): readonly AnyTool[] {
  return [
    createReadFileTool(options),
    createChangingTool(
      options,
      { ...WRITE_FILE, summary: ({ path, content }) => `write ${path} (${linesIn(content)})` },
      wholeFile,
    ),
    createChangingTool(options, { ...PATCH, summary: ({ path }) => `patch ${path}` }, patchedFile),
    createSearchFilesTool(options),
  ];
}

/** What a call would make of a file. */
interface Change {
  readonly text: string;
  /** As it is; undefined for a new one, and for one that holds no text. */
  readonly file: TextFile | undefined;
  readonly isShown: boolean;
  /** What is said when it is done. */
  readonly said: string;
}

/** `path` has no links. */
type Plan<Input> = (path: string, input: Input) => Result<Change>;

function createChangingTool<Input extends { readonly path: string }>(
  options: FileToolsOptions,
  shown: ToolCard<Input> & Pick<Tool<Input>, 'summary'>,
  plan: Plan<Input>,
): AnyTool {
  const real = (path: string, context: ToolContext) => linksOf(context)(fullPath(path, context.cwd, options));
  return defineTool<Input>({
    ...shown,
    risk: ({ path }, context) => writeRisk(path, context, { ...options, follow: linksOf(context) }),
    preview: async (input, context) => {
      const planned = plan(real(input.path, context), input);
      if (!planned.ok || !planned.value.isShown) return '';
      const { text } = await lineDiff(planned.value.file?.text ?? '', planned.value.text);
      return decidedDiff(context.redact(text));
    },
    writes: ({ path }, context) => [real(path, context)],
    run: async (input, context) => {
      const path = real(input.path, context);
      const planned = plan(path, input);
      if (!planned.ok) return { text: planned.detail, isError: true };
      return write(path, input.path, planned.value);
    },
  });
}

const NO_TEXT_TO_REPLACE: ReadonlySet<FileRefusal> = new Set(['folder', 'special', 'no-permission', 'moved']);

function wholeFile(path: string, { path: shown, content }: z.infer<typeof WRITE_FILE.input>): Result<Change> {
  const old = readTextFile(path);
  if (!old.ok && NO_TEXT_TO_REPLACE.has(old.reason)) return refuse(old.reason, `cannot write ${shown}: ${old.detail}`);
  const file = old.ok ? old.value : undefined;
  const isNew = !old.ok && old.reason === 'missing';
  const text = keepLineEnds(content.toWellFormed(), file);
  const size = `${linesIn(text)}, ${Buffer.byteLength(text)} bytes`;
  return ok({ text, file, isShown: old.ok || isNew, said: `${isNew ? 'wrote' : 'replaced'} ${shown} (${size})` });
}

function linesIn(text: string): string {
  const count = text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  return plural(count, 'line');
}

/** A file with CRLF keeps it, unless the model wrote line ends of its own. */
function keepLineEnds(content: string, file: TextFile | undefined): string {
  return file?.eol === '\r\n' && !content.includes('\r\n') ? content.replaceAll('\n', '\r\n') : content;
}

function patchedFile(path: string, input: z.infer<typeof PATCH.input>): Result<Change> {
  const { path: shown, old_string: old, new_string: put, replace_all: all = false } = input;
  const file = readTextFile(path);
  if (!file.ok) return refuse(file.reason, `cannot patch ${shown}: ${file.detail}`);
  const replaced = replaceText({ text: file.value.text, old, new: put.toWellFormed(), all });
  if (!replaced.ok) return refuse(replaced.reason, `${shown} is unchanged: ${replaced.detail}`);
  const { text, places, line, how } = replaced.value;
  const where = places === 1 ? `line ${line}` : `${plural(places, 'place')}, the first in line ${line}`;
  return ok({ text, file: file.value, isShown: true, said: `patched ${shown}: ${where}${HOW[how]}` });
}

const HOW: Readonly<Record<Replacement['how'], string>> = {
  exact: '',
  'line-ends': '',
  'trailing-blanks': '; blanks at line ends were not compared',
  indentation: '; the indentation was fitted to the file',
};

const NEW_FILE_MODE = 0o644;
const NEW_FOLDER_MODE = 0o777;
/** A disk that is full or read-only is something the model can tell the owner; anything else is a fault. */
const TOLD =
  /^(?:disk-full|no-permission|write-failed|path-moved|ELOOP|ENOENT|ENOSPC|EACCES|EPERM|EROFS|ENOTDIR|EEXIST|ENAMETOOLONG)$/;

/** What the file was before is kept: its mode, its owner, its byte order mark. */
function write(path: string, shown: string, { text, file, said }: Change): ToolOutput {
  const body = file?.bom && !text.startsWith('\uFEFF') ? `\uFEFF${text}` : text;
  const mode = file?.mode ?? NEW_FILE_MODE;
  try {
    inOpenedFolder(dirname(path), NEW_FOLDER_MODE, (folder) =>
      atomicWrite(join(folder, basename(path)), body, { mode, shown: path, keepOwner: true }),
    );
    return { text: said, origin: 'observed' };
  } catch (error) {
    if (!TOLD.test(errorCode(error) ?? '')) throw error;
    return { text: `cannot write ${shown}: ${errorText(error)}`, isError: true };
  }
}

function createSearchFilesTool(options: FileToolsOptions): AnyTool {
  const { home, userHome = homedir() } = options;
  return defineTool<z.infer<typeof SEARCH_FILES.input>>({
    ...SEARCH_FILES,
    summary: ({ pattern, path }) => `search ${ellipsize(pattern, 80)}${path === undefined ? '' : ` in ${path}`}`,
    risk: ({ path, target }, context) =>
      path === undefined || target === 'files'
        ? { level: 'none' }
        : readRisk(path, context.cwd, { ...options, follow: linksOf(context) }),
    run: async (request, context, signal) => {
      const { cwd, clock } = context;
      const root = linksOf(context)(fullPath(request.path ?? '.', cwd, options));
      const job: SearchJob = { request, root, cwd, places: { userHome, ...(home === undefined ? {} : { home }) } };
      const found = await runSearch(job, { bounds: SMALL_SEARCH, clock }, signal);
      if (found) return found;
      // What is small does not load threads.
      const { searchInThread } = await import('./search-thread.ts');
      return searchInThread(job, signal);
    },
  });
}
