// Owns the suffix-stripping algorithm of M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980: English word forms of one
// stem get one spelling. Pure; leaves other scripts as they are. Invariant: equal words give equal stems, and nothing ever throws.

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

/** Stem of a lower-case word. Words with anything but a–z come back unchanged. */
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
