/** What reflex is held to (reflex 12), on the given batches of phrasings, whose authors had not seen the rules. Prints the rates. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { describe } from 'node:test';
import { userMessage } from '#core/model/message.ts';
import { createReflexClient } from '#core/reflex/reflex-client.ts';
import { stride } from '../../property-runs.ts';
import { verifies } from '../../verifies.ts';
import { rules, toolNames } from './all-rules.ts';
import { ReflexConversation } from './conversation.ts';
import { judgePhrasing, type Phrasing } from './judge-phrasing.ts';

const FOLDER = new URL('../../data/reflex/', import.meta.url);
const REFUSAL = /^I am reflex\/1/;

function load<Item>(kind: string, batches: readonly number[]): readonly Item[] {
  const files = batches.map((batch) => `${kind}-${batch}.json`);
  return files.flatMap((name) => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')).items);
}

/** Numbers of all batches. */
export function allBatches(): readonly number[] {
  const files = readdirSync(FOLDER).filter((name) => name.startsWith('commands') && name.endsWith('.json'));
  return files.map((name) => Number(/\d+/.exec(name)?.[0])).sort((a, b) => a - b);
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`;
}

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

export function heldTo(name: string, batches: readonly number[]): void {
  const commands = load<Phrasing>('commands', batches);
  const others = load<{ readonly id: string; readonly text: string }>('others', batches);

  describe(`reflex is held to, ${name}`, () => {
    verifies('core:reflex:phrasings', 'nine of ten phrasings give the right tool and arguments', async () => {
      assert.ok(commands.length >= 300);
      const wrong: string[] = [];
      for (const phrasing of commands) {
        const verdict = await judgePhrasing(phrasing);
        if (!verdict.right) wrong.push(`${phrasing.id} ${phrasing.text} → ${verdict.seen}`);
      }
      const right = commands.length - wrong.length;
      console.log(`reflex: ${right} of ${commands.length} phrasings right (${percent(right, commands.length)})`);
      assert.ok(right / commands.length >= 0.9, wrong.join('\n'));
    });

    verifies('core:reflex:asks-before-writing', 'no destructive command runs without a question', async () => {
      const destructive = commands.filter((phrasing) => phrasing.destructive === true);
      assert.ok(destructive.length > 0);
      for (const phrasing of destructive) assert.equal((await judgePhrasing(phrasing)).unasked, false, phrasing.text);
    });

    verifies('core:reflex:no-false-action', 'other sentences run nothing and are refused or asked about', async () => {
      assert.ok(others.length >= 300);
      let refused = 0;
      for (const { text } of others) {
        const turn = await new ReflexConversation().say(text);
        assert.deepEqual(turn.calls, [], text);
        if (turn.asked || REFUSAL.test(turn.text)) refused += 1;
      }
      console.log(
        `reflex: ${refused} of ${others.length} other sentences refused or asked (${percent(refused, others.length)})`,
      );
      assert.ok(refused / others.length >= 0.98);
    });

    verifies('core:reflex:fast', 'a turn takes at most 20 ms beside the tools', async () => {
      const times = [
        ...(await bestTimes([...commands, ...others].filter((_, at) => at % stride() === 0).map(({ text }) => text))),
      ];
      times.sort((left, right) => left - right);
      const p99 = times[Math.floor(times.length * 0.99)] ?? 0;
      console.log(`reflex: a turn takes ${p99.toFixed(1)} ms (99 of 100)`);
      assert.ok(p99 <= 20, `${p99} ms`);
    });
  });
}
