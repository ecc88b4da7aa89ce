// Owns the reading of a command out of the words after "run": the command itself, its folder, its time-out.
// Knows no danger. Invariant: the command is always a part of the line, letter for letter; prose makes it less certain, never different.
import { isProgram, isWordyProgram } from './command-names.ts';

export interface SpokenCommand {
  readonly command: string;
  /** 0 to 1; under 0.6 the owner is asked. */
  readonly certainty: number;
  readonly workdir?: string;
  /** Seconds. */
  readonly timeout?: number;
  readonly background?: boolean;
}

const NOUN_LEAD =
  /^(?:(?:the|this|that|my|a|following|shell|terminal|bash|console) )+(?:command line|command|cmd|one-liner|program|script|line)\b:?\s*|^(?:command|cmd|the following|this|following):?\s+/i;
const REPORT_TAIL =
  /[,;]?\s+(?:and|then|and then|so (?:that )?(?:i|we) can|to|so)\s+(?:please\s+)?(?:show|tell|give|let|report|print|paste|see|check|display|return|quote|share|send|make sure)\b(?:\s+(?:me|us|back|if|whether|what|how|that|it|the|i|we|everything|all|to|know|see|look)\b).*$/i;
const TERMINAL_TAIL =
  /[,;]?\s+(?:in|into|on|from|at|using|via) (?:the|a|my) (?:terminal|shell|console|command line|command prompt)$/i;
