// Owns the words by which a request is read: what asks, what says little, what points away (English). Data only.

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/).filter((word) => word !== ''));

/** Verbs that say what comes out. */
export const CLEAR_VERBS = words(`
  summarize summarise list find count extract compare explain translate name identify write outline collect verify describe show
  give tell state determine calculate compute convert classify group sort rank rewrite rename replace remove delete add create generate
  draft quote cite detect locate search report answer map plot tabulate measure estimate evaluate trace transcribe paraphrase condense
  highlight mark flag merge split filter select choose pick enumerate assess contrast derive document define gather produce prepare turn
  format order print return read total sum average match validate confirm mention note annotate test build make shorten expand
  correct update propose suggest recommend predict reconstruct label tag score grade pull separate combine reconcile cross-check point
  put copy move insert spell discuss specify get save split divide draw recap`);

/** Verbs that leave open what comes out: clear only with an object that says more than "the file". */
export const OPEN_VERBS = words(`
  analyze analyse check review fix improve handle process do help continue go work look clean optimize optimise change adjust
  deal manage examine investigate study inspect think consider refactor polish enhance tidy sort see try start finish proceed run use
  need want take`);

export const QUESTION_WORDS = words(`
  what which who whom whose when where why how is are was were does do did has have had can could will would should`);

/** Nouns that ask for a form by themselves: "summary of chapter 3". */
export const FORM_NOUNS = words(`
  summary list table overview count comparison translation outline explanation analysis timeline glossary index abstract total number
  names dates`);

/** Nouns that name the target again and say nothing of what in it is meant. */
export const GENERIC_NOUNS = words(`
  file files document documents doc docs text texts report code project data dataset app application system program repo repository
  folder directory content contents input material problem problems issue issues bug bugs error errors part parts item items page pages
  book paper work job task tasks version place places writing style quality structure layout design performance readability wording tone
  formatting language changes`);

/** Nouns, adverbs and fillers that stand for nothing. */
export const EMPTY_WORDS = words(`
  thing things stuff something anything everything whatever somewhere someone some any all bit lot kind sort way ways best right same
  again last time maybe perhaps somehow please just really very quite more less better nicer prettier good nice great cool proper
  properly quickly soon later now then here there usual needed necessary appropriate possible ok okay thanks thank hi hello hey yes no
  etc so on also too up out over down with about know talked discussed said mentioned earlier before previous previously well etcetera
  magic yourself myself ones one other others another few several many much magically done going happen happening working works need
  want like think idea mean bad wrong weird rid unnecessary useless boring ugly go look try shot hand moment minute keep posted informed judgement judgment accordingly happened happens needful care`);

/** Words that carry the sentence and no content. */
export const FUNCTION_WORDS = words(`
  a an the and or but if of in on at by for from to into onto with without within between among through during before after above below
  as than that this these those it its they them their he him his she her i me my we us our you your be been being am is are was were
  do does did has have had can could will would shall should may might must not don doesn didn isn aren wasn won t s re ve ll d who whom
  whose which what when where why how there each every both either neither while because since until per via against only own such let
  please`);

export const PRONOUNS = words('it its they them their he him his she her this that these those one ones');
export const DEMONSTRATIVES = words('this that these those');

/** After these a demonstrative stands alone. */
export const AFTER_ALONE = words(`
  for to in on at by with and or but better nicer somehow please again now properly right up out like as from into if so too then
  yourself quickly soon is was are were does do did can could will would should mean means work works go goes over first`);

/** Words that point at what was said or known elsewhere. */
export const POINTS_AWAY: readonly RegExp[] = [
  /\b(?:we|i|you)\s+(?:just\s+|already\s+)?(?:talked|spoke|discussed|mentioned|said|agreed|had|did|wanted|started|began|stopped|worked)\b/,
  /\b(?:like|as)\s+(?:last\s+time|before|always|usual|discussed|agreed|we\s+said|yesterday)\b/,
  /\b(?:same\s+(?:as|thing)|the\s+usual|the\s+other\s+(?:one|thing)|you\s+know|from\s+(?:before|earlier|last\s+time)|where\s+(?:we|you)\s+left)\b/,
  /\b(?:the|this|that)\s+(?:thing|stuff)s?\b/,
  /\b(?:he|she|they)\s+(?:asked\s+for|wanted|meant|(?:told|sent|gave)\s+(?:me|us))\b/,
];

export const UNBOUNDED: readonly RegExp[] = [
  /\b(?:whatever|anything|somehow|etc|etcetera)\b/,
  /\band\s+(?:so\s+on|so\s+forth|stuff|things|more|all\s+that|everything)\b/,
  /\b(?:as|where|if|when)\s+(?:needed|necessary|appropriate|possible|you\s+(?:like|want|see\s+fit|think))\b/,
  /\bas\s+(?:much|many|far)\s+as\s+(?:possible|you\s+can)\b/,
  /\b(?:or|and)\s+something\b/,
  /\bwhat(?:ever)?\s+(?:needs|has)\s+(?:to\s+be|fixing|doing|changing|work)\b/,
  /\b(?:all|every)\s+(?:the\s+|possible\s+|of\s+the\s+)?(?:things?|stuff)\b/,
];
/** Bounded when it says of what. */
export const EVERYTHING = /\beverything\b(?!\s+(?:in|about|on|from|that|of|said|under|between|after|before)\s+\w)/;

export const VAGUE_FORM: readonly RegExp[] = [
  /\b(?:better|nicer|prettier|cooler|smarter|more\s+(?:professional|modern|beautiful|readable|interesting|useful))\b/,
  /\b(?:some|any|a\s+(?:nice|good|proper|suitable))\s+(?:kind\s+of\s+)?(?:format|form|way|shape)\b/,
  /\bin\s+(?:the|a)\s+(?:right|proper|good|nice|best|usual)\s+(?:way|form|format)\b/,
  /\b(?:bad|boring|ugly|weird|unnecessary|wrong|good)\s+(?:parts?|bits?|ones?)\b/,
  /\bsome\s+(?:improvements?|changes?|edits?|adjustments?|tweaks?|corrections?)\b/,
  /\b(?:properly|the\s+best\s+you\s+can|look(?:s)?\s+(?:good|nice|great))\b/,
];
