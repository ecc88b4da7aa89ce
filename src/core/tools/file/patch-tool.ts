// Owns the patch tool: one piece of a file replaced by another.
// Knows no other tool. Invariant: exactly one place changes (or all, when asked); in doubt nothing does, and the answer says why.
import { z } from 'zod';
import { plural } from '#base/text.ts';
import { defineTool, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import { lenientInput } from '../registry/lenient-input.ts';
import { type FileToolsOptions, fullPath, writeRisk } from './file-access.ts';
import { type Replacement, replaceText } from './replace-text.ts';
import { readTextFile } from './text-file.ts';
import { tryWrite } from './write-file-tool.ts';
import { writeText } from './write-text.ts';

const input = lenientInput({
  path: z.string().min(1),
  old_string: z.string().describe('exact text, unique in the file'),
  new_string: z.string(),
  replace_all: z.boolean().optional(),
});

type PatchInput = z.infer<typeof input>;

export function createPatchTool(options: FileToolsOptions) {
  return defineTool<PatchInput>({
    name: 'patch',
    description: 'Replace text in a file.',
    input,
    toolset: 'file',
    effect: 'write',
    risk: ({ path }, { cwd }) => writeRisk(path, cwd, options),
    summary: ({ path }) => `patch ${path}`,
    run: async (request, context) => patchFile(fullPath(request.path, context.cwd, options), request, context),
  });
}

function patchFile(path: string, request: PatchInput, context: ToolContext): ToolOutput {
  const file = readTextFile(path);
  if (!file.ok) return { text: `cannot patch ${request.path}: ${file.detail}`, isError: true };
  const { old_string: old, new_string: put, replace_all: all } = request;
  const replaced = replaceText({ text: file.value.text, old, new: put.toWellFormed(), all: all ?? false });
  if (!replaced.ok) return { text: `${request.path} is unchanged: ${replaced.detail}`, isError: true };
  const failed = tryWrite(request.path, () => writeText(path, replaced.value.text, file.value));
  if (failed) return failed;
  context.progress(smallDiff(old, put, replaced.value.line));
  return { text: report(request.path, replaced.value), origin: 'observed' };
}

const HOW: Readonly<Record<Replacement['how'], string>> = {
  exact: '',
  'line-ends': '',
  'trailing-blanks': '; blanks at line ends were not compared',
  indentation: '; the indentation was fitted to the file',
};

function report(path: string, { places, line, how }: Replacement): string {
  return `patched ${path}: ${places === 1 ? `line ${line}` : `${plural(places, 'place')}, the first in line ${line}`}${HOW[how]}`;
}

/** For the surface only: the lines that went and came. */
function smallDiff(old: string, put: string, line: number): string {
  const mark = (text: string, sign: string) =>
    text === ''
      ? []
      : text
          .replace(/\n$/, '')
          .split('\n')
          .map((row) => `${sign}${row}`);
  return [`@@ line ${line} @@`, ...mark(old, '-'), ...mark(put, '+'), ''].join('\n');
}
