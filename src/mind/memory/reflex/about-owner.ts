// Owns the choice between the two memory files for words of the owner: about a person's self, or about the work.
import type { Target } from './kept-entries.ts';

/** How the owner wants to be served is about the owner. */
const TO_THE_AGENT = /^(?:always|never|from now on|in future|going forward)\b/i;
const SELF = /\b(i|i'm|i’m|i'd|i've|i'll|im|ive|me|my|mine|myself)\b/i;

/** Words in the first person singular are the owner's profile; everything else is a note. */
export function targetOf(text: string): Target {
  return SELF.test(text) || TO_THE_AGENT.test(text) ? 'user' : 'memory';
}
