// Owns the agent's tool `recursive_read`: a question about material that is too long to read, answered in cited sentences. Knows no engine;
// the path rules are those of read_file. Invariant: refused inside an inner call and at the deepest level, before anything is read; the
// path that is judged is the path that is read. Seed 003; its toolset, `rlm`, is shown where it is named.
import { z } from 'zod';
import { type AnyTool, defineTool, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import { type FileToolsOptions, fullPath, readRisk, realPath, secretTest } from '#core/tools/file/file-access.ts';
import { lenientInput } from '#core/tools/registry/lenient-input.ts';
import { openNesting } from '../call/nesting.ts';
import type { RlmGround } from '../rlm-ground.ts';
import type { AnswerMaterial, Material } from './material.ts';

const input = lenientInput({
  path: z.string().optional(),
  text: z.string().optional(),
  question: z.string().min(1),
});

type ReadInput = z.infer<typeof input>;

export interface RecursiveReadParts {
  readonly ground: Pick<RlmGround, 'places' | 'variables'>;
  /** Loads what answers; asked for at the first use. */
  readonly answer: () => Promise<AnswerMaterial>;
}

export function recursiveReadTool({ ground, answer }: RecursiveReadParts): AnyTool {
  const { home, userHome } = ground.places;
  const options: FileToolsOptions = { home, userHome };
  return defineTool<ReadInput>({
    name: 'recursive_read',
    description: 'Answer a question about long material, citing it.',
    input,
    toolset: 'rlm',
    effect: 'read',
    available: () => {
      const open = openNesting(ground.variables);
      return open.ok ? { ok: true, value: true } : open;
    },
    risk: ({ path }, { cwd }) => (isGiven(path) ? readRisk(path, cwd, options) : { level: 'none' }),
    summary: ({ path, question }) => `recursive_read ${isGiven(path) ? path : 'text'}: ${question}`,
    run: (request, context, signal) => read({ request, context, options, ground, answer }, signal),
  });
}

interface Reading extends RecursiveReadParts {
  readonly request: ReadInput;
  readonly context: ToolContext;
  readonly options: FileToolsOptions;
}

async function read({ request, context, options, ground, answer }: Reading, signal: AbortSignal): Promise<ToolOutput> {
  const open = openNesting(ground.variables);
  if (!open.ok) return failure(open.detail);
  const { cwd } = context;
  const { path, text, question } = request;
  if (isGiven(path) === isGiven(text)) return failure('Give either path (a file or folder) or text, and a question.');
  const material: Material = isGiven(path) ? { path: realPath(fullPath(path, cwd, options)) } : { text: text ?? '' };
  const keep = !isGiven(path) || readRisk(path, cwd, options).level === 'none';
  const isSecret = secretTest(cwd, options);
  const ask = await answer();
  const answered = await ask(
    { question, material, root: realPath(cwd), isSecret: keep ? isSecret : () => false, keep, depth: open.value.depth },
    signal,
  );
  if (!answered.ok) return failure(answered.detail);
  return { text: answered.value.text, origin: 'foreign', isError: answered.value.failed };
}

function isGiven(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== '';
}

function failure(text: string): ToolOutput {
  return { text, isError: true, origin: 'observed' };
}
