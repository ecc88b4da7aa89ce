// Owns the agent's tool `recursive_read`: a question about material that is too long to read, answered in cited sentences. Knows no engine;
// the path rules are those of read_file. Invariant: refused inside an inner call and at the deepest level, before anything is read; the
// path that is judged is the path that is read. Seed 003; its toolset, `rlm`, is shown where it is named.
import { z } from 'zod';
import type { Result } from '#base/result.ts';
import type { Ground } from '#core/agent/room.ts';
import { type AnyTool, defineTool, type ToolOutput } from '#core/agent/tool.ts';
import { fullPath, readRisk, realPath, secretTest } from '#core/tools/files/file-access.ts';
import { lenientInput } from '#core/tools/tool-cards.ts';
import { openNesting } from './call/call-limits.ts';

export interface MaterialQuestion {
  readonly question: string;
  /** A file or folder by its real absolute path, or a text that the model holds. */
  readonly material: { readonly path: string } | { readonly text: string };
  /** Absolute; places are told relative to it. */
  readonly root: string;
  /** Files below a folder that are left out, and named as left out. Gets real absolute paths. */
  readonly isSecret: (path: string) => boolean;
  /** False: nothing of the run is written; the owner allowed a look at secrets, no copy of them. */
  readonly keep: boolean;
  /** Levels that are left, 1..5. */
  readonly depth: number;
}

/** `text`: for the model; `failed`: no supported answer came of it. A refusal says what is wrong with the material or the question. */
export type AnswerMaterial = (
  question: MaterialQuestion,
  signal: AbortSignal,
) => Promise<Result<{ readonly text: string; readonly failed: boolean }, 'material-refused'>>;

const input = lenientInput({
  path: z.string().optional(),
  text: z.string().optional(),
  question: z.string().min(1),
});

/** What a request says of it. */
export const RECURSIVE_READ = {
  name: 'recursive_read',
  description: 'Answer a question about long material, citing it.',
  input,
  toolset: 'rlm',
  effect: 'read',
  defer: 'rare',
} as const;

export interface RecursiveReadParts {
  readonly ground: Pick<Ground, 'places' | 'variables'>;
  /** Loads what answers; asked for at the first use. */
  readonly answer: () => Promise<AnswerMaterial>;
}

export function recursiveReadTool({ ground, answer }: RecursiveReadParts): AnyTool {
  const { home, userHome } = ground.places;
  const options = { home, userHome };
  return defineTool<z.infer<typeof input>>({
    ...RECURSIVE_READ,
    risk: ({ path }, { cwd }) => (isGiven(path) ? readRisk(path, cwd, options) : { level: 'none' }),
    summary: ({ path, question }) => `recursive_read ${isGiven(path) ? path : 'text'}: ${question}`,
    run: async ({ path, text, question }, { cwd }, signal) => {
      const open = openNesting(ground.variables);
      if (!open.ok) return failure(open.detail);
      if (isGiven(path) === isGiven(text))
        return failure('Give either path (a file or folder) or text, and a question.');
      const material = isGiven(path) ? { path: realPath(fullPath(path, cwd, options)) } : { text: text ?? '' };
      const keep = !isGiven(path) || readRisk(path, cwd, options).level === 'none';
      const isSecret = keep ? secretTest(cwd, options) : () => false;
      const asked = { question, material, root: realPath(cwd), isSecret, keep, depth: open.value.depth };
      const answered = await (await answer())(asked, signal);
      if (!answered.ok) return failure(answered.detail);
      return { text: answered.value.text, origin: 'foreign', isError: answered.value.failed };
    },
  });
}

function isGiven(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== '';
}

function failure(text: string): ToolOutput {
  return { text, isError: true, origin: 'observed' };
}
