// Owns the cutting of one line into tokens that keep their place in the text.
// Knows no command and no rule. Invariant: `text.slice(start, end)` is what was typed; linear in the text; never throws.

export type TokenKind = 'word' | 'path' | 'glob' | 'quoted' | 'code' | 'number' | 'range' | 'flag' | 'punctuation';

export interface Token {
  readonly kind: TokenKind;
  /** Lower case without quotes; what forms compare. */
  readonly word: string;
  /** As typed, without quotes or back-ticks. */
  readonly raw: string;
  readonly start: number;
  readonly end: number;
}

const CLOSING: Readonly<Record<string, string>> = {
  '"': '"',
  '“': '”',
  '”': '”',
  '„': '“',
  '«': '»',
  '‘': '’',
  "'": "'",
  '`': '`',
};
const TRAILING = /[.,;:!?)\]}>…'"’”]+$/;
const LEADING = /^[([{<¿¡]+/;
/** Abbreviations whose full stop ends no sentence. */
export const ABBREVIATION = /^(?:dr|mr|mrs|ms|prof|st|jr|sr|no|vs|approx|dept|inc|ltd)$/i;
const EXTENSION = /^[\p{L}\p{N}_@+-][\p{L}\p{N}_@+. -]*\.[a-z][a-z0-9]{0,9}$/iu;
const BARE_FILE =
  /^(readme|license|licence|makefile|dockerfile|changelog|gemfile|procfile|jenkinsfile|rakefile|notice|authors|codeowners|vagrantfile)$/i;
const NOT_A_FILE =
  /^(e\.g|i\.e|etc|vs|a\.m|p\.m|u\.s(\.a)?|ph\.d|no|node\.js|next\.js|vue\.js|react\.js|three\.js|d3\.js|asp\.net|\.net|\d+\.\d+[a-z]*|console\.\w+|process\.\w+|math\.\w+|this\.\w+|self\.\w+|window\.\w+|document\.\w+)$/i;
const SLASHED_WORDS =
  /^(and\/or|either\/or|yes\/no|n\/a|w\/o?|he\/she|she\/he|him\/her|his\/her|on\/off|true\/false|a\/b|i\/o|tcp\/ip|ci\/cd|24\/7)$/i;

export function tokenize(text: string, contractions: Readonly<Record<string, string>> = {}): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = nextInk(text, 0); at < text.length; at = nextInk(text, at)) {
    const quoted = quotedTokens(text, at);
    const found = quoted.length > 0 ? quoted : chunkTokens(text, at, chunkEnd(text, at), contractions);
    tokens.push(...found);
    at = Math.max(at + 1, ...found.map((token) => token.end));
  }
  return tokens;
}

function nextInk(text: string, at: number): number {
  let place = at;
  while (place < text.length && /\s/.test(text[place] ?? '')) place += 1;
  return place;
}

function chunkEnd(text: string, at: number): number {
  let end = at + 1;
  while (end < text.length && !/[\s`]/.test(text[end] ?? '')) end += 1;
  return end;
}

/** A quotation, and the punctuation that sticks to its end. */
function quotedTokens(text: string, at: number): readonly Token[] {
  const found = quotedEnd(text, at);
  if (found === undefined) return [];
  const token = quotedToken(text, at, found);
  const tail = /^[.,;:!?)\]…]+(?=\s|$)/.exec(text.slice(found.end, found.end + 8));
  return tail === null ? [token] : [token, punctuation(text, found.end, found.end + tail[0].length)];
}

/** A quote opens at a word's start and closes before a word's end, so that apostrophes stay letters. */
function quotedEnd(
  text: string,
  at: number,
): { readonly inner: number; readonly stop: number; readonly end: number } | undefined {
  const fence = /^```[a-z]*\s*\n?([\s\S]*?)```/.exec(text.slice(at, at + 4000));
  if (fence?.[1] !== undefined) {
    const inner = at + fence[0].indexOf(fence[1], 3);
    return { inner, stop: inner + fence[1].length, end: at + fence[0].length };
  }
  const close = CLOSING[text[at] ?? ''];
  if (close === undefined) return undefined;
  for (let stop = text.indexOf(close, at + 1); stop > at + 1; stop = text.indexOf(close, stop + 1)) {
    if (close === '`' || !/[\p{L}\p{N}]/u.test(text[stop + 1] ?? ' ')) return { inner: at + 1, stop, end: stop + 1 };
  }
  return undefined;
}

function quotedToken(
  text: string,
  start: number,
  found: { readonly inner: number; readonly stop: number; readonly end: number },
): Token {
  const raw = text.slice(found.inner, found.stop).trim();
  return { kind: text[start] === '`' ? 'code' : 'quoted', word: raw.toLowerCase(), raw, start, end: found.end };
}

function chunkTokens(
  text: string,
  from: number,
  to: number,
  contractions: Readonly<Record<string, string>>,
): readonly Token[] {
  const tokens: Token[] = [];
  let start = from;
  const lead = LEADING.exec(text.slice(from, to));
  if (lead !== null && lead[0].length < to - from) {
    tokens.push(punctuation(text, from, from + lead[0].length));
    start += lead[0].length;
  }
  const chunk = text.slice(start, to);
  const tail = kindOf(chunk) === 'glob' ? /[,;:?!]+$/.exec(chunk) : TRAILING.exec(chunk);
  const cut = tail === null || chunk.startsWith('\\') || tail.index === 0 || isDots(chunk) ? to : start + tail.index;
  tokens.push(...wordTokens(text, start, cut, contractions));
  if (cut < to) tokens.push(punctuation(text, cut, to));
  return tokens;
}

function isDots(chunk: string): boolean {
  return /^\.{1,2}$|^\.{0,2}\/\.{1,3}$|\/\.{2,3}$/.test(chunk);
}

function wordTokens(
  text: string,
  start: number,
  end: number,
  contractions: Readonly<Record<string, string>>,
): readonly Token[] {
  const raw = text.slice(start, end);
  const word = raw.toLowerCase().replaceAll('’', "'");
  const spelling = [word, word.replaceAll("'", '')].find((form) => Object.hasOwn(contractions, form));
  const expanded = spelling === undefined ? undefined : contractions[spelling];
  if (expanded !== undefined)
    return expanded.split(' ').map((part) => ({ kind: 'word', word: part, raw: part, start, end }));
  return placedPath(raw, start, end) ?? [{ kind: kindOf(raw), word, raw, start, end }];
}

/** `src/a.ts:88` and `src/a.ts:10-20` are a path and its line. */
function placedPath(raw: string, start: number, end: number): readonly Token[] | undefined {
  const [, path = '', place = ''] =
    /^([^:]+\.\w+|[^:]+\/[^:]+):L?(\d+(?:(?:-|–|\.\.)L?\d+)?)(?::\d+)?$/.exec(raw) ?? [];
  if (place === '' || !isPath(path)) return undefined;
  const middle = start + path.length;
  const kind = /^\d+$/.test(place) ? 'number' : 'range';
  return [
    { kind: 'path', word: path.toLowerCase(), raw: path, start, end: middle },
    { kind: 'word', word: kind === 'number' ? 'line' : 'lines', raw: 'line', start: middle, end },
    { kind, word: place, raw: place, start: middle + 1, end },
  ];
}

function punctuation(text: string, start: number, end: number): Token {
  const raw = text.slice(start, end);
  return { kind: 'punctuation', word: raw, raw, start, end };
}

function kindOf(raw: string): TokenKind {
  if (/^[^\p{L}\p{N}*.~/\\$_]+$/u.test(raw)) return 'punctuation';
  if (/^\d+([.,]\d+)?$/.test(raw)) return 'number';
  if (/^#?l?\d+(-|–|\.\.|:)l?\d+$/i.test(raw)) return 'range';
  if (/^--?[a-z]/i.test(raw)) return 'flag';
  if (isGlob(raw)) return 'glob';
  return isPath(raw) ? 'path' : 'word';
}

function isGlob(raw: string): boolean {
  if (/^\*\*?[\p{L}\s]+\*\*?$/u.test(raw)) return false;
  return /\*/.test(raw) && /^[\p{L}\p{N}_.@*?{}[\],/~+-]+$/u.test(raw) && /[\w.]/.test(raw);
}

/** Does one word look like the name of a file or folder? */
export function isPath(raw: string): boolean {
  if (raw === '.' || raw === '..' || raw === '~' || raw === '/') return true;
  if (/^[a-z][a-z+.-]*:\/\//i.test(raw) || raw.includes('@') || SLASHED_WORDS.test(raw) || NOT_A_FILE.test(raw))
    return false;
  if (/^(\.{0,2}|~)\/\S+/.test(raw))
    return !/^\/\/|^\/\w+$/.test(raw) || /^\/(tmp|etc|var|home|usr|opt|srv|root|mnt)$/.test(raw);
  if (/^[\p{L}\p{N}_.@+~-]+(\/[\p{L}\p{N}_.@+~-]*)+$/u.test(raw)) return !/^\d+\/\d+(\/\d+)?$/.test(raw);
  return EXTENSION.test(raw) || BARE_FILE.test(raw) || /^\.[a-z][\w.-]+$/i.test(raw);
}
