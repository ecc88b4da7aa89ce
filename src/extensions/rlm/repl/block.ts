// Owns making the names at the top of a block outlive it: `const`, `let` and `class` there become variables of the script, which the next
// block finds and may name again. Everything deeper stays as it is. Invariant: lines stay where they are; code that cannot be told apart is
// left alone.
import { sliceText } from '#base/text.ts';
import type { AnswerPart } from './repl-session.ts';

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

interface CodeToken {
  readonly text: string;
  readonly at: number;
  /** Brackets that are open before it. */
  readonly depth: number;
  readonly kind: 'word' | 'mark' | 'value';
  /** A line ends between the token before and this one. */
  readonly onNewLine: boolean;
}

const SPACE = /(?:\s+|\/\/[^\n\r]*|\/\*[\s\S]*?\*\/)+/y;
const WORD = /[\p{ID_Start}$_#@][\p{ID_Continue}$\u200c\u200d]*/uy;
const NUMBER = /(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?\w*/y;
const TEXT = /'(?:[^'\\\n]|\\[\s\S])*'?|"(?:[^"\\\n]|\\[\s\S])*"?/y;
const PATTERN = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;
const MARK = /=>|\?\.(?!\d)|\.\.\.|[\s\S]/y;
const TEMPLATE = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y;
/** After these words an expression begins, so that `/` begins a pattern. */
const BEFORE_EXPRESSION: ReadonlySet<string> = new Set(
  'return typeof case in of delete void throw new instanceof do else await yield'.split(' '),
);

function beginsExpression({ text, kind }: CodeToken): boolean {
  if (kind === 'word') return BEFORE_EXPRESSION.has(text);
  return kind === 'mark' && text !== ')' && text !== ']' && text !== '}';
}

export function scanCode(code: string): readonly CodeToken[] {
  const scanner = new CodeScanner(code);
  const tokens: CodeToken[] = [];
  for (let token = scanner.next(undefined); token !== undefined; token = scanner.next(token)) tokens.push(token);
  return tokens;
}

class CodeScanner {
  readonly #code: string;
  readonly #open: string[] = [];
  #at = 0;

  constructor(code: string) {
    this.#code = code;
  }

  next(last: CodeToken | undefined): CodeToken | undefined {
    const onNewLine = /[\n\r]/.test(this.#take(SPACE));
    if (this.#at >= this.#code.length) return undefined;
    const [at, depth] = [this.#at, this.#open.length];
    return { at, depth, onNewLine, ...this.#read(last) };
  }

  #read(last: CodeToken | undefined): Pick<CodeToken, 'text' | 'kind'> {
    const first = this.#code[this.#at] ?? '';
    if (first === '`' || (first === '}' && this.#open.at(-1) === '`')) return this.#template(first);
    const value = this.#take(TEXT) || this.#take(NUMBER) || this.#pattern(first, last);
    if (value !== '') return { text: value, kind: 'value' };
    const word = this.#take(WORD);
    if (word !== '') return { text: word, kind: 'word' };
    const text = this.#take(MARK);
    if ('([{'.includes(text)) this.#open.push(text);
    else if (')]}'.includes(text)) this.#open.pop();
    return { text, kind: 'mark' };
  }

  #pattern(first: string, last: CodeToken | undefined): string {
    return first === '/' && (last === undefined || beginsExpression(last)) ? this.#take(PATTERN) : '';
  }

  /** Up to its end or to the next `${`, behind which code stands again. */
  #template(first: string): Pick<CodeToken, 'text' | 'kind'> {
    if (first === '}') this.#open.pop();
    this.#at += 1;
    this.#take(TEMPLATE);
    const goesOn = this.#code[this.#at] === '$';
    if (goesOn) this.#open.push('`');
    this.#at += goesOn ? 2 : 1;
    return { text: '`', kind: goesOn ? 'mark' : 'value' };
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#code)?.[0] ?? '';
    this.#at += text.length;
    return text;
  }
}

export class BlockState {
  output = '';
  answer: readonly AnswerPart[] | null = null;
  readonly #limit: number;
  #printed = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @param length of the whole text, of which `text` may be the beginning */
  print(text: string, length: number): void {
    const room = Math.max(0, this.#limit - this.output.length);
    const line = this.#printed === 0 ? text : `\n${text}`;
    if (this.output.length === Math.min(this.#printed, this.#limit)) this.output += sliceText(line, room);
    this.#printed += Math.max(length, text.length) + (line.length - text.length);
  }

  get cut(): number {
    return Math.max(0, this.#printed - this.output.length);
  }
}
