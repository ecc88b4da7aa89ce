/**
 * Three agents of one program meet over a hub in memory: no server, no account, no network. Alice introduces Bob and Carol; Bob writes, and is
 * asked before it leaves. reflex/1 answers, by rules; no model has a part in it. `node examples/peers-in-one-process.ts`
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Approver, openTalaria } from 'talaria';
import { createHivemindProvider, createPeerHub } from 'talaria/peers';

const folder = mkdtempSync(join(tmpdir(), 'talaria-example-'));
const hub = createPeerHub();
const { signal } = new AbortController();

/** The owner, who says yes to what is shown. */
const approver: Approver = {
  approve: async ({ preview }) => {
    console.log(`    asks first, and the owner says yes: ${preview.replaceAll('\n', ' ')}`);
    return { decision: 'once' };
  },
};

async function agent(id: string) {
  const home = join(folder, id);
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(join(home, 'config.yaml'), 'memory:\n  provider: hivemind\n');
  const provider = createHivemindProvider({ open: async () => hub.join(id) });
  const talaria = await openTalaria({ home, model: 'reflex', extras: { memoryProviders: [provider] } });
  const talk = await talaria.talk({ source: 'example', approver });
  return {
    says: async (line: string) => {
      console.log(`${id}> ${line}`);
      console.log((await talk.ask(line)).text.replace(/^/gm, '    '));
    },
    close: async () => {
      await talk.close();
      await talaria.close();
    },
  };
}

// The first contact is yours to make: nobody has introduced anybody yet.
const contacts = hub.join('hermes-of-alice@hub');
const [a, b] = ['hermes-of-bob@hub', 'hermes-of-carol@hub'] as const;
const [contextOfA, contextOfB] = ['Bob builds compilers.', 'Carol audits what others build.'] as const;
await contacts.contact({ id: a, context: contextOfA, about: 'Alice knows them both.' }, signal);
await contacts.contact({ id: b, context: contextOfB, about: 'Alice knows them both.' }, signal);
await contacts.introduce({ a, b, contextOfA, contextOfB, reason: 'she can audit his compiler' }, signal);

const bob = await agent(a);
const carol = await agent(b);

await bob.says('list peers');
await bob.says('send hermes-of-carol "the compiler is ready for you"');
await carol.says('messages from hermes-of-bob');

for (const each of [bob, carol]) await each.close();
rmSync(folder, { recursive: true, force: true });
