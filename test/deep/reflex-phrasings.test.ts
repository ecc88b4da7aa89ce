/** Every batch of phrasings, and what a turn of reflex costs: the one place that measures it. */
import assert from 'node:assert/strict';
import { userMessage } from '#core/model/message.ts';
import { createReflexClient } from '#core/reflex/reflex-client.ts';
import { rules, toolNames } from '../core/reflex/all-rules.ts';
import { allBatches, heldTo, load } from '../core/reflex/held-to.contract.ts';
import { verifies } from '../verifies.ts';

heldTo('all batches', allBatches());

verifies('core:reflex:fast', 'a turn takes at most 20 ms beside the tools', async () => {
  const lines = ['commands', 'others'].flatMap((kind) => load<{ readonly text: string }>(kind, allBatches()));
  const times = [...(await bestTimes(lines.filter((_, at) => at % 4 === 0).map(({ text }) => text)))];
  times.sort((left, right) => left - right);
  const p99 = times[Math.floor(times.length * 0.99)] ?? 0;
  console.log(`reflex: a turn takes ${p99.toFixed(1)} ms (99 of 100)`);
  assert.ok(p99 <= 20, `${p99} ms`);
});

/** Ms of each turn, the better of two passes: what the turn takes, not what else the machine does at that moment. */
async function bestTimes(texts: readonly string[]): Promise<readonly number[]> {
  const client = createReflexClient(rules);
  const tools = toolNames.map((name) => ({ name, description: '', parameters: {} }));
  const timeOf = async (text: string): Promise<number> => {
    const request = { system: '', messages: [userMessage(text)], tools, purpose: 'answer' } as const;
    const start = performance.now();
    for await (const _event of client.stream(request, new AbortController().signal));
    return performance.now() - start;
  };
  const times: number[] = [];
  for (const text of texts) times.push(await timeOf(text));
  for (const [at, text] of texts.entries()) times[at] = Math.min(times[at] ?? 0, await timeOf(text));
  return times;
}
