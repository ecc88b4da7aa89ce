/** A process of its own that makes a skill and edits it with a verifier that does not end: `<home>`. It is killed while that runs. */
import { join } from 'node:path';
import { systemClock } from '#base/clock.ts';
import { commandVerifier } from '#mind/skills/door/verify.ts';
import { openDoor, skillText } from '../../mind/skills/skill-bench.ts';

const [home = ''] = process.argv.slice(2);
const { door } = openDoor(home, { bare: true, clock: systemClock });
await door.write({
  name: 'csv',
  change: { action: 'create', content: skillText('csv'), category: 'data' },
  actor: 'agent',
  approved: true,
});
const command = `echo $$ > "$NOTE.part"; mv "$NOTE.part" "$NOTE"; exec sleep 60`;
await door.write({
  name: 'csv',
  change: {
    action: 'edit',
    content: skillText('csv', 'Not verified.\n'),
    files: [{ path: 'references/b.md', content: 'not verified\n' }],
  },
  actor: 'agent',
  approved: true,
  verifiers: [commandVerifier({ name: 'verify-command', command, env: { NOTE: join(home, 'verifier.pid') } })],
});
