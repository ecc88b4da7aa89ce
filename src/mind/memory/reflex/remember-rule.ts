// Owns the intent `remember`: the owner's words become an entry, unchanged.
import type { ReflexInput, ReflexMatch, ReflexRule } from '#core/agent/reflex-rule.ts';
import { targetOf } from './about-owner.ts';
import { forms, texts } from './english.ts';
import { isHedged, isVague } from './meant-words.ts';
import { sayWritten } from './memory-answer.ts';

/** Words that ask to be reminded of a time or told something: nothing that can be kept as a fact. */
const NO_FACT =
  /^(?:when|what|how|why|who|where|if|whether|me|us|to (?:breathe|smile))\b|^(?:it|this|that)\W*$|\?\s*$/i;
/** A statement about now, this moment or what happened is talk, not a fact to keep. */
const PASSING =
  /\b(?:later|tomorrow|tonight|today|yesterday|right now|at the moment|maybe|soon|back|ago|last (?:night|week|time)|again|gonna|killing|broken|dead|slow|weird|not working|(?:is|are) (?:none|full|empty|wherever|whatever|whoever|so|too|very|yet|still|just|really|boring|lost|gone|fun|great|nice|ok|okay|fine|changed|ready|late|cold|hot|wrong|long|short|bad|good|hard|easy|awful)|work on my|speak (?:my|to|with|for|up|out|as)|come from (?:a|an|the)|go by (?:bus|car|train|bike|foot|plane|taxi|boat|the|air)|called (?:to|upon|in|a|an|the|away|off|back|out)|calls? me (?:lazy|crazy|mad|names|old|weird|a|an|the)|from nowhere|usually$|from now on i(?:['’]m| am)|like (?:my|a|an|the)|prefer (?:not|that|it|to not|the (?:other|first|second|last)|this|these|those)|you know|said (?:the|he|she|they|my)|whenever|any ?time|sometimes?)\b|^call me (?:an?|the|when|if|by|on|at|after|before|once|crazy|old|in)\b|[?]|\.\s+\S|!$/i;
/** `please don't remember this` asks for the opposite. */
const NEGATED = /^(?:(?:please|just|and|ok|no)[,\s]+)*(?:don['’]?t|do not|never|not|no|nothing)$/i;
/** Words that end in the air: `you don't need to … remember that`. */
const OPEN_END =
  /n['’]?t$|\b(?:to|not|dont|never|you|can|will|should|could|would|please|also|must|do|does|did|and|or|but|if|i)$/i;
/** A statement, not just a thing: `note the irony` keeps nothing. */
const CLAUSE =
  /\b(?:is|are|was|were|has|have|runs?|lives?|uses?|needs?|will|must|should|can|goes|costs?|starts?|ends?|takes?|works?|means|likes?|prefers?|wants?|=|host|sits?|moved|use|live|work|have|am|like|prefer|speak|love|hate|['’](?:s|m|re|ve))\b|['’](?:s|m|re|ve|ll)\b/i;
/** `the good old days`: a thing without a statement about it. */
const BARE_THING = /^(?:the|those|these|all|our|a|an)\s(?:\p{L}+\s?){1,4}$/u;
/** `take note, young man`: nobody's fact. */
const LOOSE_ADDRESS =
  /^(?:miss|mister|mr|mrs|ms|madam|darling|dear|honey|kids|ladies|gentlemen)\b|^(?:young |old |good |my )?(?:man|lady|sir|boy|girl|friend|everyone|folks|guys)$|^(\w+), \1\b|^\w+, the \w+ of \w+$|^(?:is|was)\b|^it(?:'s|’s| is) an? \w+$/i;
/** `save that as x.txt` is about a file. */
const AS_FILE = /^(?:as|to|in|into|under|at)\s+\S*[./]\w+\s*$/i;
/** `remember to call mom` is a reminder, which nothing here rings; how to serve the owner is a fact. */
const TO_DO =
  /^to (?!always\b|never\b|use\b|answer\b|reply\b|write\b|speak\b|call me\b|address\b|format\b|keep\b|avoid\b|prefer\b|sign\b|respond\b|not\b)[a-z]+(?:\s+[^\s,]+){0,8}$|^(?:buy|call|ring|phone|pay|pick up|get|lock|water|feed|email|text|message|book|bring|take|return|renew|clean|walk|visit|ask)\s+(?:the|a|an|my|our|some|more|mom|mum|dad|bread|milk|\w+)(?:\s+\S+){0,4}$/i;
const YOUR_THING = /^your \w+(?: \w+)?(?:,.*)?$/i;
const LONGEST_STATEMENT = 16;

/** `her name`: whose, and which, was not said. */
const UNNAMED = /^(?:her|his|their|its) \p{Ll}+$/u;

function namesNothing(content: string): boolean {
  return isVague(content) || UNNAMED.test(content);
}

export const rememberRule: ReflexRule = {
  purpose: 'memory',
  intent: 'remember',
  effect: 'home',
  examples: [
    'remember that my editor is vim',
    'keep in mind that the server runs on port 8080',
    "don't forget that we deploy on Fridays",
    'note: the password file is in the vault',
  ],

  match(input) {
    const pointed = pointedFact(input);
    if (pointed !== undefined) return pointed;
    const fit = input.fit(forms.remember);
    if (fit === undefined) return told(input) ?? stated(input);
    if (fit.missing !== undefined) return fit;
    const content = (fit.slots.content ?? '')
      .replace(/^[:\s]+/, '')
      .replace(HASTE, '')
      .replace(/[\s,;:]+$/, '');
    if (AS_FILE.test(content) || NEGATED.test(content)) return undefined;
    if (namesNothing(content)) return { score: fit.score, slots: {}, missing: 'content' };
    if (LOOSE_ADDRESS.test(content) || OPEN_END.test(content)) return undefined;
    const asked = input.text.endsWith('?') && input.text.startsWith(input.words.slice(0, 8));
    return { score: fit.score * worth(content, fit.slots, input.words) * (asked ? 0.5 : 1), slots: { content } };
  },

  restate: ({ slots }) => `remember that ${slots.content}`,

  missing: () => ({
    type: 'ask',
    question: 'Remember what?',
    choices: ['what do you know about me'],
    fill: 'remember that {}',
  }),

  act({ slots }, _input, results) {
    const content = slots.content ?? '';
    const target = targetOf(content);
    const [result] = results;
    if (result !== undefined) return sayWritten(texts.kept, { target, text: content }, result);
    return { type: 'call', calls: [{ name: 'memory', arguments: { action: 'add', target, content } }] };
  },
};

/** News of the moment, told by the way. */
const MOOD =
  /\b(?:tired|hungry|thirsty|bored|sad|happy|angry|sick|busy|ready|late|here|back|raining|snowing|sunny|cold|hot|lunch|dinner|breakfast|right now|at the moment|already|today|tonight|tomorrow|yesterday|just|against|leaving|going|joking|kidding|off|out|human|sorry|done|fine|ok|okay)\b/i;
const BY_THE_WAY =
  /^\W*(?:just )?(?:fyi|for your information|so you(?:['’]re| are)? (?:know|aware)|you (?:should|need to|must) know|know that|please know|i want you to know|for the record|be aware|please be aware|let it be known)\b/i;
const HASTE = /^(?:(?:real quick|quickly|quick|please|pls|plz|for me|for later|now|then)\b[,:\s]+)+/i;
const TOLD =
  /^\W*(?:just )?(?:so (?:that )?you(?:'re| are)? (?:know|aware)|for your information)[,:]?\s+(?:that\s+)?(\S.*)$/i;

/** `just so you know, …`: its first word is elsewhere mere manners. */
function told(input: ReflexInput): ReflexMatch | undefined {
  const content = TOLD.exec(input.text)?.[1]?.replace(/[.!\s]+$/, '');
  return content === undefined || !CLAUSE.test(content) || MOOD.test(content) || content.includes('?')
    ? undefined
    : { score: 0.9 * worth(content, {}, input.words), slots: { content } };
}

const POINTED =
  /^(.*[^\s.,;!:–—-])[.,;!:–—-]+\s*(?:so |and |then )*(?:(?:please|pls|plz|kindly|can you|could you|would you|do|i want you to|you should|make sure (?:to|you)) )*(?:(?:(?<=please |pls |plz |kindly )(?:remember|memori[sz]e))(?=\W*$)|(?:remember|memori[sz]e|note|keep|do not forget|don['’]?t forget|bear|store|save|jot) (?:that|this|it))(?: (?:in (?:your )?(?:mind|memory|head)|down|for (?:me|later|next time|the future)|to memory))*(?:[,\s]+(?:please|pls|plz|thanks|thank you|thx|ok|okay|will you|would you|for me))*[.!]*$/is;

/** `we host at Hetzner. Please remember this`: what stands before is the fact. */
function pointedFact(input: ReflexInput): ReflexMatch | undefined {
  const [, before = ''] = POINTED.exec(input.text.trim()) ?? [];
  const content = before.replace(LEAD, '').trim();
  if (content === '' || content.includes('?') || content.includes('\n') || !CLAUSE.test(content)) return undefined;
  return { score: 0.95 * worth(content, {}, content), slots: { content } };
}

const LEAD =
  /^(?:(?:hey|hi|hello|ok|okay|so|well|important|fyi|btw|by the way|listen|note|oh|and|also|please|just so you know)\b[\s,:!.–—-]+)+/i;

/** A plain statement of the owner about themselves; the whole line is kept. */
function stated(input: ReflexInput): ReflexMatch | undefined {
  const fit = input.fit(forms.statement);
  if (fit === undefined) return undefined;
  const content = input.words.replace(/[.!\s]+$/, '');
  if (PASSING.test(content) || isHedged(input.text) || content.split(/\s+/).length > LONGEST_STATEMENT)
    return { score: 0.3, slots: { content } };
  const contrast =
    !/^(?:from now on|always|never|in future|going forward)\b/i.test(content) &&
    /,\s*(?:and )?not\s|instead of|rather than/i.test(content);
  return { score: fit.score * (contrast ? 0.6 : 0.85), slots: { content } };
}

function isNobodysFact(content: string, words: string): boolean {
  const told = BY_THE_WAY.test(words) && MOOD.test(content);
  return told || /^remember\b/i.test(content) || TO_DO.test(content) || YOUR_THING.test(content);
}

/** 1 for words that can be kept; less for a bare thing, a single word, or a question. */
function worth(content: string, slots: ReflexMatch['slots'], words: string): number {
  if (slots['content.quoted'] !== undefined) return 1;
  if (NO_FACT.test(content)) return 0.2;
  if (isNobodysFact(content, words)) return 0.5;
  const clause = CLAUSE.test(content);
  if (slots.clause !== undefined && (!clause || /^to\b/i.test(content))) return 0.3;
  if (BARE_THING.test(content) && !clause && !/\bthat\b|:|^for (?:future|the record)/i.test(words)) return 0.5;
  return /\s/.test(content) ? 1 : 0.6;
}
