// Owns what the tool `recursive_read` asks of the engine behind it: a question, the material, and what it may use. Shapes only.
import type { Result } from '#base/result.ts';

/** A file or folder by its real absolute path, or a text that the model holds. */
export type Material = { readonly path: string } | { readonly text: string };

export interface MaterialQuestion {
  readonly question: string;
  readonly material: Material;
  /** Absolute; places are told relative to it. */
  readonly root: string;
  /** Files below a folder that are left out, and named as left out. Gets real absolute paths. */
  readonly isSecret: (path: string) => boolean;
  /** False: nothing of the run is written; the owner allowed a look at secrets, no copy of them. */
  readonly keep: boolean;
  /** Levels that are left, 1..5. */
  readonly depth: number;
}

export interface MaterialAnswer {
  /** For the model. */
  readonly text: string;
  /** No supported answer came of it. */
  readonly failed: boolean;
}

export type MaterialRefusal = 'material-refused';

/** A refusal is a sentence for the model: what is wrong with the material or the question. */
export type AnswerMaterial = (
  question: MaterialQuestion,
  signal: AbortSignal,
) => Promise<Result<MaterialAnswer, MaterialRefusal>>;
