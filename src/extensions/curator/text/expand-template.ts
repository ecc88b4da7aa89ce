// Owns what the original's pattern replacement makes of a text with backslashes, its known defect (curator notes 21.1); only `compat`
// comes here. Pure. A text that the original could not use at all (it raises) comes back as it is.

const LETTERS: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};

/** Octal escapes, the whole match's group, known letters, any other pair. */
const ESCAPE = /\\(0[0-7]{0,2}|[1-3][0-7]{2}|g<0>|[\s\S]|$)/g;

/** `whole`: what the template replaces, for `\\g<0>`. */
export function expandTemplate(template: string, whole: string): string {
  if (!template.includes('\\')) return template;
  const expanded = Array.from(template.matchAll(ESCAPE), ([, code = '']) =>
    code === 'g<0>' ? whole : expandOne(code),
  );
  if (expanded.some((part) => part === undefined)) return template;
  let next = 0;
  return template.replace(ESCAPE, () => expanded[next++] ?? '');
}

function expandOne(code: string): string | undefined {
  if (/^[0-3][0-7]*$/.test(code) && (code[0] === '0' || code.length === 3)) {
    return String.fromCharCode(Number.parseInt(code, 8));
  }
  if (code === '' || /^[0-9]/.test(code)) return undefined;
  if (/^[A-Za-z]$/.test(code)) return LETTERS[code];
  return LETTERS[code] ?? `\\${code}`;
}
