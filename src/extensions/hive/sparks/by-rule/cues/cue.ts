// Owns what a pattern of speech is by which a need, an offer or a field is told. Data only.

export type ClaimKind = 'need' | 'offer' | 'expertise' | 'settled';

export interface Cue {
  readonly kind: ClaimKind;
  /** Flags `gi`. What follows it, or its group `object`, is the object. */
  readonly pattern: RegExp;
  /**
   * verb: takes the subject before it or that of the clause before. state: takes one only with a form of `be`, or stands alone at a
   * sentence's begin. owned: `my` or `Carol's` stands before it. request: is the writer's own whatever stands before it; only in messages.
   * label: stands at a sentence's begin.
   */
  readonly form: 'verb' | 'state' | 'owned' | 'request' | 'label';
  /** May begin a sentence without a subject. */
  readonly bare: boolean;
}

export function cue(
  kind: ClaimKind,
  form: Cue['form'],
  pattern: string,
  bare = form === 'state' || form === 'label',
): Cue {
  return { kind, form, bare, pattern: new RegExp(`\\b(?:${pattern})`, 'gi') };
}
