/**
 * Store messages and find them again by plain words, without an agent. `node examples/search-sessions.ts`
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSessions } from 'talaria/sessions';

const sessions = openSessions(join(mkdtempSync(join(tmpdir(), 'talaria-example-')), 'state.db'));
const said = [
  ['user', 'Which port does the harbour service listen on?'],
  ['assistant', 'We decided on 4711, because 8080 was taken.'],
  ['user', 'And who adopted the cat?'],
  ['assistant', 'Melanie adopted it in May.'],
] as const;
for (const [role, content] of said) {
  await sessions.append({ sessionId: 'harbour', role, content, timestamp: '2026-05-04T10:00:00Z' });
}

for (const question of ['what did we decide about the port', 'when did Melanie adopt the cat?']) {
  const [best] = await sessions.search(question, { limit: 3 });
  console.log(`${question}\n  ${best?.sessionId} #${best?.messageId}: ${best?.snippet}`);
}
await sessions.close();
