/** Bob, introduced by hand to several people about whom a scripted model has something to say. */
import type { HiveRawClient } from '../hive-raw-client.ts';
import type { HiveAgent } from './hive-agent.ts';
import { introduceByHand } from './hive-scenes.ts';
import type { ScriptedInfer } from './hive-scripted-infer.ts';
import type { HiveStage } from './hive-stage.ts';

export interface Introduced {
  readonly who: HiveRawClient;
  readonly room: string;
}

let scenes = 0;

/** Bob, introduced to one peer for each of these words; `word` stands in the peer's context. */
export async function bobKnows(
  on: HiveStage,
  words: readonly string[],
  infer: ScriptedInfer | undefined,
): Promise<{ bob: HiveAgent; peers: readonly Introduced[] }> {
  scenes += 1;
  const alice = await on.raw(`alice-${scenes}`);
  const bob = await on.agent(`bob-${scenes}`, infer === undefined ? {} : { infer });
  const peers: Introduced[] = [];
  for (const word of words) {
    const who = await on.raw(`${word}-person-${scenes}`);
    const room = await introduceByHand(alice, [
      [bob, 'Bob'],
      [who, `Somebody with ${word} skills.`],
    ]);
    await who.join(room);
    peers.push({ who, room });
  }
  return { bob, peers };
}

export const ALPHA = {
  needs: ['a compiler'],
  offers: ['apples'],
  expertise: ['orchards'],
  summary_text: 'Alpha grows apples.',
};
const BETA = { needs: ['apples'], offers: ['a compiler'], expertise: ['parsing'], summary_text: 'Beta compiles.' };
const GAMMA = { needs: ['water'], offers: ['wine'], expertise: ['miracles'], summary_text: 'Gamma turns.' };
export const PEOPLE = { alpha: ALPHA, beta: BETA, gamma: GAMMA };
/** Every pair fits. */
export const always =
  (confidence = 'high') =>
  () => ({ reason: 'Each needs what the other offers.', confidence });
