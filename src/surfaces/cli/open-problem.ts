// Owns what a person is told when a session cannot be opened. Knows no surface.
import type { Refusal } from '#base/result.ts';
import type { OpenRefusal } from '#surfaces/app/app.ts';

export interface OpenProblem {
  readonly code: OpenRefusal;
  readonly message: string;
  readonly fix: string;
}

const FIXES: Readonly<Record<OpenRefusal, string>> = {
  'no-such-session': '',
  'owned-elsewhere':
    'Close it there, read it with `talaria sessions show ID`, or go on with a copy: `talaria sessions fork ID`.',
  'session-exists': 'Go on with it: --resume ID. A new one needs another id.',
};

export function openProblem({ reason, detail }: Refusal<OpenRefusal>): OpenProblem {
  return { code: reason, message: detail, fix: FIXES[reason] };
}
