// Owns the shape of a language file: all that reflex knows of one human language, as data.
// Knows no language. A second language is a second file of this shape, plus forms beside the rules.

export interface Language {
  readonly name: string;
  /** Word classes of the forms: name → phrases separated by `|`. */
  readonly classes: Readonly<Record<string, string>>;
  /** `what's` → `what is`; keys with a straight apostrophe or none. */
  readonly contractions: Readonly<Record<string, string>>;
  /** Words that may stand between the parts of a form without meaning anything. */
  readonly fillers: string;
  /** Openings that only make a command polite; the longest fitting one is dropped, again and again. */
  readonly openings: readonly string[];
  /** Openings after which a verb stands in its -ing form. */
  readonly gerundOpenings: readonly string[];
  readonly closings: readonly string[];
  /** Closings that a command loses and a remembered fact keeps: `now`. */
  readonly hastes: readonly string[];
  /** Phrases that make a command conditional, timed or taken back. */
  readonly conditions: readonly string[];
  readonly cancellations: readonly string[];
  /** Verbs after which a condition is a question: `check if`. */
  readonly askingBefore: string;
  /** Words of other languages: a line that holds one is not ours to read. */
  readonly foreign: readonly string[];
  /** Phrases of text that tries to steer an agent. */
  readonly injections: readonly string[];
  /** Words that are never a typing error of a command word, nor a bare path or name. */
  readonly commonWords: string;
  readonly determiners: string;
  /** Words that tell one thing from another only for somebody who sees them: `other`, `last`. */
  readonly vagueAdjectives: string;
  /** Words for whatever is meant: `thing`, `document`, `word`. */
  readonly vagueNouns: string;
  /** Small words between those. */
  readonly vagueLinks: string;
  /** Words that open a place: `in`, `under`, `everywhere`. */
  readonly placeWords: string;
  /** Spoken marks of paths: `slash` → `/`. */
  readonly spokenMarks: Readonly<Record<string, string>>;
  /** Function words that a frame may leave unexplained; no negation, no condition, no verb of a request. */
  readonly looseWords: string;
  readonly layers: Layers;
  readonly guards: Guards;
  readonly beyond: Beyond;
  readonly slots: SlotWords;
  readonly time: TimeWords;
  readonly answers: AnswerWords;
  readonly templates: Templates;
}

/** What stands around a request; patterns over text as typed. */
export interface Layers {
  /** At the start. */
  readonly leads: readonly RegExp[];
  /** At the end. */
  readonly tails: readonly RegExp[];
  /** Anywhere outside quotations; global. */
  readonly asides: readonly RegExp[];
  /** At the end: a request that points at what was named before it, `can you find it`; its verb is the group `verb`. */
  readonly asking: RegExp;
  /** What is told about a thing after it was named: `… is bad`. */
  readonly predicate: RegExp;
  /** The verb of such a request that asks what is in it, or where it is. */
  readonly askingVerbs: { readonly what: string; readonly where: string };
  /** A place before the request, with its comma: `in my notes folder, …`. */
  readonly placeFirst: RegExp;
  /** Before the words that name a thing; global. */
  readonly object: RegExp;
  /** Between clauses; global. */
  readonly breaks: RegExp;
  /** A clause that only points at what was quoted: `run it`. */
  readonly pointing: RegExp;
}

/** What speaks against acting on a part of a line; patterns over text without its quotations. */
export interface Guards {
  readonly against: readonly RegExp[];
  /** What no rule can do. */
  readonly understanding: RegExp;
  /** After a request: what makes it conditional or timed. */
  readonly around: readonly RegExp[];
  /** At the start of a clause before a request: a condition, a time, a hypothesis, a forbidding. A reason is none of these. */
  readonly leading: readonly RegExp[];
  /** A clause about what the owner does or wants to do, not about what we should. */
  readonly ownWords: RegExp;
  /** In such a clause: what makes it a wish or a taking back. */
  readonly wishing: RegExp;
  /** A clause before a request that asks for something no rule can do. */
  readonly demanding: RegExp;
  /** What the owner cannot, does not know or did not do: no word against the request. */
  readonly harmless: RegExp;
  /** Before a colon: what follows is shown, not asked for. */
  readonly quoting: RegExp;
  /** A command up to the next joining word: its own words speak for nothing. */
  readonly verbatim: RegExp;
  /** A statement about what is or was, whatever verbs stand in it. */
  readonly statement: RegExp;
  /** Somebody else's words: only a clause that asks us politely counts beside them. */
  readonly reported: RegExp;
  /** The same, said after the words. */
  readonly credited: RegExp;
  readonly asked: RegExp;
  /** At the start of a line: what it says is a guess, none of it a fact. */
  readonly hedging: RegExp;
  /** At the start of what follows a clause: without it the clause is only half of what was said. */
  readonly halving: RegExp;
}

/** What no rule answers, however its words fit; patterns over text without its quotations, where names read as `it`. */
export interface Beyond {
  /** Asks how something is done: nothing acts, and memory is not asked. */
  readonly howTo: readonly RegExp[];
  /** Asks for the understanding of a text: nothing is read for it. */
  readonly understanding: readonly RegExp[];
  /** At the start: an order whose other words are its object, and no request. */
  readonly wanted: RegExp;
  /** In a part of a line: a request for help with us, not with the world. */
  readonly aboutAgent: RegExp;
}

export interface SlotWords {
  readonly fileNouns: string;
  readonly folderNouns: string;
  /** Nouns after a kind of file: `markdown files`. */
  readonly kindNouns: string;
  readonly namedWords: string;
  /** Phrases for the folder that the session works in. */
  readonly here: readonly string[];
  readonly parent: readonly string[];
  readonly home: readonly string[];
  /** Phrases for the file that was last spoken of. */
  readonly sameFile: readonly string[];
  /** What was piped in with the line; counts only when something was. */
  readonly pipedFile: readonly string[];
  /** Phrases for all files of the project. */
  readonly everywhere: readonly string[];
  /** Spoken names of well-known files. */
  readonly knownFiles: Readonly<Record<string, string>>;
  /** Spoken names of kinds of files → glob. */
  readonly fileKinds: Readonly<Record<string, string>>;
  readonly numbers: Readonly<Record<string, string>>;
}

export interface TimeWords {
  readonly weekdays: readonly string[];
  readonly months: readonly string[];
  readonly units: Readonly<Record<string, string>>;
  readonly last: string;
  readonly current: string;
  readonly ago: string;
  readonly lead: string;
  /** Phrase → days back of its first and of its last day, `14 1`; 0 is today. */
  readonly days: Readonly<Record<string, string>>;
  /** Phrases about time that set no window but the newest first. */
  readonly vague: readonly string[];
}

export interface AnswerWords {
  readonly yes: readonly string[];
  readonly no: readonly string[];
  readonly ordinals: Readonly<Record<string, string>>;
  /** Words around a number: `option 2`, `the second one`. */
  readonly around: string;
}

/** Fixed texts; `{}` is filled with names or counts, never with free prose. */
export interface Templates {
  readonly refusal: string;
  readonly notOwner: string;
  readonly which: string;
  readonly confirmGuess: string;
  readonly nothing: string;
  readonly nothingDone: string;
  readonly howToChoose: string;
  readonly toolMissing: string;
  readonly tooManySteps: string;
  readonly moreLines: string;
}
