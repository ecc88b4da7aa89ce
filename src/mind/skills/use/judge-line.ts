// Owns whether the line that an owner types after a turn says that the turn went wrong. A short list of rules, English. Pure.
// Invariant: in doubt the line is an ordinary next request: a wrong failure would cost a good skill more than a missed one.

/** Words that look like a correction and are none. */
const FINE: readonly RegExp[] = [
  /^no[,.!]? (?:problem|worries|need|thanks?|thank you|rush|questions?|more|further|other)\b/,
  /^(?:wrong number|stop here|stop for (?:now|today)|that'?s (?:all|it)\b)/,
];

const CORRECTIONS: readonly RegExp[] = [
  /^(?:no|nope|wrong|incorrect|undo|revert)\b(?! longer)/,
  /^(?:not (?:quite|right|like|that|what|correct|good)|stop (?:that|it|doing)|please (?:undo|revert))\b/,
  /\b(?:that|this|it)(?:'s| is| was) (?:wrong|incorrect|broken|not (?:right|correct|what|how|it|working))\b/,
  /\b(?:that|this|it) (?:isn't|wasn't) (?:right|correct|what|how|it|working)\b/,
  /\b(?:did(?:n't| not)|does(?:n't| not)|do(?:n't| not)) (?:work|help|compile|match)\b/,
  /\bstill (?:broken|fail(?:s|ing)?|wrong|missing|not (?:right|working|there))\b/,
  /\byou (?:forgot|missed|broke|misunderstood|were supposed to|should(?:n't| not)? have|did(?:n't| not))\b/,
  /\bi (?:said|told you|asked (?:you )?(?:for|to|not)|meant|did(?:n't| not) (?:ask|want|mean))\b/,
  /\b(?:undo|revert|roll back) (?:that|this|it|your|the (?:last|change))\b/,
  /\b(?:try|do (?:it|that)) again\b/,
  /\b(?:next time|from now on),? /,
  /^(?:actually|instead),? /,
  /^(?:include|add|show|list|skip|leave out) .{1,60}\b(?:too|as well|also)[.!]?$/,
];

/** `corrected` when the line takes back or mends what was just done. */
export function judgeLine(line: string): 'corrected' | 'fine' {
  const text = line.trim().toLowerCase().replaceAll('’', "'").slice(0, 500);
  if (FINE.some((rule) => rule.test(text))) return 'fine';
  return CORRECTIONS.some((rule) => rule.test(text)) ? 'corrected' : 'fine';
}
