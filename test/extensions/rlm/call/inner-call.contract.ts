/**
 * What every InnerCall promises. `make` gives a call whose other side plays one part; the part decides what it does with each request.
 */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import type { InnerCall, InnerRequest } from '#extensions/rlm/call/inner-call.ts';
import { slow } from '../../../slow.ts';
import { verifies } from '../../../verifies.ts';

/** `echo`: the prompt again; `flood`: so many characters; `hang`: some text, then nothing for ever. */
export type Part =
  | { readonly plays: 'reply'; readonly text: string }
  | { readonly plays: 'echo' }
  | { readonly plays: 'flood'; readonly chars: number }
  | { readonly plays: 'hang' }
  | { readonly plays: 'fail' }
  | { readonly plays: 'silence' };

export interface InnerCallSetup {
  readonly make: (context: TestContext, part: Part) => InnerCall | Promise<InnerCall>;
}

export function requestOf(changes: Partial<InnerRequest> = {}): InnerRequest {
  const prompt = '{"schema_version":"rlm.hermes.input.v1"}';
  return { call_id: 'call_1', system: 'Answer.', prompt, max_output_tokens: 1_000, timeout_ms: 60_000, ...changes };
}

const SENTENCE = 'Prose, no JSON: „Größe“ 10 €, emoji 🪽, a tab\tand `{not json`.';
const OBJECT = '{\n  "mode": "execute_atomic",\n  "result": {"name": "terminal", "arguments": {"command": "ls"}}\n}';
const FENCED = 'Here it is:\n```json\n{"verdict": "passed"}\n```\nDone.';

const never = () => new AbortController().signal;

export function innerCallContract(name: string, { make }: InnerCallSetup): void {
  describe(`${name}: the contract of inner calls`, () => {
    verifies('rlm:run:provider-agnostic', 'gives the whole reply as it is, with what is known of it', async (t) => {
      for (const text of [SENTENCE, OBJECT, FENCED]) {
        const call = await make(t, { plays: 'reply', text });
        const outcome = await call.call(requestOf(), never());
        assert.ok(outcome.ok, JSON.stringify(outcome));
        const { completion, model, usage, cost, elapsed_ms } = outcome.value;
        assert.equal(completion, text);
        assert.notEqual(model, '');
        assert.ok(usage === null || (Number.isInteger(usage.input_tokens) && Number.isInteger(usage.output_tokens)));
        assert.ok(cost === null || cost >= 0);
        assert.ok(elapsed_ms >= 0);
        assert.notEqual(call.family, '');
      }
    });

    test('many calls at once get each its own reply', async (t) => {
      const call = await make(t, { plays: 'echo' });
      const prompts = [1, 2, 3, 4, 5, 6].map((n) => `{"schema_version":"x","n":${n},"text":"${'ö'.repeat(n * 50)}"}`);
      const asks = prompts.map((prompt, n) => call.call(requestOf({ prompt, call_id: `call_${n}` }), never()));
      const replies = (await Promise.all(asks)).map((outcome) => (outcome.ok ? outcome.value.completion : outcome));
      assert.deepEqual(replies, prompts);
    });

    test('what is longer than was granted is refused, without waiting for its end', async (t) => {
      for (const chars of [10_000_000, 8_001]) {
        const call = await make(t, { plays: 'flood', chars });
        const outcome = await call.call(requestOf(), never());
        assert.equal(
          outcome.ok ? 'accepted' : outcome.reason,
          'reply_too_large',
          JSON.stringify(outcome).slice(0, 400),
        );
      }
    });

    test('what just fits is taken', async (t) => {
      const call = await make(t, { plays: 'flood', chars: 8_000 });
      const outcome = await call.call(requestOf(), never());
      assert.ok(outcome.ok && outcome.value.completion.length === 8_000, JSON.stringify(outcome).slice(0, 400));
    });

    slow('a reply that never ends is a time-out', async (t) => {
      const call = await make(t, { plays: 'hang' });
      const outcome = await call.call(requestOf({ timeout_ms: 600 }), never());
      assert.equal(outcome.ok ? 'accepted' : outcome.reason, 'timeout', JSON.stringify(outcome));
    });

    test('an abort ends it, one that came before too', async (t) => {
      const call = await make(t, { plays: 'hang' });
      const controller = new AbortController();
      const work = call.call(requestOf(), controller.signal);
      // Somewhere on its way: wherever that is.
      await systemClock.sleep(250);
      controller.abort();
      const outcome = await work;
      assert.equal(outcome.ok ? 'accepted' : outcome.reason, 'cancelled', JSON.stringify(outcome));
      const again = await call.call(requestOf(), controller.signal);
      assert.equal(again.ok ? 'accepted' : again.reason, 'cancelled');
    });

    test('a failure and an empty reply are refusals that say who and why', async (t) => {
      for (const plays of ['fail', 'silence'] as const) {
        const call = await make(t, { plays });
        const outcome = await call.call(requestOf(), never());
        assert.ok(!outcome.ok, plays);
        assert.match(outcome.reason, /^runtime_(error|unsuccessful)$/, plays);
        assert.ok(outcome.detail.length > 10, `${plays}: ${outcome.detail}`);
      }
    });
  });
}
