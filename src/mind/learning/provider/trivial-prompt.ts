// Owns which lines of the owner are not worth asking a memory provider about. Pure. English, German, French, Spanish short words.

const TRIVIAL =
  /^(?:y|n|yes|no|yep|yeah|nope|ok|okay|k|sure|thanks?(?: you)?|thx|ty|great|good|nice|cool|fine|perfect|done|go|go on|go ahead|continue|next|more|stop|again|please|hi|hello|hey|bye|quit|exit|ja|nein|danke|oui|non|merci|s[ií]|gracias|\d{1,2})[\s.!,]*$/i;
const SHORTEST = 3;

export function isTrivialPrompt(text: string): boolean {
  const line = text.trim();
  return line.length < SHORTEST || line.startsWith('/') || TRIVIAL.test(line);
}
