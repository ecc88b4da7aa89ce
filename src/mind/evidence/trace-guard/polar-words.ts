// Owns the words that turn a statement round: negators of several languages, verbs that deny what follows, pairs of opposites. Data.
// Invariant: looked up in lower case without apostrophes; opposites share one lemma with opposite signs.
import { stemWord } from '#base/text/stem-word.ts';

const NEGATORS = new Set(
  `not never no none without cannot neither nor nobody nothing nowhere hardly barely nope avoid avoids avoided avoiding
   nicht kein keine keinen keinem keiner nie niemals ohne pas jamais sans aucun aucune nunca jamás jamas sin tampoco não nao sem
   senza не нет никогда без`
    .trim()
    .split(/\s+/),
);
const CONTRACTED = /^(?:do|does|did|is|are|was|were|have|has|had|would|could|should|ca|wo|must|need|might|sha|ai)nt$/;

const AUXILIARIES = new Set(
  'do does did is are was were be been am has have had can could will would shall should may might must'.split(' '),
);

/** Does the negator belong to the verb, so that what stands before it is only its subject? */
export function isVerbal(negator: string, before: string): boolean {
  return CONTRACTED.test(negator) || negator === 'cannot' || AUXILIARIES.has(before);
}

/** Verbs that deny the thing after them; by stem. */
const DENYING = new Set(
  'hate dislike refuse forbid ban prohibit disallow disable skip omit ignore exclude lack reject detest loathe'
    .split(' ')
    .map(stemWord),
);

export function isNegator(word: string): boolean {
  return NEGATORS.has(word) || CONTRACTED.test(word);
}

export function isDenying(stem: string): boolean {
  return DENYING.has(stem);
}

/** Verbs that say little without their object: `black is not used` agrees with `we use ruff, never black`. */
const GENERIC = new Set('use want need keep make get prefer take have'.split(' ').map(stemWord));

export function isGeneric(lemma: string): boolean {
  return GENERIC.has(lemma) || lemma === '±like';
}

const OPPOSITES: ReadonlyMap<string, { readonly lemma: string; readonly sign: 1 | -1 }> = new Map(
  `enable activate/disable deactivate; succeed succeeded succeeds success successful pass work/fail failure unsuccessful break broken; allow permit accept approve/deny forbid prohibit reject refuse disallow;
   like love enjoy prefer/hate dislike detest loathe; start begin launch/stop end halt; open/close; true/false; up/down; increase raise grow/decrease reduce lower shrink;
   add insert create/remove delete drop; include/exclude omit; before/after; first/last; minimum min least/maximum max most;
   valid/invalid; safe/unsafe dangerous; public/private; more/less fewer; above/below; high/low; fast quick/slow; good/bad;
   old/new; older/newer; earlier/later; left/right; show display/hide; install/uninstall; lock/unlock; mount/unmount; upload/download;
   encrypt/decrypt; online/offline; synchronous sync/asynchronous async; required mandatory/optional; stable/unstable; known/unknown;
   always/never; all every/none; read/write; internal/external; connect/disconnect; available/unavailable; able/unable; sensitive/insensitive; vertical/horizontal;
   morning/evening; input/output; happy/unhappy; correct/incorrect wrong; complete/incomplete; possible/impossible; visible/invisible; inside/outside`
    .split(';')
    .flatMap((pair) => {
      const sides = pair.split('/').map((side) => side.trim().split(/\s+/));
      const lemma = `±${sides[0]?.[0] ?? ''}`;
      return sides.flatMap((side, index) =>
        side.map((word) => [stemWord(word), { lemma, sign: index === 0 ? 1 : -1 }] as const),
      );
    }),
);

export function oppositeOf(stem: string): { readonly lemma: string; readonly sign: 1 | -1 } | undefined {
  return OPPOSITES.get(stem);
}

const DENSE_NEGATION = /[不没沒無无未勿莫]|ない|ません|なかった|(?:^|[^가-힣])(?:안|못)\s|않|없|아니/u;
const DENSE_HARMLESS = /不错|不錯|不过|不過|不同|不管|不仅|不僅|非常|无论|無論|未来|未來|没关系|没问题|无锡/gu;
export const DENSE_SCRIPT = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u;

/** Does a sentence in Han, Kana or Hangul deny something? */
export function isDenselyNegated(sentence: string): boolean {
  return DENSE_NEGATION.test(sentence.replace(DENSE_HARMLESS, ''));
}
