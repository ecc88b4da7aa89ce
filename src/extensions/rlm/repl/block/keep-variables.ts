// Owns making the names at the top of a block outlive it: `const`, `let` and `class` there become variables of the script, which the next
// block finds and may name again. Everything deeper stays as it is. Invariant: lines stay where they are; code that cannot be told apart is
// left alone.
import { beginsExpression, type CodeToken, scanCode } from './scan-code.ts';

interface Edit {
  readonly at: number;
  readonly length: number;
  readonly text: string;
}

export function keepVariables(code: string): string {
  const tokens = scanCode(code);
  const edits = tokens.flatMap((token, index) =>
    token.depth === 0 && token.kind === 'word' ? editOf(tokens, index) : [],
  );
  let kept = '';
  let from = 0;
  for (const { at, length, text } of edits.sort((left, right) => left.at - right.at)) {
    kept += code.slice(from, at) + text;
    from = at + length;
  }
  return kept + code.slice(from);
}

function editOf(tokens: readonly CodeToken[], index: number): readonly Edit[] {
  const { text, at } = tokens[index] as CodeToken;
  const [last, next] = [tokens[index - 1], tokens[index + 1]];
  if (last?.text === '.' || last?.text === '?.' || next === undefined) return [];
  const isDeclared = next.kind === 'word' || next.text === '{' || next.text === '[';
  if ((text === 'const' || text === 'let') && isDeclared) return [{ at, length: text.length, text: 'var' }];
  if (text !== 'class' || next.kind !== 'word' || !beginsStatement(last, tokens[index] as CodeToken)) return [];
  const end = endOfBody(tokens, index);
  if (end === undefined) return [];
  return [
    { at, length: 0, text: `var ${next.text} = ` },
    { at: end.at + 1, length: 0, text: ';' },
  ];
}

function beginsStatement(last: CodeToken | undefined, token: CodeToken): boolean {
  if (last === undefined || last.text === ';' || last.text === '}') return true;
  return token.onNewLine && !beginsExpression(last);
}

/** The brace that closes the body of a class: the first at the top again whose opening one follows the head. */
function endOfBody(tokens: readonly CodeToken[], index: number): CodeToken | undefined {
  return tokens.find((token, at) => at > index && token.text === '}' && token.depth === 1 && !isHead(tokens, at));
}

/** `class A extends make({…}) {`: a brace inside round ones is deeper; one of an object as base is rare and left alone. */
function isHead(tokens: readonly CodeToken[], at: number): boolean {
  return tokens[at + 1]?.text === '{' && tokens[at + 1]?.depth === 0;
}
