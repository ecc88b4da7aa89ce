/**
 * Owns the reading of citations: the ids that the tests of a tree hand to `verifies`. It reads the
 * syntax tree, so a citation in a comment or in a string does not count.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type CallExpression, type Expression, parseSync, Visitor } from 'oxc-parser';

export interface Citations {
  /** Id → the files that cite it. */
  readonly byId: ReadonlyMap<string, readonly string[]>;
  readonly files: number;
  readonly problems: readonly string[];
}

export function readCitations(root: string): Citations {
  const byId = new Map<string, string[]>();
  const problems: string[] = [];
  const files = testFiles(join(root, 'test'));
  for (const path of files) {
    const name = relative(root, path);
    for (const id of idsIn(path)) {
      if (id === undefined) problems.push(`${name} calls verifies with ids that are not written out`);
      else byId.set(id, [...(byId.get(id) ?? []), name]);
    }
  }
  return { byId, files: files.length, problems };
}

function testFiles(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:test|contract)\.ts$/.test(name) && !name.startsWith('fixtures'))
    .sort()
    .map((name) => join(folder, name));
}

function idsIn(path: string): readonly (string | undefined)[] {
  const parsed = parseSync(path, readFileSync(path, 'utf8'), { sourceType: 'module', lang: 'ts' });
  const fault = parsed.errors[0];
  if (fault !== undefined) throw new Error(`${path}: ${fault.message}`);
  const ids: (string | undefined)[] = [];
  new Visitor({
    CallExpression: (call) => {
      if (isVerifies(call)) ids.push(...literals(call.arguments[0]));
    },
  }).visit(parsed.program);
  return ids;
}

function isVerifies(call: CallExpression): boolean {
  const named = call.callee.type === 'MemberExpression' ? call.callee.object : call.callee;
  return named.type === 'Identifier' && named.name === 'verifies';
}

function literals(
  argument: Expression | { readonly type: 'SpreadElement' } | null | undefined,
): (string | undefined)[] {
  if (argument?.type === 'ArrayExpression') return argument.elements.flatMap((element) => literals(element));
  if (argument?.type === 'Literal' && typeof argument.value === 'string') return [argument.value];
  return [undefined];
}
