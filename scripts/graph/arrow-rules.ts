/**
 * Owns the judgement of arrows: the allow-list of floors, the spelling of imports, cycles and reach.
 * Pure: a tree in, sentences out. It knows the table of `scripts/floors.ts` and nothing of the disk.
 */
import { besideTheFloors, floors, onlyImportedBy, sameFloor, typesOnly, unreachable } from '../floors.ts';
import { findCycle } from './find-cycle.ts';
import type { Arrow, SourceFile, Tree } from './load-tree.ts';
import { roomOf } from './load-tree.ts';

export function judgeArrows(tree: Tree): readonly string[] {
  return [
    ...tree.sources.flatMap((file) => file.arrows.flatMap((arrow) => judgeArrow(file, arrow))),
    ...tree.others.flatMap((file) => file.arrows.flatMap((arrow) => judgeOutsider(file, arrow))),
    ...judgeCycles(tree.sources),
    ...judgeReach(tree.sources),
  ];
}

/** Whether `from` may import `to` at all; the reason when not. */
function refuseArrow(from: string, to: string): string | undefined {
  if (from === to) return undefined;
  const beside = besideTheFloors[from];
  if (beside !== undefined) {
    return beside.includes(floorOf(to)?.name ?? to) ? undefined : `${from} may not import ${to}`;
  }
  const source = floorOf(from);
  const target = floorOf(to);
  if (source === undefined) return `${from} is no room of scripts/floors.ts`;
  if (target === undefined) return `no floor may import ${to}`;
  if (unreachable[from]?.includes(to) === true) return `${from} may not reach ${to}`;
  return source === target ? refuseNeighbour(from, to) : refuseOtherFloor(from, to);
}

function refuseNeighbour(from: string, to: string): string | undefined {
  return sameFloor[from]?.includes(to) === true ? undefined : `${from} may not import its neighbour ${to}`;
}

function refuseOtherFloor(from: string, to: string): string | undefined {
  if (heightOf(to) > heightOf(from)) return `${from} may not import the higher ${to}`;
  const doors = onlyImportedBy[floorOf(to)?.name ?? to];
  const open = doors === undefined || doors.includes(from);
  return open ? undefined : `only ${doors.join(', ')} may import ${to}`;
}

function heightOf(room: string): number {
  return floors.findIndex((floor) => floor.rooms.includes(room));
}

function floorOf(room: string): (typeof floors)[number] | undefined {
  return floors.find((floor) => floor.rooms.includes(room));
}

function judgeArrow(file: SourceFile, arrow: Arrow): readonly string[] {
  const place = `${file.path}:${arrow.line}`;
  const room = roomOf(arrow.target);
  if (!arrow.target.startsWith('src/')) return [`${place} src may not import ${arrow.target}`];
  const found: string[] = [];
  const refusal = refuseArrow(file.room, room);
  if (refusal !== undefined) found.push(`${place} ${refusal} (${arrow.specifier})`);
  const types = typesOnly.some(([from, to]) => from === file.room && to === room);
  if (types && !arrow.typeOnly) found.push(`${place} ${file.room} may import only types of ${room}`);
  const spelling = refuseSpelling(file.room === room, arrow.specifier);
  if (spelling !== undefined) found.push(`${place} ${spelling}`);
  return found;
}

function refuseSpelling(sameRoom: boolean, specifier: string): string | undefined {
  const hash = specifier.startsWith('#');
  if (sameRoom && hash) return `write ${specifier} with ./ or ../ : it is the same room`;
  if (!sameRoom && !hash) return `write ${specifier} with # : it is another room`;
  return undefined;
}

function judgeOutsider(file: SourceFile, arrow: Arrow): readonly string[] {
  const intoSource = arrow.target.startsWith('src/');
  if (!intoSource || arrow.specifier.startsWith('#')) return [];
  return [`${file.path}:${arrow.line} write ${arrow.specifier} with #`];
}

function judgeCycles(files: readonly SourceFile[]): readonly string[] {
  const graph = new Map(files.map((file) => [file.path, new Set(file.arrows.map((arrow) => arrow.target))]));
  for (const targets of graph.values()) for (const path of targets) if (!graph.has(path)) targets.delete(path);
  const cycle = findCycle(graph);
  return cycle === undefined ? [] : [`cycle: ${cycle.join(' → ')}`];
}

/** Follows every import, those of types too: what a room names, it can reach. */
function judgeReach(files: readonly SourceFile[]): readonly string[] {
  const leads = new Map(files.map(({ path, arrows }) => [path, arrows]));
  return files.flatMap((start) => {
    const denied = unreachable[start.room] ?? [];
    if (denied.length === 0) return [];
    const seen = new Set([start.path]);
    for (const path of seen) for (const arrow of leads.get(path) ?? []) seen.add(arrow.target);
    return [...seen]
      .filter((path) => denied.includes(roomOf(path)))
      .map((path) => `${start.path} reaches ${path}: ${start.room} may not reach ${roomOf(path)}`);
  });
}
