/**
 * Owns the counts that only fall: small folders, thin files, long signatures, lone interfaces, long literals outside of tables, deep
 * imports of tests; and what each room holds. It judges nothing: `scripts/graph/fold-rules.ts` holds them to `scripts/floors.ts`.
 */
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Node, parseSync, Visitor } from 'oxc-parser';
import { fronts } from '../floors.ts';
import type { SourceFile, Tree } from './load-tree.ts';

/** What a count found, each with its place, so that a rise names what rose. */
export type Found = readonly string[];

export interface RoomSize {
  readonly files: number;
  /** Non-blank. */
  readonly lines: number;
}

const SMALL_FOLDER = 5;
const THIN_LINES = 80;
const SEGMENTS = 4;
const LONG_LITERAL = 200;
const POSITIONAL = 4;
/** A thread, a table, an entry: what may stand alone. */
const ALONE = /\.(?:worker|rules)\.ts$|^src\/public\/|\/(?:main|room|extension)\.ts$/;

const CROWD = 20;

export function crowdedFolders({ sources }: Tree): Found {
  const entries = new Map<string, Set<string>>();
  for (const { path } of sources)
    for (let at = path; at !== 'src'; at = dirname(at))
      entries.set(dirname(at), (entries.get(dirname(at)) ?? new Set()).add(basename(at)));
  return [...entries].flatMap(([folder, { size }]) => (size > CROWD ? [`${folder} has ${size} entries`] : []));
}

export function smallFolders({ sources }: Tree): Found {
  const count = new Map<string, number>();
  for (const { path, room } of sources)
    for (let at = dirname(path); at !== `src/${room}` && at !== 'src'; at = dirname(at))
      count.set(at, (count.get(at) ?? 0) + 1);
  return [...count]
    .filter(([, files]) => files < SMALL_FOLDER)
    .map(([folder, files]) => `${folder} holds ${files} files`);
}

export function deepFiles({ sources }: Tree): Found {
  return sources.map(({ path }) => path).filter((path) => path.split('/').length - 1 > SEGMENTS);
}

/** A file with one reader is a part of what it reads; a file that is imported later is a border. */
export function thinFiles({ sources, root }: Tree): Found {
  const readers = new Map<string, SourceFile[]>();
  for (const file of sources)
    for (const target of new Set(file.arrows.map((arrow) => arrow.target)))
      readers.set(target, [...(readers.get(target) ?? []), file]);
  const later = new Set(sources.flatMap((file) => importedLater(file, root)));
  return sources.flatMap(({ path, room, text }) => {
    const own = readers.get(path) ?? [];
    const isThin = text.lines < THIN_LINES && own.length === 1 && own[0]?.room === room;
    return isThin && !later.has(path) && !ALONE.test(path) ? [`${path} is read by ${own[0]?.path} alone`] : [];
  });
}

function importedLater({ path, arrows }: SourceFile, root: string): readonly string[] {
  const text = readFileSync(join(root, path), 'utf8');
  return arrows.filter(({ specifier }) => text.includes(`import('${specifier}')`)).map(({ target }) => target);
}

export interface CodeFound {
  readonly longSignatures: Found;
  readonly loneInterfaces: Found;
  readonly longLiterals: Found;
  /** In tables (`*.rules.ts`), bytes of literals over the length. */
  readonly tableBytes: number;
}

const IMPORT = /^import [\s\S]*?;$/gm;

/** Each file is parsed once. */
export function readCode({ sources, root }: Tree): CodeFound {
  const longSignatures: string[] = [];
  const longLiterals: string[] = [];
  const declared: { readonly name: string; readonly path: string }[] = [];
  const words = new Map<string, number>();
  let tableBytes = 0;
  for (const { path } of sources) {
    const text = readFileSync(join(root, path), 'utf8');
    for (const word of text.replace(IMPORT, '').match(/\b[A-Z]\w+\b/g) ?? [])
      words.set(word, (words.get(word) ?? 0) + 1);
    const code = readFile(path, text);
    longSignatures.push(...code.signatures.map((name) => `${path} ${name}`));
    declared.push(...code.interfaces.map((name) => ({ name, path })));
    if (path.endsWith('.rules.ts')) tableBytes += code.literals.reduce((sum, size) => sum + size, 0);
    else longLiterals.push(...code.literals.map((size) => `${path} a literal of ${size} characters`));
  }
  const loneInterfaces = declared
    .filter(({ name, path }) => (words.get(name) ?? 0) < 3 && !path.startsWith('src/public/'))
    .map(({ name, path }) => `${path} ${name}`);
  return { longSignatures, loneInterfaces, longLiterals, tableBytes };
}

interface FileCode {
  readonly signatures: readonly string[];
  readonly interfaces: readonly string[];
  readonly literals: readonly number[];
}

function readFile(path: string, text: string): FileCode {
  const signatures: string[] = [];
  const interfaces: string[] = [];
  const literals: number[] = [];
  const measure = (node: { readonly start: number; readonly end: number }) => {
    if (node.end - node.start > LONG_LITERAL) literals.push(node.end - node.start);
  };
  const count = (node: { readonly params: readonly Node[]; readonly id?: { readonly name: string } | null }) => {
    if (node.params.length > POSITIONAL)
      signatures.push(`${node.id?.name ?? 'a function'} takes ${node.params.length}`);
  };
  new Visitor({
    FunctionDeclaration: count,
    FunctionExpression: count,
    ArrowFunctionExpression: count,
    TSInterfaceDeclaration: (node) => {
      interfaces.push(node.id.name);
    },
    Literal: measure,
    TemplateLiteral: measure,
  }).visit(parseSync(path, text, { sourceType: 'module', lang: 'ts' }).program);
  return { signatures, interfaces, literals };
}

/** What tests take from `src` but the fronts of rooms, the doubles and what is published. */
export function deepEdges({ others }: Tree): Found {
  const listed = new Set(Object.entries(fronts).flatMap(([room, files]) => files.map((file) => `src/${room}/${file}`)));
  const isFront = (path: string) =>
    /^src\/(?:testing|public)\//.test(path) || basename(path) === 'room.ts' || listed.has(path);
  return others
    .filter(({ path }) => path.startsWith('test/'))
    .flatMap(({ path, arrows }) =>
      [...new Set(arrows.map(({ target }) => target))]
        .filter((target) => target.startsWith('src/') && !isFront(target))
        .map((target) => `${path} takes ${target}`),
    );
}

export function roomSizes({ sources, root }: Tree): ReadonlyMap<string, RoomSize> {
  const sizes = new Map<string, RoomSize>();
  for (const { path, room } of sources) {
    const lines = readFileSync(join(root, path), 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '').length;
    const before = sizes.get(room) ?? { files: 0, lines: 0 };
    sizes.set(room, { files: before.files + 1, lines: before.lines + lines });
  }
  return sizes;
}
