// Owns paths that were dictated: `src slash index dot ts` is one token, `src/index.ts`; `slash etc slash hosts` is `/etc/hosts`.
import { isPath, type Token } from './tokenize.ts';

type Marks = Readonly<Record<string, string>>;

/** Joins runs of word, mark, word when the whole looks like a path. */
export function joinSpoken(tokens: readonly Token[], marks: Marks): readonly Token[] {
  if (!tokens.some((token) => Object.hasOwn(marks, token.word))) return tokens;
  const joined: Token[] = [];
  for (let at = 0; at < tokens.length; ) {
    const run = spokenRun(tokens, at, marks);
    const [first] = run;
    const last = run.at(-1);
    const raw = run.map((token) => marks[token.word] ?? token.raw).join('');
    if (first !== undefined && last !== undefined && run.length > 1 && isPath(raw)) {
      joined.push({ kind: 'path', word: raw.toLowerCase(), raw, start: first.start, end: last.end });
    } else joined.push(...run);
    at += Math.max(1, run.length);
  }
  return joined;
}

function spokenRun(tokens: readonly Token[], at: number, marks: Marks): readonly Token[] {
  const isMark = (place: number): boolean => Object.hasOwn(marks, tokens[place]?.word ?? '');
  let end = at + 1;
  if (isMark(at) && marks[tokens[at]?.word ?? ''] === '/' && isName(tokens[end]) && isMark(end + 1)) end += 1;
  else if (isMark(at)) return tokens.slice(at, end);
  while (isMark(end) && isName(tokens[end + 1])) end += 2;
  return tokens.slice(at, end);
}

function isName(token: Token | undefined): boolean {
  return token?.kind === 'word' || token?.kind === 'number' || token?.kind === 'path';
}
