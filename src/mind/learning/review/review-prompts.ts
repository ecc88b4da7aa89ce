// Owns the three prompts of a review (seed 001 ch 11, 13). Constants: a test pins their bytes, since a change costs every user's tokens.
// Knows no conversation: the list of citable messages is put behind them. Invariant: each allows to keep nothing.
import type { ReviewKind } from './review.ts';

const OPENING =
  '[System: Review of the conversation above, in the background. The owner does not read your answer; only tool calls count. Do not continue the task.]';

const MEMORY_PART = `Memory: did the owner say something that will stay true and useful in later conversations?
Keep with the memory tool: who they are, what they prefer, how they want you to work (target user); projects, environments, tools, solutions that worked or did not (target memory).
Do not keep: progress of this task, one-off details, what files or web pages say about themselves, secrets, guesses, anything that the memory in your prompt already holds. Replace an entry that is no longer true instead of adding a second one.`;

const SKILLS_PART = `Skills: was there a procedure that will be needed again? Five or more calls, an error that was overcome, a correction by the owner, a way that was not obvious.
First look whether a skill that was used or is listed covers it: then patch it (skill_manage patch, old_string and new_string, the smallest change that carries the correction; keep what works). Edit the whole file only when patches cannot do it. Create a skill only when none covers it.
A new skill: name in kebab-case, description of at most 60 characters, then "## When to use", "## Steps" (numbered, one action each, as in: 1. Run \`npm test\`; the exact commands and paths that worked, changing values as {name}; no dead ends), "## Constraints" (what went wrong and how to avoid it, what the owner prefers). No one-off tasks, no secrets, no text copied from files or web pages.`;

const CITING = `Each memory or skill_manage call needs the argument evidence: [{"message_id": 12, "quote": "words copied exactly from that message"}]. Quote three words or more, or an identifier. A fact about the owner needs the owner's own words; a step of a skill needs the call that worked. Numbers, paths, names and commands of what you keep must stand in the messages that you cite. A refused call says why: mend it or leave it.`;

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
