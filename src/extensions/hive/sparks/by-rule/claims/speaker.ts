// Owns whose words are read and how far they are about the peer. Data only.

export interface Speaker {
  /** What the peer is called, lower case. */
  readonly names: ReadonlySet<string>;
  /** `self`: the peer wrote this. `introducer`: somebody else wrote it about the peer. */
  readonly voice: 'self' | 'introducer';
}

/** Whom `he`, `she`, `they` mean at this place; goes along from sentence to sentence. */
export interface Antecedent {
  isPeer: boolean;
  /** The pronoun that has stood for the peer. */
  gender?: 'he' | 'she';
}
