// Owns a clause of an answer as it is compared: a sentence, or a part of one. Shape only.
import type { ReadWord } from './quote/read-words.ts';

export interface Clause {
  readonly text: string;
  readonly words: readonly ReadWord[];
  /** The sentence was cut: it must state something by itself. */
  readonly isPart: boolean;
}
