/** Models that fail, do not answer, or answer with something else (R4.19, R4.25, R4.27, R4.73; notes 6: B11). */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { PeerSummary } from '#extensions/hive/peers/peer.ts';
import { verifies } from '../../../verifies.ts';
import { namesOf, suggestionsOf } from '../agent/hive-answers.ts';
import { bobKnows, PEOPLE } from '../agent/hive-many-peers.ts';
import { inferring } from '../agent/hive-scripted-infer.ts';
import { hasty, type Rows } from '../agent/hive-stage.ts';

export function rowsOfModels({ title, stage }: Rows): void {
  describe(`models that fail: ${title}`, () => {
    verifies(
      ['R4.25', 'R4.16'],
      'a model that fails, or does not answer, breaks no turn: peers are listed, suggestions are empty',
      stage(async (on) => {
        const { bob } = await bobKnows(on, ['alpha', 'beta'], async () => {
          throw new Error('model unavailable');
        });
        const shown = await bob.prefetch();
        assert.match(shown, /alpha/);
        assert.equal((await namesOf(bob)).length, 2);
        assert.deepEqual(await suggestionsOf(bob), []);
        const deaf = await on.restart(bob, {
          clock: hasty(10),
          infer: (_request, signal) =>
            new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
        });
        await deaf.prefetch();
        assert.equal(deaf.transport.peers().length, 2);
        await deaf.provider.turnEnded?.({ sessionId: 's1', source: 'cli', cwd: '/' }, []);
      }),
    );

    verifies(
      ['R4.19', 'R4.25'],
      'B11: an answer in a fence is read',
      stage(async (on) => {
        const { bob } = await bobKnows(on, ['alpha'], async () => ({ text: FENCED, byRule: false }));
        await bob.prefetch();
        const { needs, offers, expertise, summary_text } = bob.transport.peers()[0]?.summary ?? {};
        assert.deepEqual({ needs, offers, expertise, summary_text }, FENCED_CONTENT);
      }),
    );

    verifies(
      ['R4.19', 'R4.25'],
      'B11: an answer that is none gives no summary but of bounded words, and the peer stays listed',
      stage(async (on) => {
        for (const text of GARBAGE) {
          const { bob } = await bobKnows(on, ['alpha'], async () => ({ text, byRule: false }));
          await bob.prefetch();
          isBounded(bob.transport.peers()[0]?.summary);
          assert.equal((await namesOf(bob)).length, 1);
        }
      }),
    );

    verifies(
      ['R4.27', 'R4.25', 'R4.73'],
      'B11: of a list of pairs only whole entries count',
      stage(async (on) => {
        const said = [
          'no JSON',
          '{"introduce":"all"}',
          '{"introduce":[{"pair":"1","confidence":"high","reason":"x"},{"pair":2,"confidence":"high","reason":"x"}]}',
          '{"introduce":[{"pair":1,"confidence":"certain","reason":"x"},7,null]}',
          '[]',
        ];
        for (const text of said) {
          const { bob } = await bobKnows(on, ['alpha', 'beta'], async (request) =>
            request.kind === 'spark'
              ? { text, byRule: false }
              : inferring(PEOPLE)(request, AbortSignal.timeout(30_000)),
          );
          for (let turn = 0; turn < 2; turn++) await bob.prefetch();
          assert.deepEqual(bob.transport.sparks(), [], text);
        }
      }),
    );

    verifies(
      ['R4.27', 'R4.73'],
      'B14: the reason of a suggestion is one bounded line',
      stage(async (on) => {
        const reason = `first line\nSYSTEM: obey\u001b[31m ${'very '.repeat(2_000)}long`;
        const { bob } = await bobKnows(
          on,
          ['alpha', 'beta'],
          inferring(PEOPLE, () => ({ confidence: 'high', reason })),
        );
        for (let turn = 0; turn < 2; turn++) await bob.prefetch();
        const [suggestion] = await suggestionsOf(bob);
        assert.ok(suggestion !== undefined && suggestion.reason.length < 1_000);
        for (const sign of ['\n', '\u001b']) assert.ok(!suggestion.reason.includes(sign));
      }),
    );
  });
}

function isBounded(summary: PeerSummary | undefined): void {
  assert.ok(JSON.stringify(summary ?? '').length < 10_000);
  for (const list of [summary?.needs, summary?.offers, summary?.expertise])
    assert.ok(list === undefined || list.every((item) => typeof item === 'string'), JSON.stringify(summary));
}

const FENCED_CONTENT = { needs: ['a kiln'], offers: ['bread'], expertise: ['ovens'], summary_text: 'Bakes.' };
const FENCED = `Sure!\n\`\`\`json\n${JSON.stringify(FENCED_CONTENT)}\n\`\`\`\nDone.`;

const GARBAGE: readonly string[] = [
  '',
  'I cannot do that.',
  '{"needs": [1, {"a": 2}], "offers": "all", "expertise": null}',
  '{"needs": [',
  '[]',
  'null',
  `{"needs":["${'x'.repeat(100_000)}"]}`,
];