/** When or whether it should run: the engine asks, this only keeps it out of the command. */
const CONDITION_TAIL =
  /[,;]?\s+(?:-+\s*)?(?:every|if|unless|until|when|whenever|tomorrow|tonight|later|after|before|once|as soon as|or not|just kidding|never mind|scratch that|no wait|actually no|but (?:do not|don't|only))(?=\s|$)[^`"']*$/i;
const POLITE_TAIL =
  /\s+(?:(?:pls|plz|please|thx|thanks|ty)(?:\s+(?:n|and|&)\s+(?:pls|thx|thanks|ty|thank you))*|again|for me|for us|once more|one more time|another time|a (?:go|try|whirl|spin|shot))$/i;
/** Talk after a command: why it should run, or thanks. No shell word stands in it. */
const TALK_TAIL =
  /(?:[.,;!–—]+|\s-+|\s(?:pls|plz|please))\s+(?!(?:he|she|they|someone|somebody|everyone) (?:said|says|told|wrote|asked)\b)(?:the|my|our|your|i|i['’]?m|i['’]?ll|i['’]?d|we|we['’]?re|it|its|it['’]s|this|that|there|they|he|she|someone|somebody|everyone|otherwise|something|nothing|everything|hurry|no rush|not sure|need|because|cos|cuz|since|thanks|thank|cheers|ok|okay|just|so)\s[^`"'|&;<>$=]*$|\s+(?:because|cos|cuz|since)\s+(?:the|my|our|i|we|it|there|that|this|he|she|they|someone)\b[^`"|&;<>$=]*$|\s+so\s+(?:that\s+)?(?:i|we)\s+(?:can|could|may|know|have)\b[^`"'|&;<>$=]*$|\s+and\s+(?:thanks|thank you|thx|cheers|good luck|have a nice|enjoy)\b[^`"'|&;<>$=]*$/i;
const BACKGROUND = /[,;]?\s+(?:in (?:the )?background|as a background (?:job|process|task)|in bg|detached)$/i;
const BACKGROUND_FIRST = /^(?:in (?:the )?background|as a background (?:job|process|task))[:,]?\s+/i;
const TIMEOUT =
  /[,;]?\s+(?:(?:with|using|and) (?:an? )?(?:(?:timeout|time-out|time out|time limit|limit) (?:of |set to )?(\d+) ?(s|sec|secs|seconds?|m|min|mins|minutes?|h|hours?)?|(\d+)[ -]?(s|sec|secs|seconds?|m|min|mins|minutes?)[ -](?:timeout|time-out|time out|time limit|limit))|for (?:at most|up to|no more than|max(?:imum)?) (\d+) ?(s|sec|secs|seconds?|m|min|mins|minutes?)|timeout[ =:]?(\d+) ?(s|sec|secs|seconds?|m|min|mins|minutes?)?)$/i;
const WORKDIR =
  /[,;]?\s+(?:in|inside|from|within|under)\s+(?:the\s+|my\s+|our\s+)?(?:(?:folder|directory|dir|subfolder|subdirectory)\s+)?[`"']?([\w@.~+-]+(?:\/[\w@.~+-]*)*)[`"']?(\s+(?:folder|directory|dir|subfolder|subdirectory|repo|project|package))?$/i;
const WORKDIR_FIRST =
  /^(?:in|inside|from|within)\s+(?:the\s+)?(?:(?:folder|directory|dir)\s+)?([\w@.~+/-]+)(?:\s+(?:folder|directory|dir))?\s*[,:]\s+/i;
const BY_MEANS = /^(.*?)\s+(?:with|using|via|by running|by means of|through|by using|by calling|by typing)\s+(.+)$/i;
/** Folders that a command is often run in; any other needs a slash or the word folder. */
const PROJECT_FOLDER =
  /^(?:src|tests?|docs?|lib|apps?|packages|scripts|server|client|web|api|backend|frontend|examples?|tools)$/i;
const PROSE = new Set(
  'the me my your us is are was it that sure please of about you we they he she a an his her their our because so very maybe again this these those who what why how when where were will would should could errands away'.split(
    ' ',
  ),
);
export function readCommand(text: string): SpokenCommand {
  const extras: { -readonly [Key in keyof SpokenCommand]?: SpokenCommand[Key] } = {};
  let words = text.trim();
  for (let before = ''; before !== words; ) {
    before = words;
    words = takeExtras(words, extras);
  }
  const found = commandIn(words);
  return { ...extras, ...found };
}

type Extras = { -readonly [Key in keyof SpokenCommand]?: SpokenCommand[Key] };

type Taker = (found: RegExpExecArray, extras: Extras) => boolean;

const TAKERS: readonly (readonly [pattern: RegExp, take: Taker])[] = [
  [
    POLITE_TAIL,
    (found) => !/^(?:echo|printf|git commit)\b/.test(found.input) && !openQuote(found.input.slice(0, found.index)),
  ],
  [REPORT_TAIL, (found) => found.index > 0],
  [
    TALK_TAIL,
    (found) =>
      found.index > 0 &&
      !/^(?:echo|printf|git commit)\b/.test(found.input) &&
      !openQuote(found.input.slice(0, found.index)),
  ],
  [CONDITION_TAIL, (found) => found.index > 0],
  [TERMINAL_TAIL, (found) => found.index > 0],
  [BACKGROUND, takeBackground],
  [BACKGROUND_FIRST, takeBackground],
  [
    TIMEOUT,
    (found, extras) => {
      extras.timeout = seconds(found);
      return true;
    },
  ],
  [WORKDIR_FIRST, (found, extras) => takeFolder(found[1] ?? '', true, extras)],
  [WORKDIR, takeLastFolder],
];

/** Takes what is said about the command from its ends. */
function takeExtras(words: string, extras: Extras): string {
  for (const [pattern, take] of TAKERS) {
    const found = pattern.exec(words);
    if (found !== null && take(found, extras)) return cutOut(words, found);
  }
  return words;
}

function cutOut(words: string, found: RegExpExecArray): string {
  return (words.slice(0, found.index) + words.slice(found.index + found[0].length)).trim();
}

function takeBackground(_found: RegExpExecArray, extras: Extras): boolean {
  extras.background = true;
  return true;
}

function takeLastFolder(found: RegExpExecArray, extras: Extras): boolean {
  if (openQuote(found.input.slice(0, found.index))) return false;
  const named = found[2] !== undefined || /\b(?:folder|directory|dir)\s/i.test(found[0]);
  return takeFolder(found[1] ?? '', named, extras);
}

function takeFolder(folder: string, named: boolean, extras: Extras): boolean {
  if (extras.workdir !== undefined || (!named && !folder.includes('/') && !PROJECT_FOLDER.test(folder))) return false;
  extras.workdir = folder;
  return true;
}

function openQuote(text: string): boolean {
  return ['"', "'", '`'].some((mark) => (text.split(mark).length - 1) % 2 === 1);
}

function seconds(found: RegExpExecArray): number {
  const amount = Number(found[1] ?? found[3] ?? found[5] ?? found[7]);
  const unit = (found[2] ?? found[4] ?? found[6] ?? found[8] ?? 's').toLowerCase();
  if (unit.startsWith('h')) return amount * 3600;
  return unit.startsWith('m') ? amount * 60 : amount;
}

function commandIn(words: string): { readonly command: string; readonly certainty: number } {
  const fenced = /```\w*\s*\n?([^`]+?)\n?```/.exec(words);
  if (fenced?.[1] !== undefined)
    return { command: fenced[1].trim(), certainty: fenced[1].trim().includes('\n') ? 0.5 : 0.97 };
  const marked = /^(?:[^`]*\s)?`([^`]+)`(?:\s[^`]*)?$/s.exec(words) ?? /^```\w*\n?([^`]+?)\n?```$/s.exec(words);
  if (marked?.[1] !== undefined) return { command: marked[1].trim(), certainty: aroundMark(words) };
  const quoted = /^(?:[\w ,]*[\s:])?(["'“])(.+)(["'”])$/s.exec(words);
  const lead = words.slice(0, words.search(/["'“]/)).trim();
  if (
    quoted?.[2] !== undefined &&
    (lead === '' || /^(?:(?:the|this|following|command|shell|cmd|line)[ :]*)+$/i.test(lead)) &&
    !/["“”]/.test(quoted[2])
  )
    return { command: quoted[2].trim(), certainty: certaintyOf(quoted[2].trim(), 0.95) };
  const bare = words.replace(NOUN_LEAD, '').trim();
  const means = BY_MEANS.exec(bare);
  if (means?.[2] !== undefined && !startsWithProgram(bare) && looksRunnable(means[2])) return commandIn(means[2]);
  return { command: bare, certainty: certaintyOf(bare, 0.5) };
}

const ABOUT_IT =
  /`\s+(?:is|was|are|were|does|did|has|fails?|failed|looks?|means?|seems?|sucks|rocks|always|never|used|takes?|works?)\b/i;

