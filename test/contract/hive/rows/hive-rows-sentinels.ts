/** What a server can read when both switches are on: nothing that was said, or noted about anybody (R4.36, R4.74; notes 5). */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../../../verifies.ts';
import { messagesOf, send, suggestionsOf } from '../agent/hive-answers.ts';
import { acquainted, introduceByHand, NEVER, opaque } from '../agent/hive-scenes.ts';
import type { HiveStage, Rows } from '../agent/hive-stage.ts';

/** Twenty that nobody may find, and one that is said in clear: words that occur nowhere else, with a quotation mark and a sign beyond ASCII, since those are written in more than one way. */
const SENTINELS: readonly string[] = Array.from(
  { length: 21 },
  (_, i) => `sentinel-${i}-"näh€r"-${(i * 7_919 + 104_729).toString(36)}`,
);

/** The forms in which a server might keep a text; base64 at each of the three places where it may begin. */
function formsOf(text: string): readonly string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const ascii = json.replace(/[\u0080-\uffff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const inBase64 = [0, 1, 2].map((shift) => {
    const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(text)]);
    const coded = bytes.toString('base64').replace(/=+$/, '');
    return coded.slice(shift === 0 ? 0 : 4, -3);
  });
  return [
    text,
    json,
    ascii,
    encodeURIComponent(text),
    text.split('"')[0] ?? text,
    ...inBase64,
    Buffer.from(text).toString('hex'),
  ];
}

export function rowsOfSentinels({ title, stage }: Rows): void {
  describe(`what the server keeps: ${title}`, () => {
    verifies(
      ['R4.36', 'R4.74'],
      'none of twenty sentinels (messages, contexts, summaries, reasons, needs) is in the server’s store, in any form',
      stage(async (on) => {
        await sayAll(on);
        const stored = await on.server.storedText();
        assert.ok(stored.length > 10_000 && stored.includes('m.megolm.v1.aes-sha2'), 'the store was read');
        const found = SENTINELS.slice(0, 20).filter((sentinel) =>
          formsOf(sentinel).some((form) => stored.includes(form)),
        );
        assert.deepEqual(found, []);
      }),
    );

    verifies(
      'R4.74',
      'the search finds what is kept in clear',
      stage(async (on) => {
        const [alice, bob] = [await on.raw('alice'), await on.raw('bob')];
        const inClear = SENTINELS[20] ?? '';
        await introduceByHand(alice, [[bob, inClear]]);
        const stored = await on.server.storedText();
        assert.ok(formsOf(inClear).some((form) => stored.includes(form)));
      }),
    );
  });
}

async function sayAll(on: HiveStage): Promise<void> {
  const [c1, c2, about, why, m1, m2, m3, m4, m5, reason] = SENTINELS as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const summary = (i: number) => ({
    needs: [SENTINELS[i]],
    offers: [SENTINELS[i + 1]],
    expertise: [SENTINELS[i + 2]],
    summary_text: SENTINELS[i + 3],
  });
  const alice = await on.agent('hermes-of-alice', {
    infer: async ({ kind, input }) => ({
      byRule: false,
      text:
        kind === 'spark'
          ? JSON.stringify({ introduce: [{ pair: 1, confidence: 'high', reason }] })
          : JSON.stringify(summary(JSON.stringify(input).includes('sentinel-0-') ? 10 : 14)),
    }),
  });
  const { bob, carol } = await acquainted(on, alice, { bob: c1, carol: c2 });
  const dave = await on.agent('hermes-of-dave');
  await dave.prefetch();
  await alice.transport.contact({ id: dave.id, context: SENTINELS[18] ?? '', about }, NEVER);
  await dave.prefetch();
  await alice.prefetch();
  assert.equal((await suggestionsOf(alice))[0]?.reason, reason);
  await send(alice, bob.name, m1);
  await send(bob, alice.name, m2);
  const answer = await alice.call('hivemind_introduce_peers', { peer_a: bob.name, peer_b: carol.name, reason: why });
  assert.equal(answer.isError, false, answer.text);
  for (const agent of [bob, carol, bob, alice]) await agent.prefetch();
  await send(bob, carol.name, m3);
  await send(carol, bob.name, m4);
  await carol.transport.send(bob.id, `${m5} ${SENTINELS[19]}`, NEVER);
  for (const agent of [bob, carol, alice]) await agent.prefetch();
  const heard = (await messagesOf(bob, opaque(carol))).map(({ text }) => text);
  assert.ok(
    [m3, m4].every((text) => heard.includes(text)),
    heard.join(' | '),
  );
}
