// Owns the rule lists by which a line of the owner is read, a correction of what was just done (seed 001 ch 11, 12) and what is not worth asking a
// memory provider about; and the prompts of a review and of the flush (seed 001 ch 13).

const LONGEST = 600;

const RULES: readonly RegExp[] = [
  /^(?:no|nope|nah|wrong|incorrect|not (?:quite|like that|that|this|what)|wait|stop)\b(?!\s+(?:problem|worries|need|idea|rush|thanks|thank))/i,
  /^(?:sorry|hmm+|actually|well|please)?[,.\s]*(?:i (?:meant|said|asked for|wanted)|that(?:'s| is| was)(?: still)? (?:not|wrong|incorrect)|that isn'?t|it(?:'s| is) (?:not|wrong)|you (?:forgot|missed|skipped|left out|misread|misunderstood|should(?:n'?t)? have|were supposed|broke|used the wrong))\b/i,
  /^(?:and |but |please |then )?(?:also|include|add|do|run|check|use)\b.{0,120}\b(?:too|as well|also|instead|next time|from now on|every time|always)\b/i,
  /^(?:and |but |please )*also\s+(?:run|do|include|add|check|use|update|restart|remove|skip|make|call|show)\b/i,
  /^.{1,80}\b(?:too|as well)[.!]?$/i,
  /\b(?:instead of|rather than|not .{1,40}, but)\b/i,
  /^(?:please |and |but )?(?:don'?t|do not|never|always|skip|stop (?:using|doing))\b/i,
  /\b(?:next time|from now on|in future|going forward|that should (?:be|have)|it should (?:be|have)|should have been|supposed to|try again|redo (?:it|that)|do it again|undo (?:it|that)|revert (?:it|that)|wrong (?:one|file|branch|folder|way|order|command|version))\b/i,
];

/** A question about the work is none: it asks, it does not say what is right. */
const ASKS = /^(?:what|why|how|when|where|who|which|is|are|does|do|did|can|could|would|will)\b[^?]*\?\s*$/i;

export function isCorrection(line: string): boolean {
  const text = line.trim().slice(0, LONGEST);
  return text !== '' && !ASKS.test(text) && RULES.some((rule) => rule.test(text));
}

const TRIVIAL =
  /^(?:y|n|yes|no|yep|yeah|nope|ok|okay|k|sure|thanks?(?: you)?|thx|ty|great|good|nice|cool|fine|perfect|done|go|go on|go ahead|continue|next|more|stop|again|please|hi|hello|hey|bye|quit|exit|ja|nein|danke|oui|non|merci|s[ií]|gracias|\d{1,2})[\s.!,]*$/i;
const SHORTEST = 3;

export function isTrivialPrompt(text: string): boolean {
  const line = text.trim();
  return line.length < SHORTEST || line.startsWith('/') || TRIVIAL.test(line);
}

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

/** By the kind of a review. */
export const REVIEW_PROMPTS = {
  memory: MEMORY_REVIEW_PROMPT,
  skills: SKILLS_REVIEW_PROMPT,
  combined: COMBINED_REVIEW_PROMPT,
} as const;

export const FLUSH_PROMPT = `[System: The session is being compressed. Save anything worth remembering...]
Older messages are about to be replaced by a summary. In this one answer, call the memory tool for what must stay true in later conversations and is not in your memory yet: facts about the owner and their preferences (target user), environments, decisions and solutions (target memory). No task progress, no secrets.
Each call needs evidence: [{"quote": "words copied exactly", "message": 12}], two words or more of that message or all of it. If there is nothing, answer "Nothing to keep."`;
