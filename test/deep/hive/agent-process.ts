/**
 * An agent in a process of its own, to be measured or killed: `node agent-process.ts JSON`. It does one kind of thing over and over and
 * says each on a line once it is done.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type HiveAgent, openAgent } from '../../contract/hive/hive-agent.ts';
import type { TestAccount, TestHomeserver } from '../../contract/hive/hive-stage.ts';

export interface AgentTask {
  readonly url: string;
  readonly serverName: string;
  readonly account: TestAccount;
  readonly e2ee: boolean;
  readonly encryptAccountData: boolean;
  readonly folder: string;
  readonly act:
    | { readonly type: 'prefetch'; readonly times: number; readonly report: number }
    | { readonly type: 'talk'; readonly to: readonly string[]; readonly from: number; readonly count: number }
    | { readonly type: 'introduce'; readonly pairs: readonly (readonly [string, string])[] }
    | { readonly type: 'look' };
}

const task = JSON.parse(process.argv[2] ?? '') as AgentTask;
const { url, serverName, account, e2ee, encryptAccountData, folder } = task;
const refuse = async (): Promise<never> => {
  throw new Error('this process has no server of its own');
};
const server: TestHomeserver = {
  name: 'elsewhere',
  url,
  serverName,
  register: refuse,
  signIn: refuse,
  storedText: refuse,
};
const agent = await openAgent(server, account, { e2ee, encryptAccountData, folder });
await act(agent);
console.log('OVER');

async function act(who: HiveAgent): Promise<void> {
  const { act: what } = task;
  await who.prefetch();
  console.log('READY');
  if (what.type === 'prefetch') await prefetchAll(who, what);
  else if (what.type === 'talk') await talk(who, what);
  else if (what.type === 'introduce') await introduceAll(who, what.pairs);
  else for (const { peer } of who.transport.peers()) await who.call('hivemind_check_messages', { peer: peer.id });
}

async function talk(who: HiveAgent, what: Extract<AgentTask['act'], { type: 'talk' }>): Promise<void> {
  for (let n = what.from; n < what.from + what.count; n++) {
    const peer = what.to[n % what.to.length] ?? '';
    const { isError, text } = await who.call('hivemind_send_to_peer', { peer, message: `number ${n} for ${peer}` });
    console.log(isError ? `FAILED ${n} ${text}` : `DONE ${n}`);
  }
}

async function introduceAll(who: HiveAgent, pairs: readonly (readonly [string, string])[]): Promise<void> {
  for (const [n, [peer_a, peer_b]] of pairs.entries()) {
    const { isError, text } = await who.call('hivemind_introduce_peers', { peer_a, peer_b, reason: `pair ${n}` });
    console.log(isError ? `FAILED ${n} ${text}` : `DONE ${n}`);
  }
}

async function prefetchAll(who: HiveAgent, what: { times: number; report: number }): Promise<void> {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  for (let n = 1; n <= what.times; n++) {
    await who.prefetch();
    if (n % what.report > 0) continue;
    gc();
    console.log(`HEAP ${n} ${process.memoryUsage().heapUsed}`);
  }
}
