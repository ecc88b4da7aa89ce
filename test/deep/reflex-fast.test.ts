/** What a turn of reflex costs: the one place that measures it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { userMessage } from '#core/model/message.ts';
import { createReflexClient } from '#core/reflex/reflex-client.ts';
import { folder, rules, toolNames } from '../core/reflex/all-rules.ts';
import { verifies } from '../verifies.ts';

verifies('core:reflex:fast', 'a turn takes at most 20 ms beside the tools, however the line is written', async () => {
  const file = readFileSync(new URL('../data/reflex/phrasings.jsonl', import.meta.url), 'utf8');
  const odd = [`find ${'word '.repeat(700)}`, 'read a and '.repeat(300), '( '.repeat(1900)];
  const lines = [
    ...file
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).line),
    ...odd,
  ];
  const client = createReflexClient(rules, { folder: () => folder });
  const tools = toolNames.map((name) => ({ name, description: '', parameters: {} }));
  const timeOf = async (text: string): Promise<number> => {
    const request = { system: '', messages: [userMessage(text)], tools, purpose: 'answer' } as const;
    const start = process.threadCpuUsage();
    for await (const _event of client.stream(request, new AbortController().signal));
    const { user, system } = process.threadCpuUsage(start);
    return (user + system) / 1_000;
  };
  for (const line of lines) await timeOf(line);
  /** Of the processor, and the best of some tries: what else the machine does is no part of a turn. */
  const bestOf = async (line: string): Promise<number> => {
    let best = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < 2 || (best > 20 && tries < 150); tries += 1) best = Math.min(best, await timeOf(line));
    return best;
  };
  const times: number[] = [];
  for (const line of lines) times.push(await bestOf(line));
  const worst = Math.max(...times);
  console.log(
    `reflex: a turn takes ${(times.reduce((a, b) => a + b) / times.length).toFixed(1)} ms, at most ${worst.toFixed(1)}`,
  );
  assert.ok(worst <= 20, `${worst} ms`);
});
