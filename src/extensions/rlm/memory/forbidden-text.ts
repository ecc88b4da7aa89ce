/**
 * Owns the search for text that has no place in a memory of how to ask: facts, ids, handles, instructions (notes 5).
 * It knows patterns only; what really keeps a prompt clean is that no free text of a record is ever sent (prior-block.ts).
 * Invariant: a text is read without invisible characters, so that hiding them in it changes nothing. Serves seed 003, memory guards.
 */

interface ForbiddenForm {
  readonly form: RegExp;
  readonly why: string;
}

const FORMS: readonly ForbiddenForm[] = [
  { form: /\bfacts?\s*[:#]\s*\S/i, why: 'a fact tag' },
  { form: /\bL[PC]-(?:\d{2,}-\d{2,}|\d{3,})/i, why: 'a fact id' },
  { form: /\b[A-Z]{2,}(?:-[A-Z]{2,})*-(?:\d{2,}-\d{2,}|\d{3,})\b/, why: 'a fact id' },
  { form: /\blive_portability\/\S/i, why: 'a path of a fixture' },
  { form: /[\w./-]:\d+-\d+/, why: 'a chunk handle' },
  { form: /\b\w+:\/\/\S/, why: 'a handle' },
  { form: /chunk_id\b[^:=\n]{0,80}[:=]/i, why: 'a chunk id' },
  {
    form: /\b(?:ignor|bypass|disabl|overrid|skip)\w*\s+(?:\w+\s+){0,3}(?:traceguard|evidence|validation|guards?|rules|instructions)\b/i,
    why: 'an instruction',
  },
  { form: /\btreat\s+(?:this\s+|the\s+)?memory\s+as\s+evidence\b/i, why: 'an instruction' },
  { form: /\bmemory\s+(?:is|counts\s+as)\s+evidence\b/i, why: 'an instruction' },
  { form: /\bclaim\s+L[PC]-/i, why: 'an instruction' },
  { form: /\banswers?\s*(?:is|was|are|=|:)/i, why: 'an answer' },
];

/** What is forbidden in the text, in two or three words, or null. */
export function forbiddenText(text: string): string | null {
  const plain = text.normalize('NFKC').replace(/\p{Cf}+/gu, '');
  const spaced = plain.replace(/[_\s]+/g, ' ');
  return FORMS.find(({ form }) => form.test(plain) || form.test(spaced))?.why ?? null;
}
