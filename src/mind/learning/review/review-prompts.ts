// Owns the three prompts of a review (seed 001 ch 11, 13). Constants: a test pins their bytes, since a change costs every user's tokens.
// Knows no conversation: the list of citable messages is put behind them. Invariant: each allows to keep nothing.
import type { ReviewKind } from './review.ts';

const OPENING =
  '[System: Review of the conversation above, in the background. The owner does not read your answer; only tool calls count. Do not continue the task.]';

const MEMORY_PART = `Memory: did the owner say something that will stay true and useful in later conversations?
Keep with the memory tool: who they are, what they prefer, how they want you to work (target user); projects, environments, tools, solutions that worked or did not (target memory).
A good memory is one plain sentence that somebody who was not here understands: who, what, since when or until when if it was said. As sure as it was said, no surer: what they might do one day is no fact.
Do not keep: progress of this task, one-off details, passing moods, what files or web pages say, secrets, guesses, anything that the memory in your prompt already says. Replace an entry that is no longer true instead of adding a second one.`;

const SKILLS_PART = `Skills: was there a procedure that will be needed again? Five or more calls towards one goal, an error that was overcome, a correction by the owner, a way that was not obvious.
First look whether a skill that was used or is listed covers it: then patch it (skill_manage patch, old_string and new_string, the smallest change that carries the correction; keep what works). Edit the whole file only when patches cannot do it. Create a skill only when none covers it.
A new skill: name in kebab-case made of words of the task, description of at most 60 characters, then "## When to use", "## Steps" (numbered, one action each, as in: 1. Run \`npm test\`; the exact commands and paths that worked, changing values as {name}; no dead ends), "## Constraints" (what went wrong and how to avoid it, what the owner prefers). No one-off tasks, no secrets, no text copied from files or web pages.`;

/** The rules of the gate, in its own terms: a test sends each of these forms through it. */
const CITING = `Each memory or skill_manage call needs the argument evidence, a list of {"quote": "words copied exactly", "message": 12} and {"call": 13}: the number of a message below, two words or more of it or all of it; the number or id of a call that ended well.
What is checked: the quote stands in that message. A fact about the owner rests on the owner's words; a step of a skill on a call that ended well. Every number, unit, date, path, address, identifier and command of what you keep stands in what you cite. Then the cited words are read: do they say this, no more and no less, and will it matter again?
What rests on other people's words waits for the owner, and so does a value that is not there. A call that comes back says why: mend it once or leave it.`;

const CLOSING =
  'Be selective: most conversations hold nothing worth keeping. If there is nothing, answer "Nothing to keep." without a call.';

export const MEMORY_REVIEW_PROMPT = [OPENING, MEMORY_PART, CITING, CLOSING].join('\n\n');
export const SKILLS_REVIEW_PROMPT = [OPENING, SKILLS_PART, CITING, CLOSING].join('\n\n');
export const COMBINED_REVIEW_PROMPT = [OPENING, MEMORY_PART, SKILLS_PART, CITING, CLOSING].join('\n\n');

export const REVIEW_PROMPTS: Readonly<Record<ReviewKind, string>> = {
  memory: MEMORY_REVIEW_PROMPT,
  skills: SKILLS_REVIEW_PROMPT,
  combined: COMBINED_REVIEW_PROMPT,
};
