// Owns words that open a sentence and say nothing about its subject: greetings, thanks, connectives. English. Pure.

const GREETINGS =
  'hi|hello|hey|dear|good (?:morning|afternoon|evening)|thanks|thank you|thx|cheers|nice to meet you|great to meet you|pleased to meet you|welcome';
const OPENERS =
  'yes|yeah|yep|sure|ok|okay|no|well|so|and|but|also|plus|btw|by the way|ps|note|fyi|update|edit|actually|honestly|currently|now|right now|at the moment|today|these days|in short|besides|besides that|in addition|additionally|meanwhile|anyway|great|cool|nice|perfect|sorry|oh|ah|hm+|as (?:mentioned|said|discussed|promised)|as (?:I|we) (?:said|mentioned)|for context|for reference|for my part|still|first|second|third|finally|urgent|question|context|about (?:me|us)|from my side|on my side|in return|in exchange|professionally|by day';
const MARKER = new RegExp(
  `^[\\s,.!:–—-]*(?:(?:${GREETINGS})\\b(?:\\s+(?:all|everyone|everybody|folks|there|again|\\p{Lu}[\\p{L}-]*))?(?=[\\s,.!:–—-]|$)|(?:${OPENERS})(?=[\\s,.!:–—-]|$))[\\s,.!:–—-]*`,
  'iu',
);

/** Empty when the text is made of them alone. */
export function withoutMarkers(text: string): string {
  let rest = text.trim();
  for (let marker = MARKER.exec(rest); marker !== null && marker[0] !== ''; marker = MARKER.exec(rest))
    rest = rest.slice(marker[0].length);
  return rest;
}
