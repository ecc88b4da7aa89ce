// Owns the rule list by which a line of the owner counts as a correction of what was just done (seed 001 ch 11, 12). English; pure.
// Knows no model. Invariant: linear in the line; a line is judged by its beginning and by a few fixed phrases.

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