/** `the tests with `npm test`` is sure; a sentence that only mentions a command is not. */
function aroundMark(words: string): number {
  if (ABOUT_IT.test(words)) return 0.3;
  const around = words
    .replace(/`[^`]*`/g, ' ')
    .split(/\s+/)
    .filter((word) => word !== '');
  return around.length <= 8 ? 0.97 : 0.5;
}

function startsWithProgram(text: string): boolean {
  const [head = ''] = text.split(/\s+/);
  return isProgram(head) || head.includes('/');
}

function looksRunnable(text: string): boolean {
  return certaintyOf(text, 0.5) >= 0.6;
}

/** Programs that need another one after them, or that only English puts before a plain word. */
const PREFIX = /^(?:time|watch|nice|last|who|top|free|fly|snap)$/;

/** `time flies`, `make the best of it`: more likely English than a command. */
function isSpoken(head: string, rest: readonly string[]): boolean {
  if (PREFIX.test(head) && rest.length > 0 && !isProgram(rest[0] ?? '')) return true;
  return isWordyProgram(head) && rest.length > 3;
}

function certaintyOf(command: string, unknown: number): number {
  const [head = '', ...rest] = command.replace(/^(?:\w+=\S+\s+)+/, '').split(/\s+/);
  if (command === '' || PROSE.has(head.toLowerCase())) return 0.2;
  const shelly = /[|&;<>$=*]|(^|\s)-{1,2}\w|\//.test(command);
  const doubt = proseDoubt(command, head, shelly);
  if (doubt !== undefined) return doubt;
  if (/^(\.{0,2}|~)\/[\w./-]+$|^[\w-]+\.(sh|py|js|ts|rb|pl)$/.test(head)) return 0.95;
  if (isProgram(head)) return !shelly && isSpoken(head, rest) ? 0.5 : 0.97;
  const plain = rest.filter((word) => /^[a-z]+$/i.test(word)).length;
  return shelly && plain < 2 && /^[\w.-]+$/.test(head) ? 0.9 : unknownHead(head, rest, unknown);
}

/** `… and then run …`: two commands, said as one. */
const SECOND_ORDER =
  /(?:^|\s)(?:and|then|and then|after that|afterwards)\s+(?:also |please |then )*(?:run|rerun|execute|exec|start|launch|show|open|read|list|find|search)\s/i;

/** Words of a sentence among the arguments: a command that is only talked about. */
function proseDoubt(command: string, head: string, shelly: boolean): number | undefined {
  const outside = command
    .replace(/"[^"]*"|'[^']*'/g, ' ')
    .split(/\s+/)
    .slice(1);
  const prose = outside.filter((word) => word === 'I' || PROSE.has(word.toLowerCase().replace(/[,.!?]$/, ''))).length;
  if (prose > 1 || (prose > 0 && !shelly)) return isProgram(head) && !isWordyProgram(head) ? 0.5 : 0.3;
  if (!shelly && head !== 'echo' && /,\s+[a-z]+\s+[a-z]/i.test(outside.join(' '))) return 0.5;
  if (SECOND_ORDER.test(outside.join(' '))) return 0.5;
  const joined = /\s(and|then|but|or)\s/i.test(` ${outside.join(' ')} `);
  return joined && !shelly && head !== 'echo' ? 0.5 : undefined;
}

/** A word that is no program that we know: it may be one, so the owner is asked. */
function unknownHead(head: string, rest: readonly string[], unknown: number): number {
  return /^[a-z][\w.-]*$/.test(head) && rest.length <= 3 ? unknown : 0.3;
}
