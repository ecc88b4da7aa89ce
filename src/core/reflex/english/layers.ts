// Owns the English layers around a request: greeting, address, apology, hedging, politeness, purpose, haste and thanks.
// Data only, as patterns over lower-case text; `peel-line.ts` takes them off, one after the other, as long as one fits.
// Invariant: a layer never holds a negation, a condition of the matter itself, or the verb of the request.
import type { Layers } from '../language.ts';

const YOU = '(?:you|u|ya|we|yer)';
const WOULD = "(?:can|could|would|will|may|might|wouldn't|couldn't|can't|won't|cld|wld|cud|kin)";
const ADVERB =
  '(?:please|pls|plz|kindly|just|maybe|perhaps|possibly|quickly|also|then|now|simply|at all|by any chance|somehow|actually|real quick|quick|ever so kindly)';
const NAME =
  "(?:dear|my dear|love|darling|honey|sweetie|sweetheart|duck|friend|my friend|buddy|bud|mate|pal|dude|bro|bruh|fam|man|boss|chief|sir|madam|ma'am|there|all|everyone|folks|talaria|reflex|bot|robot|computer|machine|agent|assistant|old chap|old bean|young man)";
/** The same without a greeting before it: no word that may belong to the request. */
const CALLED = NAME.replace('|there|all|everyone', '');
const GRACE =
  '(?:be|are|is) (?:so |very |ever so |really |most |awfully )?(?:kind|good|nice|sweet|helpful|gracious|lovely)(?: enough)?(?: of you)?(?: as)?(?: to| and)?';
const GLAD = '(?:grateful|obliged|thankful|glad|happy|delighted|pleased|appreciative|indebted|over the moon)';
const MOMENT =
  '(?:sec|second|min|minute|mo|moment|chance|time|spare minute|spare moment|free moment|opportunity|bit of time)';
const WANT =
  "(?:want|need|wish|would like|'d like|would love|'d love|should like|would want|would appreciate|am going to need|'m going to need|will need|'ll need|gotta have|require|was hoping|am hoping|hope|prefer)";
const I = '(?:i|we|id|ill|im)';
const IF_YOU = `if ${YOU}(?: could| would| can| will| might| were to| was to| are able to|['’]d|['’]ll|d)`;

function at(start: string): RegExp {
  return new RegExp(`^(?:${start})(?=[\\s,.:;!—–-]|$)[\\s,.:;!—–-]*`, 'i');
}

function end(tail: string, before = '(?:[\\s,;.!—–]|\\s-(?=\\s))*(?:^|[\\s,;.!—–])'): RegExp {
  return new RegExp(`${before}(?:${tail})[\\s.!?)]*$`, 'i');
}

/** `…, can you find it`: what is meant stands before. */
const ASKING = end(
  `(?:(?:so |and |then )?(?:${WOULD} ${YOU} )?(?:please )?(?:help me )?(?:(?<verb>find|locate|search for|look for|dig|look|pull|bring|track|hunt|open|show|display|read|print|grab|fetch|list|view|cat)(?: me)? (?:it|that|this|them|those|em|['’]em)(?: (?:one|lines?|file|part|section|passage|folder|bit))?(?: up| out| down)?(?: (?:for|to) me)?|(?:find|see|check|know|tell me|show me)(?: out)? where (?:it|that|they|this) (?:is|are|went|lives?)|(?<what>(?:(?:show|tell|list|read|see)(?: me| us)? )?what(?:['’]?s| is) (?:all )?(?:inside|in (?:it|there|them|that)|written (?:in it|there)|on it|there))|where(?:['’]?s| is| are| did) (?:it|that|they|them)(?: gone| hiding| now| at| go)?))(?:,? (?:please|pls|plz|thanks|thx|for me|now|k|ok|ta))*`,
  '[,;.!?—–-]\\s+',
);

