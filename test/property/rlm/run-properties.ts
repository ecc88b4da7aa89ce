/** A run over replies that are garbage, mutated or hostile: whatever comes, what is accepted stands in its chunk. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { InnerRefusal } from '#extensions/rlm/call/inner-call.ts';
import { runEngine as scaffoldEngine } from '#extensions/rlm/engine.ts';
import { EvidenceWords } from '#extensions/rlm/guard/manifest.ts';
import type { RunOutcome } from '#extensions/rlm/outcome.ts';
import { replayRun } from '#extensions/rlm/trace/replay.ts';
import { verifyRun } from '#extensions/rlm/trace/verify-run.ts';
import {
  harbour,
  honest,
  type Prepared,
  recordOf,
  requestOver,
  run,
  scripted,
} from '../../extensions/rlm/run/run-ground.ts';
import { treeFaults } from '../../extensions/rlm/tree/tree-faults.ts';

/** Turns the honest reply into something else, or leaves it. */
type Twist = (honestReply: string, prompt: string) => string | { readonly refuse: InnerRefusal };

const WORDS = ['not', 'no', '99', 'HB-777', 'harbour.txt:1-2', 'rain', 'pier 3', 'master', '-', '0'];

const twist: fc.Arbitrary<Twist> = fc.oneof(
  fc.constant<Twist>((reply) => reply),
  fc.string().map(
    (text): Twist =>
      () =>
        text,
  ),
  fc.json().map(
    (text): Twist =>
      () =>
        text,
  ),
  fc.nat(2_000).map(
    (at): Twist =>
      (reply) =>
        reply.slice(0, at),
  ),
  fc.constant<Twist>((_, prompt) => prompt),
  fc.constant<Twist>((reply, prompt) => `${prompt}\n${reply}`),
  fc.constant<Twist>((reply) => `Sure!\n\`\`\`json\n${reply}\n\`\`\``),
  fc.constantFrom<InnerRefusal>('timeout', 'no_model', 'runtime_error', 'reply_too_large', 'runtime_unsuccessful').map(
    (refuse): Twist =>
      () => ({ refuse }),
  ),
  fc.constant<Twist>((reply) => reply.replaceAll('passed', 'pass')),
  fc.constant<Twist>((reply) => reply.replace(/"evidence_chunk_id":"[^"]*"/g, '"evidence_chunk_id":null')),
  fc.tuple(fc.nat(3_000), fc.constantFrom(...WORDS)).map(
    ([at, word]): Twist =>
      (reply) =>
        `${reply.slice(0, at)}${word}${reply.slice(at)}`,
  ),
  fc.tuple(fc.constantFrom('counted', 'ships', '1', 'HB', 'harbour', 'pier'), fc.constantFrom(...WORDS)).map(
    ([from, to]): Twist =>
      (reply) =>
        reply.replaceAll(from, to),
  ),
);

export const shape = fc.record({
  chunks: fc.integer({ min: 1, max: 9 }),
  max_in_flight: fc.integer({ min: 1, max: 4 }),
  max_retries: fc.integer({ min: 0, max: 2 }),
  decompose: fc.boolean(),
  twists: fc.array(twist, { minLength: 1, maxLength: 12 }),
});

export function twisted(twists: readonly Twist[]) {
  let at = 0;
  // By call, so that a window of any size hears the same.
  const chosen = new Map<string, Twist>();
  return scripted((call_id, prompt) => {
    const one = chosen.get(call_id) ?? twists[at++ % twists.length];
    chosen.set(call_id, one as Twist);
    return one?.(honest(prompt), JSON.stringify(prompt));
  });
}

export function prepared({
  chunks,
  max_in_flight,
  max_retries,
  decompose,
}: {
  readonly chunks: number;
  readonly max_in_flight: number;
  readonly max_retries: number;
  readonly decompose: boolean;
}): Prepared {
  const limits = { max_depth: 5, max_iterations: 500, max_in_flight, max_retries };
  return requestOver(harbour(chunks), { limits, decompose });
}

export function assertSupported(outcome: RunOutcome, { request, texts }: Prepared): void {
  const text = new Map(request.chunks.map(({ chunk_id }, at) => [chunk_id, texts[at] ?? '']));
  const evidence = new Map(outcome.evidence.map((fact) => [fact.fact_id, fact]));
  assert.equal(evidence.size, outcome.evidence.length);
  for (const fact of outcome.evidence) {
    assert.ok(text.get(fact.chunk_id)?.includes(fact.text), `${fact.text} does not stand in ${fact.chunk_id}`);
    const { place } = fact;
    assert.ok(place);
    assert.equal(Buffer.from(texts.join('')).subarray(place.start_byte, place.end_byte).toString(), fact.text);
  }
  for (const claim of outcome.claims) {
    assert.ok(claim.fact_ids.length > 0);
    for (const id of claim.fact_ids) {
      const fact = evidence.get(id);
      assert.ok(fact, `${id} is no evidence`);
      const words = new EvidenceWords(fact.fact_id, fact.text);
      assert.ok(words.says(claim.text) || claim.text.split('\n').every((line) => words.says(line)));
    }
  }
  assert.equal(outcome.verdict === 'accepted', outcome.claims.length > 0);
  assert.deepEqual(treeFaults(outcome.tree), []);
}

/** Accepted ⊆ evidence ⊆ chunks, sound links, an equal replay. */
export async function runSupports(numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(shape, async (asked) => {
      const ground = prepared(asked);
      const done = await run(ground, { inner: twisted(asked.twists) });
      assertSupported(done.outcome, ground);
      const record = recordOf(done);
      assert.deepEqual(verifyRun(record), []);
      const replay = await replayRun(record, { run: scaffoldEngine }, new AbortController().signal);
      assert.equal('result' in replay ? replay.result : replay.reason, 'same');
    }),
    { numRuns },
  );
}
