/**
 * Open a home, make a conversation, run a turn, listen to what happens. Runs offline: the reflex tier
 * needs no key. `node examples/embed.ts`
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTalaria } from 'talaria';

const folder = mkdtempSync(join(tmpdir(), 'talaria-example-'));
writeFileSync(join(folder, 'notes.txt'), 'The service listens on port 4711.\n');

const talaria = await openTalaria({ home: join(folder, 'home'), cwd: folder, model: 'reflex' });
console.log(`model ${talaria.model().id}: ${talaria.model().reason}`);

const stop = talaria.subscribe(({ event }) => {
  if (event.type === 'tool-start') console.log(`  tool: ${event.summary}`);
});

const talk = await talaria.talk({ source: 'example' });
const turn = await talk.ask('read notes.txt');
console.log(turn.text);
console.log(`ended: ${turn.outcome}, ${turn.steps} steps, $${turn.cost}`);

stop();
await talk.close();
await talaria.close();
