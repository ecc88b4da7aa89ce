// Owns cutting any text into the words that are indexed and asked for. Scripts that write no spaces (Han, Kana, Thai, …) and Hangul give
// overlapping pairs of characters; camelCase names give the whole and its parts; emoji count as words. Knows no stems.
// Invariant: total on every string, linear in it, and the same for a text and for a question.

const DENSE = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const TOKEN =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー]+|(?:(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}])[\p{L}\p{N}\p{M}])+|\p{Extended_Pictographic}/gu;
const SIMPLE = /[A-Za-z0-9]+/g;
const ASCII = /^[\x20-\x7e\s]*$/;
const CAMEL = /[a-z][A-Z]|[A-Z]{2}[a-z]/;

/** Longest word that is kept whole: hashes and base64 beyond it say nothing. */
const LONGEST = 64;

/** Lower-case words in order of appearance. */
export function splitWords(text: string): string[] {
  const plain = withoutApostrophes(text);
  if (ASCII.test(plain)) return splitPlain(plain);
  const words: string[] = [];
  const folded = plain
    .normalize('NFKD')
    .replace(/\p{Mn}+/gu, keepVowelSigns)
    .normalize('NFC');
  for (const [token] of folded.matchAll(TOKEN)) {
    if (DENSE.test(token)) addPairs(words, token);
    else addWord(words, token);
  }
  return words;
}

function splitPlain(text: string): string[] {
  const words: string[] = [];
  for (const token of text.match(SIMPLE) ?? []) addWord(words, token);
  return words;
}

/** `Anna's` is Anna, `don't` is dont: the same for ’ and '. */
function withoutApostrophes(text: string): string {
  if (!text.includes("'") && !text.includes('’')) return text;
  return text.replace(/['’]s(?![\p{L}\p{N}])/gu, '').replace(/['’]/g, '');
}

/** Latin, Greek and Cyrillic accents fold away; marks of scripts where they are vowels stay. */
function keepVowelSigns(marks: string): string {
  return /^[\u0300-\u036f]+$/.test(marks) ? '' : marks;
}

function addWord(words: string[], token: string): void {
  const word = token.length > LONGEST ? token.slice(0, LONGEST) : token;
  words.push(word.toLowerCase());
  if (!CAMEL.test(word)) return;
  for (const part of word.split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)) words.push(part.toLowerCase());
}

function addPairs(words: string[], run: string): void {
  const characters = [...run];
  if (characters.length === 1) words.push(run);
  for (let at = 0; at + 1 < characters.length; at += 1) words.push(`${characters[at]}${characters[at + 1]}`);
}
