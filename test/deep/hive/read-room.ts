/** All that was said between two, as one of them reads it. */
import type { HiveAgent } from '../../contract/hive/hive-agent.ts';

/** Newest first. */
export async function messagesIn(agent: HiveAgent, peer: string): Promise<readonly string[]> {
  const messages = await agent.transport.messages(peer, { limit: 1_000 }, AbortSignal.timeout(60_000));
  return messages.map(({ text }) => text);
}
