// Owns the reading of text as a person or a model would understand it, whatever letters it was dressed in: width, look-alikes,
// invisible characters, spacing. Knows no rule. Invariant: linear; plain text comes out as itself in lower case.

/** Cyrillic and Greek letters that look like Latin ones; only applied where a word mixes them with Latin letters or is made of them alone. */
const LOOK_ALIKES: Readonly<Record<string, string>> = Object.fromEntries(
  [...'аaеeоoрpсcуyхxіiѕsјjԁdһhӏlкkмmтtвbнhαaοoεeιiρpτtυuνvκkηn'.matchAll(/../gu)].map(([pair]) => [...pair]),
);

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Lower case, NFKC, invisible characters gone, look-alikes as Latin, straight quotes, every run of blanks one space. */
export function foldText(text: string): string {
  return text
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .toLowerCase()
    .replace(/[\u2018\u2019\u02BC`´]/g, "'")
    .replace(/[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Latin}]+/gu, latinWord)
    .replace(/\s+/gu, ' ')
    .trim();
}

function latinWord(word: string): string {
  if (/^[\p{Script=Latin}]+$/u.test(word)) return word;
  const latin = [...word].map((letter) => LOOK_ALIKES[letter] ?? letter).join('');
  return /^[a-z]+$/.test(latin) ? latin : word;
}

/** Only the letters, digits and signs read as letters, `l` as `i`: finds words that were spaced out or written in digits. */
export function squeezeText(folded: string): string {
  const digits: Readonly<Record<string, string>> = {
    0: 'o',
    1: 'i',
    3: 'e',
    4: 'a',
    5: 's',
    7: 't',
    '@': 'a',
    $: 's',
    '!': 'i',
  };
  return folded.replace(/[013457@$!l|]/g, (sign) => digits[sign] ?? 'i').replace(/[^\p{L}]+/gu, '');
}

/** Texts hidden in Base64 stretches, at most eight, only those that decode to readable characters. */
export function hiddenTexts(text: string): readonly string[] {
  const found: string[] = [];
  for (const [stretch] of text.matchAll(/[A-Za-z0-9+/_-]{24,4096}/g)) {
    const decoded = Buffer.from(stretch, 'base64').toString('utf8');
    if (/^[\t\n\r\x20-\x7E]+$/.test(decoded)) found.push(decoded);
    if (found.length === 8) break;
  }
  return found;
}
