// Owns the read_file tool: a window of a text file, as it is. Lines carry no numbers: what a model reads is what it may pass to patch,
// what reflex quotes or saves, and what evidence is compared with; a note at the end says which lines were shown.
// Knows no other tool. Invariant: no bytes of a binary file, and nothing of a secret without an answer, reach the model.
import { type Dirent, readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { z } from 'zod';
import { throwIfAborted } from '#base/abort.ts';
import { errorCode } from '#base/errors.ts';
import { holdFolder } from '#base/paths/open-files.ts';
import { defineTool, type ToolOutput } from '#core/agent/tool.ts';
import { OUTPUT_LIMITS } from '../output-limits.ts';
import { lenientInput } from '../registry/lenient-input.ts';
import { isWithin } from '../risk/place.ts';
import { type FileToolsOptions, fullPath, linksOf, readRisk } from './file-access.ts';
import { type FileWindow, readWindow } from './read-window.ts';
import { describeBinary, openRefusal, sniffFile, statFile } from './text-file.ts';

const input = lenientInput({
  path: z.string().min(1),
  offset: z.int().min(1).optional().describe('first line, from 1'),
  limit: z.int().min(1).optional(),
});

type ReadInput = z.infer<typeof input>;

export function createReadFileTool(options: FileToolsOptions) {
  return defineTool<ReadInput>({
    name: 'read_file',
    description: 'Read a text file.',
    input,
    toolset: 'file',
    effect: 'read',
    outputLimit: OUTPUT_LIMITS.readChars + 2_000,
    risk: ({ path }, context) => readRisk(path, context.cwd, { ...options, follow: linksOf(context) }),
    summary: ({ path, offset }) => `read ${path}${offset === undefined ? '' : `:${offset}`}`,
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
  if (what.includes('image')) return ' Images cannot be shown to you here.';
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
  try {
    const held = holdFolder(folder);
    try {
      return readdirSync(held.name, { withFileTypes: true });
    } finally {
      held.close();
    }
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return [];
  }
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
