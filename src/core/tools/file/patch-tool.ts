// Owns the patch tool: one piece of a file replaced by another.
// Knows no other tool. Invariant: exactly one place changes (or all, when asked); in doubt nothing does, and the answer says why.
import { z } from 'zod';
import { ok, type Result, refuse } from '#base/result.ts';
import { plural } from '#base/text.ts';
import { defineTool, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import { lenientInput } from '../registry/lenient-input.ts';
import { type FileToolsOptions, fullPath, linksOf, writeRisk } from './file-access.ts';
import { type Replacement, replaceText } from './replace-text.ts';
import { readTextFile, type TextFile } from './text-file.ts';
import { changePreview, tryWrite } from './write-file-tool.ts';
import { writeText } from './write-text.ts';

const input = lenientInput({
  path: z.string().min(1),
  old_string: z.string().describe('exact text, unique in the file'),
  new_string: z.string(),
  replace_all: z.boolean().optional(),
});

type PatchInput = z.infer<typeof input>;

export function createPatchTool(options: FileToolsOptions) {
  const real = (path: string, context: ToolContext) => linksOf(context)(fullPath(path, context.cwd, options));
  return defineTool<PatchInput>({
    name: 'patch',
    description: 'Replace text in a file.',
    input,
    toolset: 'file',
    effect: 'write',
    risk: ({ path }, context) => writeRisk(path, context, { ...options, follow: linksOf(context) }),
    preview: async (request, context) => {
      const path = real(request.path, context);
      const replaced = patchedText(path, request);
      return replaced.ok ? changePreview(path, replaced.value.text, context.redact) : '';
    },
    writes: ({ path }, context) => [real(path, context)],
    summary: ({ path }) => `patch ${path}`,
    run: async (request, context) => patchFile(real(request.path, context), request),
  });
}

function patchFile(path: string, request: PatchInput): ToolOutput {
  const replaced = patchedText(path, request);
  if (!replaced.ok) return { text: replaced.detail, isError: true };
  const failed = tryWrite(request.path, () => writeText(path, replaced.value.text, replaced.value.file));
  if (failed) return failed;
  return { text: report(request.path, replaced.value), origin: 'observed' };
}

function patchedText(
  path: string,
  { path: shown, old_string: old, new_string: put, replace_all: all = false }: PatchInput,
): Result<Replacement & { readonly file: TextFile }> {
  const file = readTextFile(path);
  if (!file.ok) return refuse(file.reason, `cannot patch ${shown}: ${file.detail}`);
  const replaced = replaceText({ text: file.value.text, old, new: put.toWellFormed(), all });
  if (!replaced.ok) return refuse(replaced.reason, `${shown} is unchanged: ${replaced.detail}`);
  return ok({ ...replaced.value, file: file.value });
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
