// Owns what is said between two turns: what learning did, and the drafts that wait for a yes. Plain chat and the screen both use it.
// Knows no screen and no rule of learning. Invariants: each draft is asked about once a chat; no answer leaves it waiting.
import type { Learning, LearningOffer } from '#mind/learning/learning.ts';
import type { Ask } from '../questions.ts';

export interface BetweenTurns {
  /** Lines to show now; asks about drafts where a person can answer. */
  say(signal: AbortSignal): AsyncGenerator<string, void>;
}

type Wish = 'keep' | 'drop' | 'show' | 'always' | 'later';

const WISHES: readonly (readonly [RegExp, Wish])[] = [
  [/^y(?:es)?$|^keep$|^ok(?:ay)?$/i, 'keep'],
  [/^n(?:o)?$|^drop$/i, 'drop'],
  [/^s(?:how)?$/i, 'show'],
  [/^a(?:lways)?$/i, 'always'],
];

export function createBetweenTurns(learning: Learning, ask: Ask | undefined): BetweenTurns {
  const asked = new Set<string>();
  return {
    async *say(signal) {
      for (const announcement of learning.announcements()) yield announcement;
      for (const offer of learning.offers()) {
        if (asked.has(offer.id)) continue;
        asked.add(offer.id);
        if (ask) yield* decide(learning, { offer, ask }, signal);
        else yield `${offer.line} · /pending accept ${offer.id} keeps it, /pending show ${offer.id} shows it`;
      }
    },
  };
}

async function* decide(
  learning: Learning,
  { offer, ask }: { readonly offer: LearningOffer; readonly ask: Ask },
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  for (;;) {
    const wish = readWish(await ask({ lines: [offer.line, 'y keeps it / n drops it / show / always'] }, signal));
    if (wish === 'show') {
      yield offer.text;
      continue;
    }
    yield await carryOut(learning, { id: offer.id, wish }, signal);
    return;
  }
}

/** Gives what to say about it. */
async function carryOut(
  learning: Learning,
  { id, wish }: { readonly id: string; readonly wish: Exclude<Wish, 'show'> },
  signal: AbortSignal,
): Promise<string> {
  if (wish === 'later') return `It waits: /pending accept ${id}`;
  const done =
    wish === 'drop'
      ? await learning.reject(id)
      : await learning.accept(id, wish === 'always' ? { always: true } : {}, signal);
  return done.ok ? done.value : `Not done: ${done.detail}`;
}

function readWish(answer: string | undefined): Wish {
  const typed = answer?.trim() ?? '';
  return WISHES.find(([pattern]) => pattern.test(typed))?.[1] ?? 'later';
}
