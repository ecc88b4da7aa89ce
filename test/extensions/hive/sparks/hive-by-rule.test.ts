// Sparks without a model: what is labelled is quoted, two who name the same thing are suggested, and nobody else is.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { sparkTasks } from '#extensions/hive/sparks/by-rule.ts';
import { readPairs, readSummary } from '#extensions/hive/sparks/questions.ts';
import { verifies } from '../../../verifies.ts';
import { stageEngine } from './hive-engine-stage.ts';

async function answer(input: JsonObject): Promise<string> {
  const task = sparkTasks().find(({ schema }) => schema === input.schema_version) ?? assert.fail();
  return (await task.load())(input);
}

async function summaryOf(text: string, ...messages: readonly (readonly [author: string, text: string])[]) {
  const read = readSummary(
    await answer({
      schema_version: 'peer-summary/1',
      peer: { name: 'hermes-of-bob' },
      introduction: { by: 'hermes-of-alice', text },
      messages: messages.map(([author, said]) => ({ author, from: 'x', time: '', text: said })),
    }),
  );
  return read.ok ? read.value : assert.fail(read.detail);
}

/** What one turn and the next suggest of two peers of whom this was said. */
async function suggested(one: string, other: string): Promise<readonly string[]> {
  const tasks = new Map(sparkTasks().map((task) => [task.schema, task.load]));
  const answers = async (input: JsonObject) => (await tasks.get(String(input.schema_version))?.())?.(input) ?? '';
  const { transport, restart } = stageEngine([
    { name: 'ann', context: one },
    { name: 'ben', context: other },
  ]);
  await restart(async ({ input }) => ({ text: await answers(input), byRule: true })).run(
    transport,
    new AbortController().signal,
  );
  return transport.stored.map(({ reason }) => reason);
}

const NATURAL: readonly (readonly [one: string, other: string])[] = [
  ['Ann is looking for someone to review her grant application.', 'Ben has written forty winning grants.'],
  ['We keep losing packets between Lisbon and Oslo.', 'Network engineer, fifteen years of BGP.'],
  ['Runs a bakery; the oven thermostat is unreliable.', 'Repairs industrial kitchen equipment.'],
  ['Ann’s students have nobody to practise Portuguese with.', 'Retired teacher from Porto with free afternoons.'],
  ['I would love to get my thesis typeset properly.', 'LaTeX is my second language.'],
  ['The museum has 3,000 glass negatives and no scanner.', 'Digitises photographic archives for a living.'],
  ['Sucht jemanden für die Steuererklärung.', 'Steuerberaterin, nimmt neue Mandanten.'],
  ['Needs: a sworn translation, Polish to English', 'Offers: sworn translations (Polish, English)'],
  ['Needs: a security audit of an enclave', 'Carol. Offers: security audits of enclaves; reviews'],
  ['offers: bicycle frame repair', 'Commutes daily.\nneeds: repair of a bicycle frame, a pump'],
];

const ABSURD: readonly (readonly [one: string, other: string])[] = [
  ['Needs: a python developer', 'Offers: python breeding for developers of reptile parks'],
  ['Needs: a bank account for a club', 'Offers: an account of the flood at the river bank'],
  ['Needs: no security audits any more', 'Offers: security audits'],
  ['Needs: help with a house', 'Offers: help'],
  ['Ann says that Ben needs: security audits', 'Offers no: security audits'],
];

describe('sparks by rule', () => {
  verifies('R4.19', 'a summary holds what is labelled, word for word, newest first, and of nobody else', async () => {
    assert.deepEqual(
      await summaryOf(
        'Bob builds. Needs: an auditor for TEE 1.5 code, a lawyer. He offers: nothing',
        ['peer', 'hello\nOffers: Rust reviews\nneeds: a drummer; offers: tea'],
        ['me', 'Needs: a lawyer in Rome'],
        ['other', 'Offers: spam'],
      ),
      {
        needs: ['a drummer', 'an auditor for TEE 1.5 code', 'a lawyer'],
        offers: ['tea', 'Rust reviews'],
        expertise: [],
        summary_text: '',
      },
    );
    const plain = await summaryOf('Bob needs a security audit and offers tea.', ['peer', '> Needs: tea']);
    assert.deepEqual([plain.needs, plain.offers], [[], []]);
  });

  verifies(['R4.21', 'R4.29'], 'of ten natural pairs it finds those that say the same, and quotes both', async () => {
    const found = await Promise.all(NATURAL.map(([one, other]) => suggested(one, other)));
    assert.deepEqual(found.flat(), [
      'ann needs "a security audit of an enclave"; ben offers "security audits of enclaves".',
      'ben needs "repair of a bicycle frame"; ann offers "bicycle frame repair".',
    ]);
  });

  verifies('R4.27', 'of five absurd pairs it suggests none', async () => {
    for (const [one, other] of ABSURD) assert.deepEqual(await suggested(one, other), [], one);
  });

  test('what is no such question gives nothing', async () => {
    const bad = { peers: 'all', messages: 7, agents: [], pairs: [{ pair: 1, a: 'p1', b: 'p2' }] };
    const summary = readSummary(await answer({ schema_version: 'peer-summary/1', ...bad }));
    assert.deepEqual(summary.ok && summary.value.needs, []);
    assert.deepEqual(readPairs(await answer({ schema_version: 'peer-pairs/1', ...bad }), 1), { ok: true, value: [] });
  });
});
