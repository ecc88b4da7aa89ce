/** Owns the Mermaid picture of the rooms that exist and the arrows that are really used between them. */
import { floors } from '../floors.ts';
import { roomOf, type Tree } from './load-tree.ts';

export function drawRooms(tree: Tree): string {
  const present = new Set(tree.sources.map((file) => file.room));
  const groups = [...floors].reverse().flatMap((floor) => {
    const rooms = floor.rooms.filter((room) => present.has(room));
    if (rooms.length === 0) return [];
    return [`  subgraph ${floor.name}`, ...rooms.map((room) => `    ${id(room)}["${label(room)}"]`), '  end'];
  });
  return ['flowchart TD', ...groups, ...arrowsOf(tree).map((arrow) => `  ${arrow}`)].join('\n');
}

/** `base` is below everything and the rooms beside the floors are doors: drawing them would hide the rest. */
function arrowsOf(tree: Tree): readonly string[] {
  const hidden = new Set(['base', 'public', 'testing']);
  const arrows = new Set<string>();
  for (const file of tree.sources) {
    for (const { target } of file.arrows) {
      const to = roomOf(target);
      if (to === file.room || hidden.has(file.room) || hidden.has(to)) continue;
      arrows.add(`${id(file.room)} --> ${id(to)}`);
    }
  }
  return [...arrows].sort();
}

function id(room: string): string {
  return room.replace('/', '_');
}

function label(room: string): string {
  return room.split('/').at(-1) ?? room;
}
