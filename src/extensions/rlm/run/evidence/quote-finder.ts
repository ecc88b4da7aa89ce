// Owns where a quotation stands in a chunk: word for word, white space folded, at the edges of words and numbers. Knows no fact.
// `5` does not stand in `15`, `3.5` or `-5`; case counts. Invariant: linear in the text; offsets are of the text as it is.

export interface QuotePlace {
  /** UTF-16 offsets into the text, half-open. */
  readonly start: number;
  readonly end: number;
}

export interface QuoteFinder {
  /** The first place; undefined: it stands nowhere. */
  find(quote: string): QuotePlace | undefined;
}

/** Places that stand inside a word are passed over, so many at most. */
const MOST_TRIES = 1_000;

export function quoteFinder(text: string): QuoteFinder {
  const { folded, offsets } = foldSpaces(text);
  return {
    find: (quote) => {
      const wanted = quote.trim().replace(/\s+/g, ' ');
      if (!/[\p{L}\p{N}]/u.test(wanted)) return undefined;
      let at = folded.indexOf(wanted);
      for (let tries = 0; at >= 0 && tries < MOST_TRIES; tries += 1) {
        if (standsFree(folded, at, wanted)) return placeOf(offsets, at, wanted.length);
        at = folded.indexOf(wanted, at + 1);
      }
      return undefined;
    },
  };
}

/** Each run of white space is one blank; `offsets[i]` is where the i-th unit stands in the text. */
function foldSpaces(text: string): { readonly folded: string; readonly offsets: Uint32Array } {
  const offsets = new Uint32Array(text.length);
  const parts: string[] = [];
  let length = 0;
  for (const { 0: run, index } of text.matchAll(/\s+|\S+/g)) {
    const isBlank = /^\s/.test(run);
    parts.push(isBlank ? ' ' : run);
    for (let at = 0; at < (isBlank ? 1 : run.length); at += 1) offsets[length + at] = index + at;
    length += isBlank ? 1 : run.length;
  }
  return { folded: parts.join(''), offsets };
}

function placeOf(offsets: Uint32Array, at: number, length: number): QuotePlace {
  return { start: offsets[at] ?? 0, end: (offsets[at + length - 1] ?? 0) + 1 };
}

/** Letters and digits, but for scripts that part no words by blanks. */
const WORD =
  /^[[\p{L}\p{N}\p{M}_]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]]$/v;

function standsFree(text: string, at: number, quote: string): boolean {
  const end = at + quote.length;
  if (isWord(codeAt(quote, 0)) && isWord(codeBefore(text, at))) return false;
  if (isWord(codeBefore(quote, quote.length)) && isWord(codeAt(text, end))) return false;
  const before = text.slice(Math.max(0, at - 2), at);
  if (/^\d/.test(quote) && (/\d[.,]$/.test(before) || /(?:^|[\s(])[-−]$/.test(before))) return false;
  return !(/\d$/.test(quote) && /^[.,]\d/.test(text.slice(end, end + 2)));
}

function isWord(character: string): boolean {
  return character !== '' && WORD.test(character);
}

function codeAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}

function codeBefore(text: string, at: number): string {
  const low = text.charCodeAt(at - 1);
  const isPair = low >= 0xdc00 && low <= 0xdfff;
  return at === 0 ? '' : codeAt(text, isPair ? Math.max(0, at - 2) : at - 1);
}
