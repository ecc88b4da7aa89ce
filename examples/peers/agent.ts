/**
 * One agent in a process of its own: opens the home TALARIA_HOME and takes what its owner types from standard input, a line a turn. Each turn
 * answers with one line of JSON. What would be asked about is shown and agreed to, as an owner at the terminal would.
 */
import { createInterface } from 'node:readline';
import { type Approver, openTalaria } from 'talaria';

const talaria = await openTalaria({ model: 'reflex' });
const asked: string[] = [];
const approver: Approver = {
  approve: async ({ preview }) => {
    asked.push(preview);
    return { decision: 'once' };
  },
};
const talk = await talaria.talk({ source: 'example', approver });
console.log(JSON.stringify({ ready: talaria.model().id, notices: talaria.notices }));

for await (const line of createInterface({ input: process.stdin })) {
  const { text, outcome } = await talk.ask(line);
  console.log(JSON.stringify({ text, outcome, asked: asked.splice(0) }));
}
await talk.close();
await talaria.close();
