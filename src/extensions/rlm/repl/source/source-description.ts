// Owns how a source is told to another thread: plain data from which it is opened again without reading it through. Shapes only.
import type { LineMarks } from './line-marks.ts';

export interface SourcePart {
  readonly path: string;
  /** `sha256:` and hex. */
  readonly hash: string;
  readonly marks: LineMarks;
}

export interface IndexedFile extends SourcePart {
  /** Absolute. */
  readonly file: string;
  readonly bytes: number;
  /** Milliseconds, as the file system says. */
  readonly modified: number;
}

export type SourceDescription =
  | { readonly kind: 'text'; readonly text: string; readonly path: string }
  | { readonly kind: 'files'; readonly files: readonly IndexedFile[] };
