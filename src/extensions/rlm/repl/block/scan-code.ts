// Owns taking JavaScript apart into tokens, as far as needed to tell what stands at the top of a script. No parser: it knows texts,
// comments, templates, patterns and brackets. Invariant: linear; total: of broken code it gives what it can, and the engine says what is wrong.

export interface CodeToken {
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

export function beginsExpression({ text, kind }: CodeToken): boolean {
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
