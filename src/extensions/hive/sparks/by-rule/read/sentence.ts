// Owns what a text is cut into before it is understood by rule. Data only.

export interface Sentence {
  /** One line, contractions written out, without its end mark. */
  readonly text: string;
  readonly isQuestion: boolean;
}
