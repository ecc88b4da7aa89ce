// Owns the one tokenizer and the one stemmer: a text as the words that are indexed and asked for, a word as the spelling that stands for all
// its forms. Scripts that write no spaces (Han, Kana, Thai, …) and Hangul give overlapping pairs of characters; camelCase names give the whole
// and its parts; emoji count as words. Invariants: total on every string, linear in it, and the same for a text and for a question.
import { IRREGULAR_FORMS, STOP_WORDS } from './words.rules.ts';

/** Scripts whose words are not told by blanks alone. */
export const DENSE =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
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
  const words: string[] = [];
  if (ASCII.test(plain)) {
    for (const token of plain.match(SIMPLE) ?? []) addWord(words, token);
    return words;
  }
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

const CONSONANT = '[^aeiou]';
const VOWEL = '[aeiouy]';
const CONSONANTS = `${CONSONANT}[^aeiouy]*`;
const VOWELS = `${VOWEL}[aeiou]*`;

const measureOver0 = new RegExp(`^(${CONSONANTS})?${VOWELS}${CONSONANTS}`);
const measureIs1 = new RegExp(`^(${CONSONANTS})?${VOWELS}${CONSONANTS}(${VOWELS})?$`);
const measureOver1 = new RegExp(`^(${CONSONANTS})?${VOWELS}${CONSONANTS}${VOWELS}${CONSONANTS}`);
const hasVowel = new RegExp(`^(${CONSONANTS})?${VOWEL}`);
const endsDouble = /([^aeiouylsz])\1$/;
const endsShort = new RegExp(`^${CONSONANTS}${VOWEL}[^aeiouwxy]$`);

const SECOND: Readonly<Record<string, string>> = {
  ational: 'ate',
  tional: 'tion',
  enci: 'ence',
  anci: 'ance',
  izer: 'ize',
  bli: 'ble',
  alli: 'al',
  entli: 'ent',
  eli: 'e',
  ousli: 'ous',
  ization: 'ize',
  ation: 'ate',
  ator: 'ate',
  alism: 'al',
  iveness: 'ive',
  fulness: 'ful',
  ousness: 'ous',
  aliti: 'al',
  iviti: 'ive',
  biliti: 'ble',
  logi: 'log',
};
const THIRD: Readonly<Record<string, string>> = {
  icate: 'ic',
  ative: '',
  alize: 'al',
  iciti: 'ic',
  ical: 'ic',
  ful: '',
  ness: '',
};

const secondSuffix = new RegExp(`^(.+?)(${Object.keys(SECOND).join('|')})$`);
const thirdSuffix = new RegExp(`^(.+?)(${Object.keys(THIRD).join('|')})$`);
const fourthSuffix = /^(.+?)(al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|ou|ism|ate|iti|ous|ive|ize)$/;

/**
 * Stem of a lower-case word after M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980. Words with anything but a–z come back
 * unchanged.
 */
export function porterStem(word: string): string {
  if (word.length < 3 || word.length > 40 || !/^[a-z]+$/.test(word)) return word;
  const guarded = word.startsWith('y') ? `Y${word.slice(1)}` : word;
  const stem = dropFinalE(fourth(third(second(finalY(pastAndGerund(plural(guarded)))))));
  return stem.startsWith('Y') ? `y${stem.slice(1)}` : stem;
}

function plural(word: string): string {
  if (/(ss|i)es$/.test(word)) return word.slice(0, -2);
  return /[^s]s$/.test(word) ? word.slice(0, -1) : word;
}

function pastAndGerund(word: string): string {
  if (word.endsWith('eed')) return measureOver0.test(word.slice(0, -3)) ? word.slice(0, -1) : word;
  const match = /^(.+?)(ed|ing)$/.exec(word);
  const stem = match?.[1];
  if (stem === undefined || !hasVowel.test(stem)) return word;
  if (/(at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (endsDouble.test(stem)) return stem.slice(0, -1);
  return endsShort.test(stem) ? `${stem}e` : stem;
}

function finalY(word: string): string {
  return word.endsWith('y') && hasVowel.test(word.slice(0, -1)) ? `${word.slice(0, -1)}i` : word;
}

function second(word: string): string {
  const [, stem = '', suffix = ''] = secondSuffix.exec(word) ?? [];
  return measureOver0.test(stem) ? stem + (SECOND[suffix] ?? suffix) : word;
}

function third(word: string): string {
  const [, stem = '', suffix = ''] = thirdSuffix.exec(word) ?? [];
  return measureOver0.test(stem) ? stem + (THIRD[suffix] ?? suffix) : word;
}

function fourth(word: string): string {
  const stem = fourthSuffix.exec(word)?.[1];
  if (stem !== undefined) return measureOver1.test(stem) ? stem : word;
  const beforeIon = /^(.+?[st])ion$/.exec(word)?.[1];
  return beforeIon !== undefined && measureOver1.test(beforeIon) ? beforeIon : word;
}

function dropFinalE(word: string): string {
  let stem = word;
  if (word.endsWith('e')) {
    const shorter = word.slice(0, -1);
    if (measureOver1.test(shorter) || (measureIs1.test(shorter) && !endsShort.test(shorter))) stem = shorter;
  }
  return stem.endsWith('ll') && measureOver1.test(stem) ? stem.slice(0, -1) : stem;
}

/** Stems of words seen so far; emptied when it grows past any vocabulary. */
const stems = new Map<string, string>();
let lemmas: ReadonlyMap<string, string> | undefined;
const LARGEST = 200_000;

/** Stem of one lower-case word: irregular forms first, then Porter's rules. */
export function stemWord(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  lemmas ??= new Map(IRREGULAR_FORMS.split(';').flatMap(formsOf));
  const stem = porterStem(lemmas.get(word) ?? word);
  if (stems.size >= LARGEST) stems.clear();
  stems.set(word, stem);
  return stem;
}

/** Each form of a group, with the lemma that begins it. */
function formsOf(group: string): readonly (readonly [string, string])[] {
  const [lemma = '', ...forms] = group.trim().split(/\s+/);
  return forms.map((form) => [form, lemma]);
}

let stopStems: ReadonlySet<string> | undefined;

/** Does the word say nothing about what a text is about? */
export function isStopStem(stem: string): boolean {
  stopStems ??= new Set(STOP_WORDS.trim().split(/\s+/).map(stemWord));
  return stopStems.has(stem);
}

/** Stems of one text at most; the middle of longer ones is left out. */
const MOST_STEMS = 20_000;

/** What of a text is worth indexing or comparing: its stems in order, stop words left out. */
export function contentStems(text: string): string[] {
  const found: string[] = [];
  for (const word of splitWords(text)) {
    const stem = stemWord(word);
    if (!isStopStem(stem)) found.push(stem);
  }
  if (found.length <= MOST_STEMS) return found;
  return [...found.slice(0, MOST_STEMS * 0.75), ...found.slice(-MOST_STEMS * 0.25)];
}
