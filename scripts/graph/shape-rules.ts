/**
 * Owns the judgement of shape: names, sizes of files, rooms without tests, and that
 * `src/public` only re-exports. There is no list of exceptions.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { forbiddenNames, limits } from '../floors.ts';
import type { SourceFile, Tree } from './load-tree.ts';

export function judgeShape(tree: Tree): readonly string[] {
  return [
    ...tree.sources.flatMap((file) => judgeName(file.path)),
    ...tree.sources.flatMap((file) => judgeLength(file)),
    ...judgeRooms(tree),
    ...tree.sources.filter((file) => file.room === 'public').flatMap((file) => judgePublic(file)),
  ];
}

function judgeName(path: string): readonly string[] {
  const bad = path.split('/').find((part) => forbiddenNames.includes(part.split('.')[0] ?? part));
  return bad === undefined ? [] : [`${path} the name ${bad} says nothing: name the one idea`];
}

function judgeLength(file: SourceFile): readonly string[] {
  const { lines } = file.text;
  return lines > limits.fileLines ? [`${file.path} has ${lines} lines, the limit is ${limits.fileLines}`] : [];
}

function judgeRooms(tree: Tree): readonly string[] {
  const rooms = new Set(tree.sources.map((file) => file.room));
  rooms.delete('public');
  return [...rooms]
    .filter((room) => !hasTest(join(tree.root, 'test', room)))
    .map((room) => `room ${room} has no test under test/${room}`);
}

function hasTest(folder: string): boolean {
  if (!existsSync(folder)) return false;
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).some((name) => basename(name).endsWith('.test.ts'));
}

function judgePublic(file: SourceFile): readonly string[] {
  const other = file.text.statements.find((kind) => !kind.startsWith('Export') || !kind.endsWith(' from'));
  return other === undefined ? [] : [`${file.path} may only re-export, it holds a ${other}`];
}
