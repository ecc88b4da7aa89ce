// Owns what is said when a text that a command needs was not typed, or typed empty (an unset variable of the shell). Data only.
import { z } from 'zod';

/** `how`: what to type, e.g. `name it: --skill NAME`. */
export function requiredText(how: string) {
  return z.string(how).min(1, how);
}
