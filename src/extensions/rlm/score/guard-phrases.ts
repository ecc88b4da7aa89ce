// Owns the words with which a text says that it does not claim what it names (notes 6.2): nineteen phrases, folded as texts are.

export const GUARD_PHRASES: readonly string[] = [
  'cannot be claimed',
  'cannot claim',
  'not be claimed',
  'not claimed',
  'no facts from omitted',
  'not available',
  'not asserted',
  'not supplied',
  'outside retained context',
  'outside the retained context',
  'outside supplied context',
  'outside the supplied context',
  'omitted chunks were outside',
  'if present',
  'if any',
  'not observed',
  'not cited',
  'do not claim',
  'does not claim',
];
