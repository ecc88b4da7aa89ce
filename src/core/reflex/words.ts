// Owns the English that reflex knows: manners around an order, small words, contractions, fixed texts. Forms of a rule stand beside it.
// Knows no rule. Invariant: data alone, and short; a line that needs more than this is not ours to read.

/** Phrases separated by `|`, longest first, each as its words. */
function phrases(text: string): readonly (readonly string[])[] {
  const found = text.split('|').map((phrase) => phrase.trim().split(/\s+/));
  return found.sort((left, right) => right.length - left.length);
}

/** Openings that only make an order polite; taken off again and again. */
export const OPENINGS = phrases(
  `please|pls|plz|kindly|hey|hi|hello|ok|okay|so|now|just|talaria|can you|could you|would you|will you|can u|could u|can you please|
  i want you to|i need you to|i would like you to|i'd like you to|id like you to|
  would you mind|go ahead and|let us|lets|let's|quickly|then|and|also|next|after that|yo|you can|you may|oops|oh|well|hmm|alright|right|great|could you do|can you do|do me a favor and|be so kind and`,
);
/** Openings by which a question mark at the end is manners. */
export const ASKING =
  /^\W*(?:(?:hey|hi|hello|ok|okay|please|so|and|then|talaria)\W+)*(?:can|could|would|will|may) (?:you|u|i|we)\b/i;
/** A question by its first word: its mark at the end says nothing about an order in it. */
export const QUESTION =
  /^\W*(?:what|whats|which|who|whos|where|wheres|when|whens|why|how|is|are|was|were|does|did|has|have|any|do (?:the|my|our|we|i|you|u|any|all))\b/i;
export const CLOSINGS = phrases(
  'lol|haha|somewhere|anywhere|to me|on screen|please|pls|plz|thanks|thank you|thx|ty|cheers|for me|now|right now|will you|would you|if you can|again please|asap|ok|okay|real quick|quickly|mate|then|thanks a lot|for us',
);
/** May stand between the parts of a form without meaning anything. */
export const FILLERS = new Set('the a an please just me also really quickly quick some'.split(' '));
/** Small words that no name or phrase begins or ends with, nor is. */
export const SMALL = new Set(
  'the a an of in for to about on at by with and or but is are was were be that this these those it them him her me my your our who which what if so as from into than i you we they'.split(
    ' ',
  ),
);
/** Say which one only to somebody who sees it. */
export const POINTING = new Set(
  'other same last next previous right wrong first second new old usual whole entire thing thingy stuff one'.split(' '),
);
export const DETERMINERS = new Set('the a an my our your this that these those'.split(' '));

export const CONTRACTIONS: ReadonlyMap<string, readonly string[]> = new Map(
  "what's what is|whats what is|where's where is|wheres where is|whens when is|when's when is|who's who is|how's how is|don't do not|dont do not|i'm i am|i've i have|you're you are|u you|wat what"
    .split('|')
    .map((row) => row.split(' '))
    .map(([short = '', ...words]) => [short, words]),
);

/** Words that are never a slip of a command word. */
export const COMMON = new Set(
  `lost last past fund fine mind kind rest reed road real ready lead list test text ten told took said says show shot shop snow slow
  send sent save safe same some come form from find found file files fill fire five life line live love lane mine made make take wake
  tell tall fall call ran man can fan forget forgot forged note not vote rote run fun sun undo open pen oped repeat`.split(
    /\s+/,
  ),
);

export const TEXTS = {
  refusal:
    'I am reflex/1: fixed rules, no language model, and no rule for this line (/help shows them; /model add adds a model).',
  works: 'What works here: {}',
  notOwner: 'reflex/1 answers only lines that the owner typed.',
  which: 'Which do you mean?',
  confirm: 'I am not sure. Did you mean this?',
  nothing: 'nothing of this',
  nothingDone: 'Nothing was done.',
  howToChoose: 'Answer with a number.',
  toolMissing: 'This needs the tool `{}`, which is not available in this session.',
  tooManySteps: 'I stop here: this took more steps than a rule may take.',
  moreLines: '… {} more lines',
  notAll: 'Not understood, and left: "{}"',
  left: 'Left, since this comes first: {}',
  leftFailed: 'Left, since the step before it failed: {}',
} as const;

export const YES = new Set(
  'yes|y|yep|yeah|yup|sure|ok|okay|do it|go ahead|go|confirm|yes please|please do|of course|proceed'.split('|'),
);
export const NO = new Set(
  'no|n|nope|nah|cancel|nothing|none|never mind|nevermind|stop|do not|neither|no thanks|abort|forget it|skip|leave it|not now|nothing of this'.split(
    '|',
  ),
);
