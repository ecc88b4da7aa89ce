// Owns the choice between the two memory files for words of the owner: about a person's self, or about the work.
import type { Target } from './kept-entries.ts';

const SELF = /\b(i|i'm|i’m|i'd|i've|i'll|im|ive|me|my|mine|myself)\b/i;

/** Words in the first person singular are the owner's profile; everything else is a note. */
export function targetOf(text: string): Target {
  return SELF.test(text) ? 'user' : 'memory';
}