/** Where the naming of a thing begins: an article, a noun of ours, or a path by its shape. */
const OBJECT =
  /(?:^|\s)(?=(?:the|a|an|my|our|any|all|every|some|lines?|first|last|top|bottom|files?|folder|word|string|phrase|["'`“*]|\S*[^\s.,]*[./_*]\w)(?:\s|\S))/gi;

export const layers: Layers = {
  leads: [
    /^(?:i|we)(?:'d| would| should|d)? (?:really )?(?:like|love|want|need|require) (?:to have |to get )?(?=(?:all|every|each)\b)/i,
    at(
      `(?:(?:well|so|ok|okay|okey|k|kk|right|alright|all right|now|and|but|oh|ah|aah|ooh|um+|uh+|uhm|erm?|er|hm+|hmm+|yo+|(?:hey+|hi+|hiya|hello+|hallo|helo|heya|howdy)(?: again| there)?|sup|greetings|oi|psst|ahem|good|great|cool|nice|lovely|perfect|super|sweet|awesome|thanks|thank you|thx|ty|cheers|ta|yes|yeah|yep|yup|ya|sure|oops|whoops|ugh|argh|damn|dang|shit|crap|gosh|goodness|heavens|blimey|lol|lmao|haha|hehe|fyi|psa|btw|also|next|then|finally|lastly|anyway|anyways|anyhow|actually|basically|honestly|literally|alternatively|hopefully|pray|say|look|listen|see|wait|sorry|apologies|pardon|excuse me|pardon me|forgive me|beg pardon|my apologies)\\b[ ,]*)${NAME}|${CALLED}`,
    ),
    at(
      'well|so|ok|okay|okey|k|kk|right|alright|all right|all righty|righty|now|now then|right then|ok then|and|but|oh|oh dear|ah|aah|ooh|um+|uh+|uhm|erm?|er|hm+|yo+|(?:hey+|hi+|hiya|hello+|hallo|helo|heya|howdy)(?: again| there)?|sup|greetings|oi|psst|ahem|great|cool|nice|lovely|perfect|super|awesome|thanks(?: a lot| so much)?|thank you(?: so much| very much)?|thx|ty|cheers|ta|yes|yeah|yep|yup|ya|sure|oops|whoops|oopsie|ugh|argh|aargh|damn|dang|crap|gosh|goodness(?: me)?|heavens|blimey|lol|lmao|haha|hehe|fyi|psa|btw|by the way|also|next|next up|then|finally|first off|first of all|first(?= (?:run|show|open|read|list|find|search|execute|please|can|could)\\b)|firstly|lastly|anyway|anyways|anyhow|actually|basically|honestly|hopefully|pray|listen|look here|wait|hold on|hang on|sorry(?: to bother you| to trouble you| to bother you again| to be a pain| for the (?:bother|trouble|stupid question|silly question|dumb question))?|apologies|my apologies|pardon(?: me)?|excuse me|forgive me|real quick|quick one|quick question|quick favou?r|small favou?r|one thing|one more thing|just one thing|nvm|never mind|nevermind|no worries|task|todo|new task|request|command|action|your (?:task|job|mission)|step \\d+|\\d+\\)|-|\\*|•|>|ok so|so yeah|i say|tell me|do tell|do me a (?:favou?r|solid)(?: and)?|be a (?:dear|love|doll|pal|mate|champ|star)(?: and)?|help me(?: out)?(?: and| to| with)?|would you believe|if i may(?: ask)?|may i ask|let me ask(?: you)?',
    ),
    at(`good (?:morning|afternoon|evening|day)(?: (?:to you|all|everyone|${NAME}))?|g'?day|morning|evening|afternoon`),
    at(`(?:i )?hope (?:you are|you're|this finds you|all is) [a-z ]{2,20}`),
    at(
      `(?:pretty please|please|pls|plz|plse|plx|kindly|just|quickly|simply|maybe|perhaps)(?: (?:to|you|do|just|be so kind (?:as to|and)))?`,
    ),
    at(
      `${WOULD} ${YOU}(?! mind\\b)(?: ${ADVERB})*(?: (?:${GRACE}|be able to|manage to|try to|try and|go ahead and|go and|help me(?: out)?(?: and| to| with)?|do me a favou?r and|to|make|make me|mind to))?`,
    ),
    at(
      `${WOULD} (?:i|we) (?:please |kindly )?(?:ask|trouble|bother|get|have|beg|request|persuade) ${YOU}(?: please)?(?: to| for)?`,
    ),
    at(
      `(?:is|would|was|might) it (?:be )?(?:possible|ok|okay|alright|fine|too much(?: trouble)?(?: to ask)?|feasible)(?: for ${YOU})?(?: to| if ${YOU}(?: could)?)?`,
    ),
    at(
      `do (?:you|u) (?:think|reckon|suppose|believe) (?:${YOU}|i|we) (?:could|can|might|would)(?: (?:please|maybe|have|get))?`,
    ),
    at(
      `(?:you|u|ya) (?:can|could|should|might|may|must|shall|need to|have to|ought to|gotta|wanna)(?: (?:please|now|just|want to|care to|like to))?`,
    ),
    at(
      `(?:i|we)(?:'d| would| should| will|'ll|d)? (?:be|feel) (?:so |very |ever so |really |most |eternally |much |awfully |super )?${GLAD} (?:${IF_YOU}|if(?= (?:the|my|our|this|that|a|an)\\b)|to (?:see|have|know|get|you to))(?: (?:please|kindly|just|possibly|perhaps))*`,
    ),
    at(
      `(?:i|we)(?:'d| would| should|d)? (?:really |truly |very much |so |much )?(?:appreciate|love|like|welcome|value) it (?:so much |very much |a lot )?${IF_YOU}(?: ${ADVERB})*`,
    ),
    at(
      `(?:(?:it|that|this)(?:['’]d| would| will|['’]ll| is|['’]s)? |would |['’]?d )?(?:be )?(?:(?:so|super|really|very|most|pretty|kinda|just) )?(?:great|good|nice|lovely|wonderful|helpful|cool|super|awesome|handy|splendid|a great help|a help|most kind|so kind|kind|really helpful|ideal|best|fab) (?:of you )?(?:${IF_YOU}|for ${YOU} to)(?: ${ADVERB})*`,
    ),
    at(
      `(?:i|we)(?: am|'m|m)? ?(?:was |were |am |just )?(?:wonder|wondering|hoping|hope|curious|asking) (?:if|whether|that)? ?(?:${YOU}|i|we) (?:could|can|would|might|may)(?: (?:please|possibly|perhaps|just|kindly|ask you to|get you to|trouble you to|have you))*`,
    ),
    at(
      `(?:i|we)(?: do| really| just| also| kinda| only)* ?${WANT}(?: (?:you|u|for you|ya|very much|so much))* to(?: please)?(?: have)?`,
    ),
    at(
      `when(?:ever)? (?:it suits you|convenient)|at your convenience|in your own time|(?:so )?like|i mean|you see|real talk|no cap|ngl|ok look|right so|so basically|so yeah|as i said|as (?:always|usual)|one favou?r|do me the favou?r(?: and| to| of)?|please to|(?:do )?the needful(?: and)?|(?:please )?make to|you must to|you should please to|be so (?:kind|good|nice)(?: and| to| as to)|${YOU} (?:please )?(?=(?:run|show|open|read|list|find|search|execute|launch|print|display)\\b)`,
    ),
    at(
      `(?:i|we)(?:['’]d|['’]ll|['’]m| do| just| really| would| am|d|m)* (?:wanna|gonna|gotta|hafta|tryna|need|wish|want|would like)(?= (?:run|show|open|read|find|list|search|execute|launch|start|print|display|grep|look|check|locate|remember|forget|save|store|note|give|tell|pull|bring|count|extract|undo|cat|view|see|get|fetch)\\b)|(?:i|we)(?= (?:look for|search|search for|seek)\\b)`,
    ),
    at(`(?:want|wanna|wish|need|would like|like|love)(?: (?:you|u))? to`),
    at(
      `(?:i|we)(?:'d| would| should|d) (?:be )?(?:so |very |really )?(?:glad|happy|pleased|delighted|curious|interested|keen|love|like|wish) to(?: be able to)?|(?:i|we)(?:'m| am|m|'re| are) (?:so |very |really |just |rather )?(?:curious|interested|keen|wondering)(?: to (?:see|know|learn|find out)| in|,)?|(?:i|we) (?:just |really )?(?:need|want|have|would like|'d like) to (?:know|find out|learn)|(?:i|we) (?:just )?wonder(?: whether| if)?`,
    ),
    at('fancy|care to|how about|what about|please do|i beg you|i pray you|do please|let me'),
    at(`(?:${I} )?(?:want|need|would like|'d like|should like|require) (?:from )?(?:you|u|ya)(?: to| please)*`),
    at(
      `(?:i|we)(?:'m| am|m|'re| are)? (?:trying|looking|hoping|here|going|about|after|wanting|attempting|asking you|gonna) (?:to )?(?=(?:run|find|see|read|list|show|open|look|search|locate|view|know|count|check|get|execute))`,
    ),
    at(
      `(?:i|we)(?:['’]d| would| must| should| have to| need to| ought to| gotta| got to| want to| wanted to)?(?: (?:kindly|humbly|just|like to|respectfully))* (?:ask|request|beg) (?:of )?${YOU} (?:please |kindly )?to`,
    ),
    at(
      `(?:if|when|whenever|once|as soon as) (?:you|u|ya)(?:'d|'re| would| could| can| will| are)? ?(?:just |please )?(?:be |get |have |find |got |spare |had )?(?:(?:so |as |very )?(?:kind|good|nice|able|free|ready|done|willing)(?: enough)?(?: as)?(?: to| and)?|(?:a |the |some |any |one )?(?:quick |free |spare )?${MOMENT}|around to it|don'?t mind|do not mind|mind|like|please|can|could|would)`,
    ),
    at(
      `if (?:it(?:['’]?s| is| isn['’]?t| is not)|that(?:['’]?s| is)|at all) (?:not )?(?:too much (?:trouble|bother|to ask)|possible|ok|okay|alright|all right|fine|no trouble|convenient)(?: with you| for you)?|if (?:possible|at all possible|feasible|need be|i may|you please|you will)`,
    ),
    at(
      `(?:would|do) (?:you|u|ya) mind(?! \\w+ing\\b)|(?:any|is there any) chance (?:of|(?:that )?${YOU} (?:could|can|would))|how about (?:${YOU} )?|what about|(?:let us|let's|lets)(?: go ahead and| just)?|go ahead and|go and|go|try to|try and|time to|(?:be|make) sure (?:to|you)|feel free to|don'?t hesitate to|mind(?! \\w+ing\\b)`,
    ),
    at(`(?:i )?(?:beg|ask|request|implore|want|need) (?:of )?(?:you|u) (?:please )?(?:to|that you)`),
    at(
      `(?:for|in order for|as|before|ahead of|during) (?:my|the|our|this|a) \\w+,? (?=(?:i (?:need|want|would)|i['’]d|please|could|can|show|find|list|open|give|run|read|print)\\b)|(?:for|in order for|as) (?:my|the|our|this|a) (?:report|notes|records|meeting|presentation|review|demo|standup|sanity|audit|documentation|homework|project|ticket|release)`,
    ),
    at(
      `(?:i|we) (?:guess|think|suppose|believe|reckon)(?: (?:it(?:'s| is) time|we should|you should|we need|you need|i need you|i want you)(?: to)?)?`,
    ),
    at(
      `(?:(?:i|we)(?:'m| am|'re| are|m) (?:new|a beginner|not (?:very )?good|bad|no expert|lost|confused|an? [a-z ]{2,20}) ?(?:to|at|with|here|in)? ?(?:this|here|computers?|the terminal|it|all this)?)[,.;]`,
    ),
  ],
  tails: [
    end(
      `(?:please|pls|plz|plse|plx|pleas|kindly)(?: (?:and|n|&|'n'?) )?(?:thanks|thank you|thx|ty|tx)?(?: (?:and|n|&) (?:thanks|thank you|thx|ty))?`,
    ),
    end(
      `(?:many |much |big |lots of )?(?:thanks|thank you|thx|thnx|tnx|tks|ty|tysm|tyvm|cheers|ta|gracias|appreciated|much appreciated|thank u|bless you)(?: (?:a lot|a bunch|a million|a ton|so much|very much|kindly|ever so much|in advance|again|for your help|for the help|${NAME}))*`,
    ),
    end(`(?:for|to) (?:me|us|my sake)|with me|on my behalf`),
    end(CALLED),
    ASKING,
    end(
      `(?:if|when|whenever|once|as soon as) (?:you|u|ya)(?:'d|'re|'ll| would| could| can| will| are)? ?(?:just |please )?(?:be |get |have |find |got |spare )?(?:(?:so |as |very |ever so )?(?:kind|good|nice|able|free|ready|willing)(?: enough)?|(?:a |the |some |any |one )?(?:quick |free |spare )?${MOMENT}|around to it|don'?t mind|do not mind|mind|like|please|can|could|would|wouldn't mind)`,
    ),
    end(
      `if (?:it(?:['’]?s| is| isn['’]?t| is not)|that(?:['’]?s| is)|at all) (?:not )?(?:too much (?:trouble|bother|to ask)|possible|ok|okay|alright|all right|fine|no trouble|convenient)(?: with you| for you)?|if (?:possible|at all possible|i may|you please|you will|any|need be)`,
    ),
    end(
      `(?:would|will|could|can|won't|wouldn't|couldn't|can't) (?:you|u|ya|ye)(?: (?:please|do that|do this|manage that|dear|love))?|(?:do|don't) (?:you|u) (?:think|mind|reckon|know)|is that (?:ok|okay|alright|possible|fine)|if that makes sense|you know|i (?:think|guess|suppose|believe|hope|beg you|reckon)|shall we|won['’]?t you|would you kindly|would (?:be|you be) (?:so )?(?:kind|great|nice|good|lovely|wonderful|helpful|cool)|(?:that|it)(?: would|'d| will) be (?:great|nice|good|lovely|wonderful|helpful|cool|awesome|all|fab|super)`,
    ),
    end(
      `rn|rq|fr|atm|asap|stat|now|right now|right away|immediately|at once|straight away|today|real quick|really quick|quick|quickly|real fast|fast|first|next|then|too|as well|again please|quick like|pronto|already|ok|okay|k|yeah|alright|right|eh|innit|no rush|whenever|in a jiffy|when ready|when free|one sec`,
    ),
    end(
      `lol|haha+|hehe|lmao|xd|:\\)|;\\)|:d|:-\\)|\\^\\^|btw|by the way|tbh|imo|fam|k thx|kthx|kthxbye|pretty please|i'll wait|over`,
    ),
    end(
      `(?:so|so that|in order that|because|cos|cause|as|since) (?:i|we) (?:can|could|may|might|want|need|would like|have|must|'d like|am|'m|will|like|forgot|don'?t remember)(?: to)? ?(?:see|read|check|look|look at|know|have|learn|study|examine|view|verify|review|compare|understand|use|copy|print|share|show|forgot|remember)? ?(?:it|them|that|this|what is (?:there|in it|inside)|what's (?:there|in it|inside)|everything|how it looks|what it says|where i am|things)?`,
    ),
    end(
      `(?:and|then) (?:show|tell|give|let|report|paste|print)(?: (?:me|us))?(?: (?:see|know|back))? ?(?:what (?:it|you|comes|happens)[a-z ]{0,20}|what(?:['’]?s| is| are)? (?:there|inside|in (?:there|it)|on it|it says)|how it (?:goes|went|looks)|me (?:see|know|look)|the (?:results?|outputs?|answer)|it|them|everything|what you (?:see|find|get|found))?`,
    ),
    end(`before (?:lunch|dinner|breakfast|bed|noon|work|school|(?:the|my|our) \\w+)`),
    end(
      `(?:so|so that|in order that) (?:i|we|he|she|they) (?:can|could|may|might|know|have|will|do not|don['’]?t) (?:(?!\\b(?:if|unless|but|wait|until|only|or)\\b)[^.?!;,]){2,80}`,
    ),
    end(
      `(?:because|since|cos|cuz|coz|as|while|whilst|before) (?:i|we|it|he|she|they|the|my|our|there|this|that|nobody|someone|somebody|everyone|all) (?:(?!\\b(?:if|unless|but|wait|when|until|only|or)\\b)[^.?!;,]){2,80}`,
    ),
  ],
  asking: ASKING,
  predicate: /\s(?:is|are|was|were|has|have|looks?|seems?|fails?|failed|broke|got|needs?)\s.*$/i,
  askingVerbs: { what: 'show', where: 'find' },
  object: OBJECT,
  placeFirst: /^(?:in|inside|within|under|from)\s(?:[^\s,]+\s){0,4}[^\s,]+,\s+/i,
  breaks:
    /(?:(?<!\b(?:dr|mr|mrs|ms|prof|st|vs|jr|e\.g|i\.e))\.|[!?;:…])[.!?;:…]*(?=\s|$)\s*|,\s*(?:(?:so|and|then|and then|so then|but|because|cos|cause|hence|therefore)\s+)?|\s*[–—]+\s+|\s+-+\s+(?=(?:i|i['’]\w+|we|it|it['’]s|the|my|our|this|that|can you|could you|please|pls|so|and|but|because|thanks|just|show me|let me|give me)\s)|\s*\n\s*|(?<=[./]\w+|["'`])\s+(?=(?:i|we) (?:need|want|have|must|gotta|think|am|just|really)\b|(?:i['’]m|cuz|cos|because|since) )|\s+(?:so|then|and then|so then|hence)\s+(?=(?:please|pls|plz|can|could|would|will|kindly|just|run|show|open|read|find|list|search|remember|forget|save|gimme|give|lemme|let|print|display|execute|launch|start|grep|look|check|locate|what|where|which|pull|go|do|tell|i need|i want|you can|you should|u)\b)|(?<!\b(?:how|when|what|where|why|if|that|and|or|but|which|who|because|whether|then|so|wonder|hope|guess|sure|maybe|perhaps|also|just|i|we|you|please|kindly))\s+(?=(?:(?:can|could|would|will) (?:you|u|ya) (?:please |pls |plz |just |maybe |quickly )?|please |pls |plz )(?:run|show|open|read|find|list|search|execute|launch|start|print|display|grep|look|check|locate|remember|forget|save|store|note|give|tell|pull|bring|count|extract|undo|cat|view|see|get|fetch)\b)/gi,
  pointing:
    /^(?:run|execute|do|launch|try|start|use|type) (?:it|that|this|that one|this one|that command|this command|the command)[.!?]*$/i,
  asides: [
    new RegExp(
      `,\\s*(?:please|pls|plz|kindly|if (?:you|u) (?:can|could|would|please|will|don'?t mind|may)|if (?:possible|i may)|${NAME}|pray|then|perhaps|maybe|you know|i (?:think|guess|suppose|wonder|believe)|er|um|uh|thanks|if you'd be so (?:kind|good)|if you would(?: be so (?:kind|good))?|if it'?s (?:possible|no trouble|not too much trouble)|when you (?:can|have a moment|get a chance)|when(?:ever)? (?:it suits you|you(?:['’]re| are) (?:free|done|ready))|at your convenience)\\s*,`,
      'gi',
    ),
    /\s(?:if (?:you|u)(?:'d| would)? be so (?:kind|good)|if (?:you|u) (?:can|could|please|would|don'?t mind)(?=[,.:;?!]|$)|for me please|please for me|for me|for us|to me please|pls|plz|please|kindly|tf|(?:the|da|tha) (?:heck|hell|fuck|devil|f)|4 (?:me|us)|on earth|rn|real quick|ffs|exactly)(?=[\s,.:;?!]|$)/gi,
  ],
};
