/**
 * The floor check: `node scripts/graph.ts [--root DIR] [--mermaid]`. Exits 1 with one line a violation.
 * It reads the resolved import graph, types included; an empty tree is a failure, not a success.
 */
import { parseArgs } from 'node:util';
import { judgeArrows } from './graph/arrow-rules.ts';
import { drawRooms } from './graph/draw-rooms.ts';
import { loadTree } from './graph/load-tree.ts';
import { judgeShape } from './graph/shape-rules.ts';

const { values } = parseArgs({ options: { root: { type: 'string', default: '.' }, mermaid: { type: 'boolean' } } });
const tree = loadTree(values.root);

if (values.mermaid === true) {
  console.log(drawRooms(tree));
} else {
  const problems = [...tree.problems, ...judgeArrows(tree), ...judgeShape(tree)];
  for (const problem of problems) console.error(`graph: ${problem}`);
  console.log(`graph: ${tree.sources.length} files, ${problems.length} problems`);
  if (problems.length > 0) process.exitCode = 1;
}
