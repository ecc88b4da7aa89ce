// Owns a review that the owner asks for now (`/learn`), and what is said about it. Knows no rule of keeping.
// Invariant: what was refused is counted by its real reason.
import { TalariaError } from '#base/errors.ts';
import { ok, refuse } from '#base/result.ts';
import type { SessionStore } from '#core/agent/session-store.ts';
import type { LearnedNow, Learning } from './learning.ts';
import type { ReviewOutcome } from './review/review.ts';
import type { ReviewDesk } from './review/review-desk.ts';
import type { ReviewRows } from './review/review-rows.ts';

export interface LearnNowParts {
  readonly store: Pick<SessionStore, 'get' | 'messages'>;
  readonly rows: Pick<ReviewRows, 'get'>;
  readonly desk: Pick<ReviewDesk, 'runNow'>;
}

export async function learnNow(
  { store, rows, desk }: LearnNowParts,
  { sessionId, hint }: { readonly sessionId: string; readonly hint: string },
  signal: AbortSignal,
): ReturnType<Learning['learnNow']> {
  const session = await store.get(sessionId);
  if (!session) return refuse('no-such-session', `There is no session ${sessionId}.`);
  const through = (await store.messages(sessionId)).at(-1)?.id;
  if (through === undefined) return refuse('nothing-to-review', 'Nothing was said in this conversation yet.');
  const wish = hint.trim();
  try {
    const order = { sessionId, reasons: ['asked' as const], through, ...(wish === '' ? {} : { hint: wish }) };
    const { review, outcome } = await desk.runNow(order, signal);
    const { kind } = rows.get(review.id) ?? review;
    return ok(learned(kind, outcome));
  } catch (error) {
    if (!(error instanceof TalariaError) || signal.aborted) throw error;
    return refuse('failed', error.message);
  }
}

function learned(kind: LearnedNow['kind'], { kept, pending, refused, refusals = [] }: ReviewOutcome): LearnedNow {
  const counts = new Map<string, number>();
  for (const reason of refusals) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const line = learnedLine({ kept, pending, refused, reasons: counts });
  return { kind, kept, pending, refused, reasons: Object.fromEntries(counts), line };
}

interface Counts extends Pick<ReviewOutcome, 'kept' | 'pending' | 'refused'> {
  readonly reasons: ReadonlyMap<string, number>;
}

function learnedLine({ kept, pending, refused, reasons }: Counts): string {
  if (kept + pending + refused === 0) return 'Nothing was found that is worth keeping.';
  const parts = [
    kept > 0 ? `${kept} kept` : '',
    pending > 0 ? `${pending} ${pending === 1 ? 'waits' : 'wait'} for your yes` : '',
    refused > 0 ? `${refused} refused${reasonsLine(reasons)}` : '',
  ];
  return `${parts.filter(Boolean).join(', ')}.`;
}

/** `: you took it back before`; with counts where there are several. */
function reasonsLine(reasons: ReadonlyMap<string, number>): string {
  const counts = new Map<string, number>();
  for (const [reason, count] of reasons) {
    const words = WORDS[reason] ?? reason.replaceAll(/[_-]/g, ' ');
    counts.set(words, (counts.get(words) ?? 0) + count);
  }
  const [only, ...more] = counts.keys();
  if (only === undefined) return '';
  return more.length === 0 ? `: ${only}` : `: ${[...counts].map(([words, count]) => `${count} ${words}`).join(', ')}`;
}

const UNCITED = 'without words of this conversation behind it';
const THERE = 'kept already';
const MISFIT = 'no valid change';

const WORDS: Readonly<Record<string, string>> = {
  contradicts: 'against what was said',
  'one-off': 'of no use later',
  'no-citation': UNCITED,
  'unknown-handle': UNCITED,
  'quote-too-short': UNCITED,
  'quote-not-found': UNCITED,
  'already-pending': 'waiting for your yes already',
  'rejected-before': 'you said no to it before',
  'taken-back': 'you took it back before',
  unchanged: THERE,
  duplicate: THERE,
  'repeats-skill': THERE,
  'name-taken': THERE,
  over_limit: 'no room in the memory file',
  'guard-refused': 'refused by the guard',
  secret: 'with a secret in it',
  'guard-asks': 'asked about by the guard',
  incomplete: MISFIT,
  'invalid-name': MISFIT,
  'invalid-skill': MISFIT,
  'description-too-long': MISFIT,
  'too-large': MISFIT,
  'text-not-found': MISFIT,
  'text-ambiguous': MISFIT,
};
