// Owns the reading of a line as a person, a model or a shell would understand it: width, look-alikes, invisible characters, strings
// and words that were cut in pieces. Knows no rule. Invariant: linear; plain ASCII comes out as itself in lower case.
// (Skills are code as much as prose, so unlike memory's reading it keeps blanks, quotes and signs.)

const ASCII = /^[\t\n\r\x20-\x7E]*$/;

/** Cyrillic, Greek and other letters that look like Latin ones, by pairs. */
const LOOK_ALIKES: Readonly<Record<string, string>> = Object.fromEntries(
  [...'аaеeоoрpсcуyхxіiѕsјjԁdһhӏlԛqԝwкkмmтtгrοoαaεeιiρpνvυuκkτtχxγyᴀaᴇeᴏoꜱsɑaɡgıiⅼlꓲi'.matchAll(/../gu)].map(
    ([pair]) => [...pair],
  ),
);

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
const FOREIGN_WORD = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Latin}]+/gu;
const CYRILLIC_LOOK_ALIKE = /[аеорсухіѕјԁһӏԛԝ]/;

/** Lower case, NFKC, nothing invisible, look-alikes as Latin where the word becomes Latin by it, straight quotes. */
export function foldLine(line: string): string {
  if (ASCII.test(line)) return line.toLowerCase();
  return line
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .toLowerCase()
    .replace(/[\u2018\u2019\u02BC´]/g, "'")
    .replace(/[\u201C\u201D]/g, '"')
    .replace(FOREIGN_WORD, latinWord);
}

function latinWord(word: string): string {
  if (/^\p{Script=Latin}+$/u.test(word)) return word;
  const latin = [...word].map((letter) => LOOK_ALIKES[letter] ?? letter).join('');
  return /^[a-z]+$/.test(latin) && /[a-z]/.test(word) ? latin : word;
}

/** Words in which Latin letters are mixed with Cyrillic ones that look the same, and with nothing else. */
export function disguisedWords(line: string): readonly string[] {
  if (ASCII.test(line)) return [];
  const words = line.toLowerCase().match(/[\p{Script=Cyrillic}\p{Script=Latin}]{3,}/gu) ?? [];
  return words.filter((word) => {
    if (!/[a-z]{2}/.test(word) || !CYRILLIC_LOOK_ALIKE.test(word)) return false;
    return /^[a-z]+$/.test([...word].map((letter) => LOOK_ALIKES[letter] ?? letter).join(''));
  });
}

const GLUE = /(["'`])\s{0,3}(?:\+|\.\.?|&)\s{0,3}(["'`])/g;
const EMPTY_QUOTES = /(?<=[a-z])(?:''|"")(?=[a-z])/g;
const SHELL_ESCAPES = /(?<=[a-z])\\(?=[a-z])/g;
const FIELD_SEPARATOR = /\$\{?ifs\}?(?:\$\d)?/g;

/** The line with its pieces put together (`"cu" + "rl"`, `c''url`, `cat${IFS}x`), or undefined where there is nothing to join. */
export function joinedPieces(folded: string): string | undefined {
  if (!/["'`]\s{0,3}[+.&]|[a-z](?:''|"")[a-z]|[a-z]\\[a-z]|\$\{?ifs/.test(folded)) return undefined;
  const joined = folded
    .replace(GLUE, (whole: string, left: string, right: string) => (left === right ? '' : whole))
    .replace(EMPTY_QUOTES, '')
    .replace(SHELL_ESCAPES, '')
    .replace(FIELD_SEPARATOR, ' ');
  return joined === folded ? undefined : joined;
}
