// Owns the one fold: the form in which two texts are compared, named by what they are. Knows no meaning. Invariants: total and linear; texts
// of equal folds differ in nothing but what the fold names.
import { oneLine } from '../text.ts';
import { caseFold } from './code-points.ts';
import { withoutUnseen } from './unseen.ts';

const FOLDS = {
  /** Quotations: white space, case, the form of quotation marks and digits of other scripts do not count. */
  quote: (text: string) => oneLine(plainMarks(text.normalize('NFC')).toLowerCase()),
  /** The same words: white space and case do not count. */
  words: (text: string) => oneLine(text).toLowerCase(),
  /** Names: what looks the same is the same. */
  name: (text: string) => (ASCII.test(text) ? text.toLowerCase() : seen(seen(text).toUpperCase().toLowerCase())),
  /** What a reader or a program puts together: nothing unseen, forms of compatibility made one. */
  seen,
  /** A line as a person, a model or a shell understands it: look-alikes as Latin where the word becomes Latin by it. Blanks and signs stay. */
  looks: (text: string) => (ASCII.test(text) ? text.toLowerCase() : looks(text)),
  /** Facts, as the recorded scorer of recursion folds them (seed 003, notes 6.2). */
  scored: (text: string) => caseFold(text).replace(PYTHON_SPACES, ' ').replace(/^ | $/g, ''),
} as const;

export function foldText(text: string, how: keyof typeof FOLDS = 'quote'): string {
  return FOLDS[how](text);
}

const ASCII = /^\p{ASCII}*$/u;

/** Plain quotation marks, and digits of every script as 0 to 9. */
export function plainMarks(text: string): string {
  if (ASCII.test(text)) return text;
  return plainDigits(text)
    .replace(/[‘’‚‛′ʼ＇]/gu, "'")
    .replace(/[“”„‟″«»＂]/gu, '"');
}

const FOREIGN_DIGIT = /(?![0-9])\p{Nd}/gu;

/** Unicode keeps the ten digits of a script together, in order. */
function plainDigits(text: string): string {
  return text
    .replace(/(?<=\p{Nd})[\u066b\u066c](?=\p{Nd})/gu, (mark) => (mark === '\u066b' ? '.' : ','))
    .replace(FOREIGN_DIGIT, (digit) => {
      const code = digit.codePointAt(0) ?? 0;
      let zero = code;
      while (/^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
      return String((code - zero) % 10);
    });
}

function seen(text: string): string {
  return withoutUnseen(text.normalize('NFKC'));
}

/** Cyrillic, Greek and other letters, each before the Latin one that it looks like. */
const LOOK_ALIKES = 'аaеeоoрpсcуyхxіiѕsјjԁdһhӏlԛqԝwкkмmтtгrοoαaεeιiρpνvυuκkτtχxγyᴀaᴇeᴏoꜱsɑaɡgıiⅼlꓲi';

function looks(line: string): string {
  return seen(line)
    .toLowerCase()
    .replace(/[\u2018\u2019\u02BC´]/g, "'")
    .replace(/[\u201C\u201D]/g, '"')
    .replace(/[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Latin}]+/gu, latinWord);
}

function latinWord(word: string): string {
  const latin = likeLatin(word);
  return /[a-z]/.test(word) && /^[a-z]+$/.test(latin) ? latin : word;
}

/** Each letter as the Latin one that it looks like. */
export function likeLatin(word: string): string {
  const latin = (letter: string): string => {
    const at = LOOK_ALIKES.indexOf(letter);
    return (at % 2 === 0 && LOOK_ALIKES[at + 1]) || letter;
  };
  return Array.from(word, latin).join('');
}

/** White space as the original's language counts it: with the separators U+001C to U+001F and U+0085, without U+FEFF. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are white space there
const PYTHON_SPACES = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/g;
