/**
 * Three agents of one program meet over a hub in memory: no server, no account, no network. Alice introduces Bob and Carol, who then write to
 * each other. reflex/1 answers, by rules; no model has a part in it. `node examples/peers-in-one-process.ts`
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTalaria } from 'talaria';
import { createHivemindProvider, createPeerHub } from 'talaria/peers';

const folder = mkdtempSync(join(tmpdir(), 'talaria-example-'));
const hub = createPeerHub();
const { signal } = new AbortController();

async function agent(id: string) {
  const home = join(folder, id);
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(join(home, 'config.yaml'), 'memory:\n  provider: hivemind\n');
  const provider = createHivemindProvider({ open: async () => hub.join(id) });
  const talaria = await openTalaria({ home, model: 'reflex', extras: { memoryProviders: [provider] } });
  const talk = await talaria.talk({ source: 'example' });
  return {
    says: async (line: string) => console.log(`${id}> ${line}\n${(await talk.ask(line)).text.replace(/^/gm, '    ')}`),
    close: async () => {
      await talk.close();
      await talaria.close();
    },
  };
}

// The first contact is yours to make: nobody has introduced anybody yet.
const contacts = hub.join('hermes-of-alice@hub');
for (const [id, context] of [
  ['hermes-of-bob@hub', 'Bob builds compilers.'],
  ['hermes-of-carol@hub', 'Carol audits what others build.'],
] as const)
  await contacts.contact({ id, context, about: 'Alice knows them both.' }, signal);

const alice = await agent('hermes-of-alice@hub');
const bob = await agent('hermes-of-bob@hub');
const carol = await agent('hermes-of-carol@hub');

await alice.says('introduce hermes-of-bob and hermes-of-carol: she can audit his compiler');
await bob.says('who is hermes-of-carol?');
await bob.says('tell hermes-of-carol: the compiler is ready for you');
await carol.says('any new messages?');

for (const each of [alice, bob, carol]) await each.close();
rmSync(folder, { recursive: true, force: true });
