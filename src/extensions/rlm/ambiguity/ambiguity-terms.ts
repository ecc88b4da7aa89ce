// Owns the table of what makes a request unclear, how much each counts, and what is asked back. Data only; the docs list it from here.
// Each weight exceeds the threshold of 0.2, so that one term that fails wholly is enough to ask.

export const AMBIGUITY_TERMS = {
  target_exists: {
    weight: 0.5,
    means: 'what is to be read is there',
    question: 'Which file, folder or text should be read?',
  },
  verb_and_object: {
    weight: 0.4,
    means: 'it says what to do and with what',
    question: 'What exactly should be done, and with what?',
  },
  no_unresolved_pronoun: {
    weight: 0.3,
    means: 'nothing points outside the request',
    question: 'What do the words stand for that point elsewhere?',
  },
  output_form: {
    weight: 0.25,
    means: 'the form of the answer is named or the default',
    question: 'In which form should the answer come, and how is it judged?',
  },
  scope_bounded: {
    weight: 0.3,
    means: 'it is clear where the work ends',
    question: 'Which part is meant, and what is left out?',
  },
} as const;

export type AmbiguityTerm = keyof typeof AMBIGUITY_TERMS;

export const AMBIGUITY_THRESHOLD = 0.2;
