// Puts the labelled corpus together: an ordinary skill (the carrier) with a passage planted in it. Encoded passages are written plain in
// the data, as `{{how:text}}`, and encoded here, so that the data can be read and holds no live payload.
import { readFileSync } from 'node:fs';

export interface LabelledSkill {
  readonly id: string;
  /** Class of the planted passage; `good` for ordinary ones. */
  readonly threat: string;
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

interface Row {
  readonly id: string;
  readonly threat?: string;
  /** Absent where the text is the whole skill. */
  readonly carrier?: string;
  /** Share of the carrier that stands before the passage. */
  readonly at?: number;
  readonly text: string;
  readonly files?: Readonly<Record<string, string>>;
}

const folder = new URL('../../../data/guard/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8');

const letters = (text: string, change: (letter: string) => string): string => [...text].map(change).join('');

const ENCODERS: Readonly<Record<string, (text: string) => string>> = {
  b64: (text) => Buffer.from(text).toString('base64'),
  b64u16: (text) => Buffer.from(text, 'utf16le').toString('base64'),
  hex: (text) => Buffer.from(text).toString('hex'),
  pct: (text) => letters(text, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  codes: (text) => [...text].map((letter) => letter.charCodeAt(0)).join(','),
  tags: (text) => letters(text, (letter) => String.fromCodePoint(0xe_0000 + letter.charCodeAt(0))),
  zw: (text) => text.replace(/(?<=[a-z])(?=[a-z])/g, '\u200b'),
  rot13: (text) =>
    text.replace(/[a-z]/gi, (letter) => {
      const base = letter < 'a' ? 65 : 97;
      return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
    }),
  rev: (text) => [...text].reverse().join(''),
  cyr: (text) =>
    letters(text, (letter) => ({ a: 'а', c: 'с', e: 'е', o: 'о', u: 'u', s: 'ѕ', h: 'һ' })[letter] ?? letter),
  nl: (count) => '\n'.repeat(Number(count)),
  sp: (count) => ' '.repeat(Number(count)),
};

function encoded(text: string): string {
  return text.replace(
    /\{\{(\w+):((?:[^{}]|\{(?!\{)|\}(?!\}))*)\}\}/g,
    (whole, how: string, plain: string) => ENCODERS[how]?.(plain) ?? whole,
  );
}

function planted(carrier: string, { text, at = 0.55 }: Row): string {
  const lines = carrier.split('\n');
  const headings = lines.flatMap((line, index) => (/^## /.test(line) ? [index] : []));
  const wanted = lines.length * at;
  const place = at >= 1 ? lines.length : (headings.find((index) => index >= wanted) ?? lines.length);
  return [...lines.slice(0, place), encoded(text), '', ...lines.slice(place)].join('\n');
}

export function labelledSkills(name: 'bad' | 'good' | 'held-out-bad' | 'held-out-good'): readonly LabelledSkill[] {
  const { carriers } = JSON.parse(read('carriers.json')) as { carriers: Readonly<Record<string, string>> };
  const rows = read(`${name}.jsonl`)
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line) as Row);
  return rows.map((row) => ({
    id: row.id,
    threat: row.threat ?? 'good',
    files: [
      {
        path: 'SKILL.md',
        text: row.carrier === undefined ? encoded(row.text) : planted(carriers[row.carrier] ?? '', row),
      },
      ...Object.entries(row.files ?? {}).map(([path, text]) => ({ path, text: encoded(text) })),
    ],
  }));
}
