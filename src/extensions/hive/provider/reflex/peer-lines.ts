// Owns the English lines by which a person speaks of peers, and the fixed texts of the answers. Knows no logic. Another language is another
// file of the same shape.

/** A name or id; a full stop at its end belongs to the sentence. */
const NAME = String.raw`[\p{L}\p{N}][\p{L}\p{N}._=+/-]*(?:@[\p{L}\p{N}.:-]+)?(?<![.:])`;
/** What nobody but an agent is called. */
const AGENT = String.raw`(?:[\p{L}\p{N}][\p{L}\p{N}._=+/-]*-of-[\p{L}\p{N}._=+/-]*|(?=[^\s@]+@)[\p{L}\p{N}][\p{L}\p{N}._=+/-]*)(?:@[\p{L}\p{N}.:-]+)?(?<![.:])`;
const NOBODY =
  '(?!(?:me|us|you|him|her|them|it|everyone|everybody|all|someone|somebody|the|a|an|this|that|my|your|our)\\b)';

const line = (source: string): RegExp => new RegExp(`^(?:${source})[.!?]*$`, 'isu');

export const peerLines = {
  list: [
    'who (do|did) (i|you|we) know [here|already|so far|by now]',
    '(which|what) [other] (agents|peers) (do (i|you|we) (know|have)|are there|are known)',
    'who (are|is) (my|our|your) (peers|peer|contacts)',
    '(list|show|name) [me] [all] [of] [my|our|your|the] [known|other] peers',
    '(list|show|name) [me] [all] [of] [my|our|your|the] other agents',
    '(list|show) [me] [my|our|your|the] (suggested introductions|peers and suggestions)',
    '(which|what) introductions (are suggested|do you suggest)',
    '[are there] any suggested introductions',
  ],
  messages: [
    '(are there|do i have|do we have|have i got|did i get|have we got|is there|got) [any] [new|unread] (messages|message) [for me] [from (my|the|our) peers]',
    '(any|new|unread) [new|unread] (messages|message) [for me] [from (my|the|our) peers]',
    '(check|read|show|list) [me] [for] [my|the|our|all] [new|unread] (messages|message) [from (my|the|our) peers]',
    '(check|read|show|list) [me] the messages of (my|our) peers',
    '(check|read|show) my inbox @0.7',
  ],
  messagesWith: [
    line(
      `(?:(?:are there|do i have|have i got|is there) )?(?:any|the)?(?: ?new| ?unread)? ?(?:messages?|word|news) (?:from|of|with) (?<peer>${AGENT})`,
    ),
    line(
      `(?:check|read|show|list)(?: me)?(?: the| my| our)?(?: new| last)? (?:messages?|talk|conversation) (?:from|of|with) (?<peer>${AGENT})`,
    ),
    line(`what (?:did|does|has) (?<peer>${AGENT}) (?:say|said|write|written|wrote|answer(?:ed)?|reply|replied)`),
  ],
  info: [
    line(`(?:who|what) is (?<peer>${AGENT})`),
    line(
      `(?:(?:tell me )?about|details? (?:of|about|on)|info(?:rmation)? (?:of|about|on)|show me) (?:the |my )?(?:peer )?(?<peer>${AGENT})`,
    ),
  ],
  tell: [
    line(
      String.raw`(?:tell|message|ask|write(?: to)?|send(?: to)?|reply to|answer) (?:the |my )?(?:peer )?${NOBODY}(?<peer>${NAME})\s*:\s*(?<message>\S.*?)`,
    ),
    line(String.raw`(?:tell|message|ask|inform) (?<peer>${AGENT}),?\s+(?:that\s+)?(?<message>\S+\s.*?)`),
    line(
      String.raw`(?:send|write) (?:a |the )?(?:message |note )?(?:to )?(?<peer>${AGENT})(?: saying| that says)?\s*[:,]\s*(?<message>\S.*?)`,
    ),
    line(`(?:send|write|say) (?<message>["“].+["”]) to ${NOBODY}(?<peer>${NAME})`),
  ],
  introduce: [
    line(
      String.raw`(?:introduce|connect) ${NOBODY}(?<a>${NAME}) (?:and|to|with) ${NOBODY}(?<b>${NAME})(?: to each other| with each other)?(?:(?:\s*[:,;]\s*|\s+)(?:because|since|reason:)?\s*(?<reason>\S.*?))?`,
    ),
  ],
  dismiss: [
    line(
      `(?:dismiss|decline|drop|reject|forget) (?:the )?(?:suggestion|suggested introduction|introduction|spark) (?:of|for|about|between|to introduce) ${NOBODY}(?<a>${NAME}) (?:and|to|with) ${NOBODY}(?<b>${NAME})`,
    ),
    line(`(?:dismiss|decline) ${NOBODY}(?<a>${NAME}) and ${NOBODY}(?<b>${NAME})`),
  ],
} as const;

export const peerTexts = {
  none: 'Nobody is known yet.',
  peers: 'Known peers:',
  suggestions: 'Suggested introductions:',
  news: 'New messages:',
  noNews: 'There are no new messages.',
  lastWords: 'There are no new messages. The last ones:',
  talk: 'Messages, newest first:',
  silence: 'Nothing was said yet.',
  one: 'This peer is known:',
  sent: 'Sent to {}.',
  introduced: '{} and {} are introduced.',
  dismissed: 'The suggestion of {} and {} is dismissed.',
  neverSuggested: '{} and {} were not suggested; they will not be.',
  failed: 'This was not done:',
  whichWords: 'Which words shall I send?',
} as const;
