/** A process of its own that writes one skill without end, in an order that a seed gives: `<home> <seed> <later ms>`. It is killed in the middle. */

import type { SkillChange } from '#mind/skills/skill.ts';
import { realClock } from '../../ground.ts';
import { openDoor, skillText } from '../../mind/skills/skill-bench.ts';

const [home = '', seed = '1', later = '0'] = process.argv.slice(2);
const verifier = { name: 'slow', verify: async () => ({ passed: true, detail: '' }) };
const opened = openDoor(home, {
  bare: true,
  clock: { ...realClock, now: () => 1_768_478_400_000 + Number(later) },
  verifiers: Number(seed) % 2 === 0 ? [verifier] : [],
});
await opened.door.reconcile();

let state = Number(seed) >>> 0;
function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

const changes: readonly ((turn: number) => SkillChange)[] = [
  () => ({ action: 'create', content: skillText('csv'), category: 'data' }),
  (turn) => ({ action: 'edit', content: skillText('csv', `Turn ${turn}.\n`) }),
  (turn) => ({ action: 'write_file', filePath: `references/${turn % 3}.md`, content: `turn ${turn}\n` }),
  (turn) => ({ action: 'remove_file', filePath: `references/${turn % 3}.md` }),
  (turn) => ({ action: 'patch', oldString: '# csv', newString: `# csv\n${turn}`, replaceAll: true }),
  (turn) => ({
    action: 'edit',
    content: skillText('csv', `Turn ${turn} with files.\n`),
    files: [
      { path: `references/${turn % 3}.md`, content: turn % 4 === 0 ? null : `file of ${turn}\n` },
      { path: 'assets/always.txt', content: `${turn}\n` },
    ],
  }),
  () => ({ action: 'delete' }),
];

process.stdout.write('ready\n');
for (let turn = 0; ; turn += 1) {
  const change = changes[random(changes.length)]?.(turn);
  if (change === undefined || random(5) === 0) await opened.door.rollback({ skill: 'csv' });
  else await opened.door.write({ name: 'csv', change, actor: 'agent', approved: true });
}
