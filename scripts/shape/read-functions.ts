/** Owns the measuring of one file: the lines of each function body, and the number of `any` types. */
import { readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'oxc-parser';

export interface FunctionMeasures {
  /** Lines between the braces, as the lint counts them; an arrow without braces counts its own lines. */
  readonly functionLines: readonly number[];
  readonly anyTypes: number;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

export function readFunctions(path: string): FunctionMeasures {
  const text = readFileSync(path, 'utf8');
  const functionLines: number[] = [];
  let anyTypes = 0;
  const measure = (body: Span | null): void => {
    if (body === null) return;
    const lines = text.slice(body.start, body.end).split('\n').length;
    functionLines.push(Math.max(1, lines - 2));
  };
  new Visitor({
    FunctionDeclaration: (node) => measure(node.body),
    FunctionExpression: (node) => measure(node.body),
    ArrowFunctionExpression: (node) => measure(node.body),
    TSAnyKeyword: () => {
      anyTypes += 1;
    },
  }).visit(parseSync(path, text, { sourceType: 'module', lang: 'ts' }).program);
  return { functionLines, anyTypes };
}
