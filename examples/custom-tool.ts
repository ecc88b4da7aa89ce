/**
 * Bring a tool of your own. The model is scripted here, so that the example runs offline and always
 * calls it; leave `client` out to use whatever model is set up. `node examples/custom-tool.ts`
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool, openTalaria } from 'talaria';
import { createScriptedModel } from 'talaria/testing';
import { z } from 'zod';

const tides = defineTool({
  name: 'tide',
  description: 'Height of the tide at a harbour, in metres.',
  input: z.object({ harbour: z.string() }),
  toolset: 'harbour',
  effect: 'read',
  run: async ({ harbour }) => ({ text: `${harbour}: 2.4 m, rising`, origin: 'observed' }),
});

const client = createScriptedModel([
  { calls: [{ name: 'tide', arguments: { harbour: 'Piraeus' } }] },
  'The tide at Piraeus is 2.4 m and rising.',
]);

const home = mkdtempSync(join(tmpdir(), 'talaria-example-'));
const talaria = await openTalaria({ home, client, extras: { tools: [tides] } });
const talk = await talaria.talk();
for await (const event of talk.send('How high is the water at Piraeus?')) {
  if (event.type === 'tool-end') console.log(`tool ${event.name}: ${event.result.text}`);
  if (event.type === 'turn-end') console.log(event.text);
}
await talaria.close();
