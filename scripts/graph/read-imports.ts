/**
 * Owns the reading of one TypeScript file: every specifier it names, static, dynamic or inside a type,
 * and whether only types travel on it. It does not know rooms, floors or the file system layout.
 */
import { readFileSync } from 'node:fs';
import { type Node, parseSync, Visitor } from 'oxc-parser';

export interface ImportEdge {
  readonly specifier: string;
  readonly line: number;
  readonly typeOnly: boolean;
}

export interface ModuleText {
  readonly lines: number;
  readonly imports: readonly ImportEdge[];
  /** Kinds of the top-level statements, in order. */
  readonly statements: readonly string[];
}

/** @throws Error when the file does not parse: an unreadable file must not look like a file without imports. */
export function readModule(path: string): ModuleText {
  const text = readFileSync(path, 'utf8');
  const parsed = parseSync(path, text, { sourceType: 'module', lang: 'ts' });
  const fault = parsed.errors[0];
  if (fault !== undefined) throw new Error(`${path}: ${fault.message}`);
  const starts = lineStarts(text);
  const imports: ImportEdge[] = [];
  const add = (source: unknown, typeOnly: boolean): void => {
    const found = literalOf(source);
    if (found === undefined) return;
    imports.push({ specifier: found.value, line: lineAt(starts, found.start), typeOnly });
  };
  new Visitor({
    ImportDeclaration: (node) => add(node.source, isTypeImport(node)),
    ExportNamedDeclaration: (node) => add(node.source, node.exportKind === 'type'),
    ExportAllDeclaration: (node) => add(node.source, node.exportKind === 'type'),
    ImportExpression: (node) => add(node.source, false),
    TSImportType: (node) => add(node.source, true),
  }).visit(parsed.program);
  return { lines: countLines(text), imports, statements: parsed.program.body.map((node) => describe(node)) };
}

function describe(node: Node): string {
  const source = 'source' in node ? literalOf(node.source) : undefined;
  return source === undefined ? node.type : `${node.type} from`;
}

interface TypeImportShape {
  readonly importKind?: string | undefined;
  readonly specifiers: readonly { readonly type: string; readonly importKind?: string | undefined }[];
}

function isTypeImport(node: TypeImportShape): boolean {
  if (node.importKind === 'type') return true;
  return node.specifiers.length > 0 && node.specifiers.every((one) => one.importKind === 'type');
}

function literalOf(node: unknown): { readonly value: string; readonly start: number } | undefined {
  if (typeof node !== 'object' || node === null) return undefined;
  if (!('value' in node) || !('start' in node)) return undefined;
  if (typeof node.value !== 'string' || typeof node.start !== 'number') return undefined;
  return { value: node.value, start: node.start };
}

function countLines(text: string): number {
  const breaks = text.split('\n').length;
  return text.endsWith('\n') ? breaks - 1 : breaks;
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function lineAt(starts: readonly number[], offset: number): number {
  let line = 0;
  while (line < starts.length && (starts[line] ?? 0) <= offset) line += 1;
  return line;
}
