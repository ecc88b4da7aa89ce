// Owns what every part of an import is given. Knows no part.
import type { Clock } from '#base/clock.ts';
import type { Home } from '../../home/home.ts';
import type { ImportReport } from './import-report.ts';

export interface ImportPlace {
  /** The folder that is read; nothing in it is ever changed. */
  readonly from: string;
  readonly home: Home;
  readonly clock: Clock;
  readonly report: ImportReport;
  /** Count and name, write nothing. */
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  /** Shows the owner these lines, which every later session would read, and asks for his yes to them. */
  readonly agrees: (what: string, lines: readonly string[]) => Promise<boolean>;
  /** Takes the keys of both homes out of a text. */
  readonly redact: (text: string) => string;
}

/** Said of what was left since nobody agreed to it. */
export const UNSEEN = 'you did not agree to it; read it, then run this again with --agree';
