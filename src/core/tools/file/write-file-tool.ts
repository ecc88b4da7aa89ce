// Owns the write_file tool: a whole text file, new or replaced.
// Knows no other tool. Invariant: a reader sees the old or the new file; folders, pipes and the agent's own records are refused.
import { z } from 'zod';
import { errorCode, errorText } from '#base/errors.ts';
import { decidedDiff, lineDiff } from '#base/text/line-diff.ts';
import { plural } from '#base/text.ts';
import { defineTool, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import { lenientInput } from '../registry/lenient-input.ts';
import { type FileToolsOptions, fullPath, linksOf, writeRisk } from './file-access.ts';
import { type FileRefusal, readTextFile, type TextFile } from './text-file.ts';
import { writeText } from './write-text.ts';

const input = lenientInput({ path: z.string().min(1), content: z.string() });

type WriteInput = z.infer<typeof input>;

export function createWriteFileTool(options: FileToolsOptions) {
  const real = (path: string, context: ToolContext) => linksOf(context)(fullPath(path, context.cwd, options));
  return defineTool<WriteInput>({
    name: 'write_file',
    description: 'Write a whole file; makes folders.',
    input,
    toolset: 'file',
    effect: 'write',
    risk: ({ path }, context) => writeRisk(path, context, { ...options, follow: linksOf(context) }),
    preview: async ({ path, content }, context) => changePreview(real(path, context), content, context.redact),
    writes: ({ path }, context) => [real(path, context)],
    summary: ({ path, content }) => `write ${path} (${plural(countLines(content), 'line')})`,
    run: async (request, context) => writeFile(real(request.path, context), request),
  });
}

const NO_TEXT_TO_REPLACE: ReadonlySet<FileRefusal> = new Set(['folder', 'special', 'no-permission', 'moved']);

function writeFile(path: string, { path: shown, content }: WriteInput): ToolOutput {
  const old = readTextFile(path);
  if (!old.ok && NO_TEXT_TO_REPLACE.has(old.reason)) {
    return { text: `cannot write ${shown}: ${old.detail}`, isError: true };
  }
  const shape = old.ok ? old.value : undefined;
  const text = keepLineEnds(content.toWellFormed(), shape);
  const failed = tryWrite(shown, () => writeText(path, text, shape));
  if (failed) return failed;
  const size = `${plural(countLines(text), 'line')}, ${Buffer.byteLength(text)} bytes`;
  return {
    text: `${old.ok || old.reason !== 'missing' ? 'replaced' : 'wrote'} ${shown} (${size})`,
    origin: 'observed',
  };
}

/** What would change in the file that is there, or all of a new one; empty where there is no text. */
export async function changePreview(path: string, next: string, redact: (text: string) => string): Promise<string> {
  const old = readTextFile(path);
  if (!old.ok && old.reason !== 'missing') return '';
  const [before, shape] = old.ok ? [old.value.text, old.value] : ['', undefined];
  const { text } = await lineDiff(before, keepLineEnds(next, shape));
  return decidedDiff(redact(text));
}

/** A disk that is full or read-only is something the model can tell the owner; anything else is a fault. */
export function tryWrite(shown: string, write: () => void): ToolOutput | undefined {
  try {
    write();
    return undefined;
  } catch (error) {
    const code = errorCode(error) ?? '';
    if (
      !/^(?:disk-full|no-permission|write-failed|path-moved|ELOOP|ENOENT|ENOSPC|EACCES|EPERM|EROFS|ENOTDIR|EEXIST|ENAMETOOLONG)$/.test(
        code,
      )
    )
      throw error;
    return { text: `cannot write ${shown}: ${errorText(error)}`, isError: true };
  }
}

/** A file with CRLF keeps it, unless the model wrote line ends of its own. */
function keepLineEnds(content: string, shape: TextFile | undefined): string {
  return shape?.eol === '\r\n' && !content.includes('\r\n') ? content.replaceAll('\n', '\r\n') : content;
}

function countLines(text: string): number {
  return text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}
