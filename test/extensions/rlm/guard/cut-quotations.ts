/** Sentences, and quotations of them that leave out the words on which they hang. */
export const CUT_QUOTATIONS: readonly (readonly [sentence: string, quote: string])[] = [
  ['It is a myth that coffee harms plants.', 'coffee harms plants'],
  ['Critics claim the bridge is unsafe.', 'the bridge is unsafe'],
  ['A write stops when the disk is full.', 'The disk is full.'],
  ['If the flag is set, the cache is disabled.', 'the cache is disabled'],
  ['Only admins may delete a project.', 'may delete a project'],
  ['Only admins may delete a project.', 'delete a project'],
  ['Up to 5 nodes are allowed.', '5 nodes are allowed.'],
  ['Up to 5 nodes are allowed.', 'to 5 nodes are allowed'],
  ['At least 5 nodes are needed.', '5 nodes are needed.'],
  ['Nobody has seen the key of the harbour.', 'the key of the harbour'],
  ['The port is open unless the wind is strong.', 'The port is open'],
  ['It is not true that the pump does not leak.', 'the pump does not leak'],
  ['It isn’t so that the pump is new.', 'the pump is new'],
  ['The mayor denies that the pump is old.', 'the pump is old'],
  ['The captain is said to be ill.', 'ill'],
  ['It is a myth\nthat coffee harms plants.', 'coffee harms plants'],
  ['If the flag is set,\nthe cache is disabled.', 'the cache is disabled'],
  ['Is the bridge unsafe?', 'the bridge unsafe'],
  ['Talaria needs Node 20 or later; nothing else.', 'Talaria needs Node 20'],
  ['The bridge was opened in May 1932 by the mayor.', 'opened in May 1932'],
  ['It is false, e.g. in May, that the bridge is unsafe.', 'the bridge is unsafe'],
  ['Nur Verwalter löschen ein Projekt.', 'löschen ein Projekt'],
];

/** Quotations that are whole sentences, items or lines of their text. */
export const SOUND_QUOTATIONS: readonly (readonly [text: string, quote: string])[] = [
  ['The bridge is safe. Critics claim otherwise.', 'The bridge is safe'],
  ['- only admins write\n- guests read', 'guests read'],
  ['Port: 80\nOnly for tests: 81', 'port: 80'],
  ['- only admins write\n- guests read', '- only admins write\n- guests read'],
  ['Hermes must not be invoked with tools.', 'Hermes must not be invoked with tools'],
  [
    'It is a myth that coffee harms plants. Coffee harms plants when it is hot. Coffee harms plants.',
    'Coffee harms plants.',
  ],
];
