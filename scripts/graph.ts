/**
 * The floor check: `node scripts/graph.ts [--root DIR] [--exact | --part] [--mermaid] [--found COUNT]`. Exits 1 with one line a violation. It reads
 * the resolved import graph, types included; an empty tree is a failure, not a success. `--exact`: a count that fell must be written down.
 * `--part`: a room was taken out of the tree, and what is counted over all of it is not judged. `--found` lists what a count of `ratchets` counts.
 */
import { parseArgs } from 'node:util';
import { budgets } from './floors.ts';
import { judgeArrows } from './graph/arrow-rules.ts';
import { drawRooms } from './graph/draw-rooms.ts';
import { countAll, judgeBudgets, judgeCounts } from './graph/fold-rules.ts';
import { loadTree } from './graph/load-tree.ts';
import { judgeShape } from './graph/shape-rules.ts';

const { values } = parseArgs({
  options: {
    root: { type: 'string', default: '.' },
    exact: { type: 'boolean' },
    part: { type: 'boolean' },
    mermaid: { type: 'boolean' },
    found: { type: 'string' },
  },
});
const tree = loadTree(values.root);

if (values.mermaid === true) {
  console.log(drawRooms(tree));
} else if (values.found !== undefined) {
  const found = Object.entries(countAll(tree)).find(([name]) => name === values.found)?.[1];
  console.log(Array.isArray(found) ? found.join('\n') : (found ?? `no count is named ${values.found}`));
} else {
  const isExact = values.exact === true;
  const problems = [
    ...tree.problems,
    ...judgeArrows(tree),
    ...judgeShape(tree),
    ...(values.part === true ? [] : judgeCounts(tree, { isExact })),
    ...judgeBudgets(tree, { isExact, allowed: budgets }),
  ];
  for (const problem of problems) console.error(`graph: ${problem}`);
  console.log(`graph: ${tree.sources.length} files, ${problems.length} problems`);
  if (problems.length > 0) process.exitCode = 1;
}
