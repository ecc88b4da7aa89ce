// Owns paths that were dictated: `src slash index dot ts` is one token, `src/index.ts`.
import { isPath, type Token } from './tokenize.ts';

/** Joins runs of word, mark, word when the whole looks like a path. */
export function joinSpoken(tokens: readonly Token[], marks: Readonly<Record<string, string>>): readonly Token[] {
  if (!tokens.some((token) => Object.hasOwn(marks, token.word))) return tokens;
  const joined: Token[] = [];
  for (let at = 0; at < tokens.length; ) {
    const run = spokenRun(tokens, at, marks);
    const [first] = run;
    const last = run.at(-1);
    const raw = run.map((token, index) => (index % 2 === 1 ? (marks[token.word] ?? '') : token.raw)).join('');
    if (first !== undefined && last !== undefined && run.length > 1 && isPath(raw)) {
      joined.push({ kind: 'path', word: raw.toLowerCase(), raw, start: first.start, end: last.end });
    } else joined.push(...run);
    at += Math.max(1, run.length);
  }
  return joined;
}

function spokenRun(tokens: readonly Token[], at: number, marks: Readonly<Record<string, string>>): readonly Token[] {
  let end = at + 1;
  while (Object.hasOwn(marks, tokens[end]?.word ?? '') && tokens[end + 1]?.kind === 'word') end += 2;
  return tokens.slice(at, end);
}
