// Reads a line of a unit by the rules of systemd.syntax(7) and systemd.service(5), apart from the code that writes it: words between
// blanks, quotes, C escapes, `%%`, and `$$` in every word but the program. What systemd would refuse throws.

export function readExecStart(line: string): readonly string[] {
  const words = splitWords(line).map((word) => noSpecifier(word));
  return words.map((word, i) => (i === 0 ? word : noVariable(word)));
}

export function readAssignment(line: string): string {
  const [word, ...more] = splitWords(line);
  if (word === undefined || more.length > 0) throw new Error('one assignment was expected');
  return noSpecifier(word);
}

function splitWords(line: string): readonly string[] {
  if (/[\n\0]/.test(line) || /\\$/.test(line)) throw new Error('the line does not end here');
  const reading: Reading = { words: [], quote: '' };
  for (let at = 0; at < line.length; ) at += readPiece(reading, line.slice(at));
  if (reading.quote !== '') throw new Error('a quote is left open');
  endWord(reading);
  return reading.words;
}

interface Reading {
  readonly words: string[];
  /** Bytes of the word that is being read. */
  word?: number[] | undefined;
  quote: string;
}

/** Gives how many characters were taken. */
function readPiece(reading: Reading, rest: string): number {
  if (/^\\/.test(rest)) {
    const { bytes, length } = readEscape(rest);
    reading.word = [...(reading.word ?? []), ...bytes];
    return length;
  }
  const character = String.fromCodePoint(rest.codePointAt(0) ?? 0);
  if (reading.quote === '' && /[ \t\r]/.test(character)) endWord(reading);
  else addCharacter(reading, character, rest);
  return character.length;
}

function addCharacter(reading: Reading, character: string, rest: string): void {
  if (reading.word === undefined && /^;(?:[ \t\r]|$)/.test(rest)) throw new Error('a semicolon begins another command');
  reading.word ??= [];
  const isMark = character === '"' || character === "'";
  if (isMark && reading.quote === '') reading.quote = character;
  else if (character === reading.quote) reading.quote = '';
  else reading.word.push(...Buffer.from(character, 'utf8'));
}

function endWord(reading: Reading): void {
  if (reading.word !== undefined) reading.words.push(decoded(reading.word));
  reading.word = undefined;
}

function decoded(bytes: readonly number[]): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
}

const LETTERS: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11, s: 32 };

function readEscape(text: string): { readonly bytes: readonly number[]; readonly length: number } {
  const hex = /^\\x([0-9a-f]{2})/.exec(text)?.[1];
  if (hex !== undefined && hex !== '00') return { bytes: [Number.parseInt(hex, 16)], length: 4 };
  const character = text.charAt(1);
  if (/["'\\]/.test(character)) return { bytes: [character.charCodeAt(0)], length: 2 };
  const known = LETTERS[character];
  if (known === undefined) throw new Error(`no escape: ${text.slice(0, 4)}`);
  return { bytes: [known], length: 2 };
}

function noSpecifier(word: string): string {
  if (/%/.test(word.replaceAll('%%', ''))) throw new Error('a specifier');
  return word.replaceAll('%%', '%');
}

function noVariable(word: string): string {
  if (/\$/.test(word.replaceAll('$$', ''))) throw new Error('a variable');
  return word.replaceAll('$$', '$');
}
