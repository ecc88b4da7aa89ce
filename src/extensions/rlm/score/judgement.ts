// Owns what a judgement of a completion answers; each version of the scorer gives its own. Facts and chunks are those of the fixture.
import type { ScoreFact } from './score-fixture.ts';

export interface Judgement {
  /** A fact that has to be kept is stated with its chunk. */
  supported(fact: ScoreFact): boolean;
  /** A fact beyond the cut is stated as if it had been read. */
  claimed(fact: ScoreFact): boolean;
  /** A chunk within the cut is cited as evidence. */
  cited(chunkId: string): boolean;
  /** A chunk beyond the cut is cited as evidence. */
  citedOmitted(chunkId: string): boolean;
  readonly reportsBoundary: boolean;
}
