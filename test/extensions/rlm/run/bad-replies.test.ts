import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { refuse } from '#base/result.ts';
import { verifies } from '../../../verifies.ts';
import { treeFaults } from '../tree/tree-faults.ts';
import {
  childReply,
  harbour,
  honest,
  objectOf,
  parentReply,
  requestOver,
  run,
  type Script,
  scripted,
  shownFacts,
} from './run-ground.ts';

const CHUNK_2 = 'rlm_call_atomic_chunk_002';
const PARENT = 'rlm_call_atomic_synthesis';

/** The same bad reply whenever the second chunk is asked. */
async function withChild(reply: string | ((prompt: string) => string)) {
  const inner = scripted();
  const bad = scripted((call_id, prompt) => {
    if (!call_id.startsWith(CHUNK_2)) return undefined;
    return typeof reply === 'string' ? reply : reply(JSON.stringify(prompt));
  });
  const done = await run(requestOver(harbour(3)), { inner: bad });
  assert.deepEqual(treeFaults(done.outcome.tree), []);
  return { ...done, inner: bad, honest: inner };
}

async function withParent(script: Script) {
  const inner = scripted((call_id, prompt) => (call_id.startsWith(PARENT) ? script(call_id, prompt) : undefined));
  const done = await run(requestOver(harbour(3)), { inner });
  assert.deepEqual(treeFaults(done.outcome.tree), []);
  return { ...done, inner };
}

describe('a child', () => {
  for (const [name, reply] of [
    ['prose that quotes nothing', 'I am sorry, I could not find anything useful in there.'],
    [
      'a reply that was cut off',
      '{"mode": "execute_atomic", "verdict": "passed", "result": {"observed_facts": [{"text": "FACT:HB-002 The',
    ],
    ['an empty reply', '   '],
    ['an echo of the prompt', (prompt: string) => prompt],
    ['nested arrays', `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
    ['null', 'null'],
  ] as const) {
    verifies(
      'rlm:run:failed-child',
      `with ${name} is asked once more, then a gap; the others are put together`,
      async () => {
        const { outcome, inner } = await withChild(reply);
        assert.equal(outcome.verdict, 'accepted');
        assert.deepEqual(
          outcome.claims.map(({ fact_ids }) => fact_ids[0]),
          ['HB-001', 'HB-003'],
        );
        assert.equal(inner.requests.filter(({ call_id }) => call_id.startsWith(CHUNK_2)).length, 2);
        assert.deepEqual(
          outcome.gaps.map(({ what }) => what),
          ['harbour.txt:3-4'],
        );
        assert.match(inner.requests.at(-1)?.prompt ?? '', /"completion_status":"failed"/);
      },
    );
  }

  test('that is asked again is told what was wrong', async () => {
    const fact = { text: 'Gulls circled above pier 2 all day.' };
    const { inner } = await withChild(JSON.stringify({ result: { observed_facts: [fact] } }));
    const again = inner.requests.find(({ call_id }) => call_id === `${CHUNK_2}_retry_1`);
    assert.match(again?.prompt ?? '', /Your last reply was refused:.*verdict/);
  });

  test('that answers in a fence, with a preface, is read', async () => {
    const { outcome, inner } = await withChild(
      (prompt) => `Here it is:\n\`\`\`json\n${honest(JSON.parse(prompt))}\n\`\`\`\nBye.`,
    );
    assert.equal(outcome.claims.length, 3);
    assert.equal(inner.requests.length, 4);
  });

  test('that answers in prose is heard where its lines stand in the chunk, and nowhere else', async () => {
    const { outcome } = await withChild(
      '- Gulls circled above pier 2 all day.\nThe harbour master counted 99 ships.\nship',
    );
    assert.deepEqual(outcome.evidence.map(({ text }) => text).sort(), [
      'FACT:HB-001 The harbour master counted 11 ships at pier 1.',
      'FACT:HB-003 The harbour master counted 13 ships at pier 3.',
      'Gulls circled above pier 2 all day.',
    ]);
    assert.deepEqual(outcome.refused_facts, []);
  });

  test('that invents, alters or misplaces a quotation is refused it, with the reason', async () => {
    const facts = [
      {
        fact_id: 'HB-002',
        text: 'FACT:HB-002 The harbour master counted 12 ships at pier 2.',
        evidence_chunk_id: 'harbour.txt:3-4',
      },
      { fact_id: 'HB-999', text: 'A whale was seen.', evidence_chunk_id: 'harbour.txt:3-4' },
      {
        fact_id: 'HB-002',
        text: 'The harbour master counted 2 ships at pier 2.',
        evidence_chunk_id: 'harbour.txt:3-4',
      },
      {
        fact_id: 'HB-001',
        text: 'FACT:HB-001 The harbour master counted 11 ships at pier 1.',
        evidence_chunk_id: 'harbour.txt:1-2',
      },
      { text: 'Gulls circled above pier 2 all day.', evidence_chunk_id: 'harbour.txt:1-2' },
      { text: 'x'.repeat(3_000), evidence_chunk_id: 'harbour.txt:3-4' },
      { text: '...', evidence_chunk_id: 'harbour.txt:3-4' },
    ];
    const { outcome } = await withChild(JSON.stringify(childReply(facts)));
    assert.deepEqual(
      outcome.refused_facts.map(({ reason }) => reason),
      ['not_in_chunk', 'not_in_chunk', 'evidence_handle_mismatch', 'evidence_handle_mismatch', 'too_long', 'no_words'],
    );
    assert.equal(outcome.evidence.filter(({ chunk_id }) => chunk_id === 'harbour.txt:3-4').length, 1);
  });

  test('has an id of its own only where the text beside the quotation says it', async () => {
    const gulls = { fact_id: 'HB-001', text: 'Gulls circled above pier 2 all day.' };
    const { outcome } = await withChild(
      JSON.stringify(childReply([gulls, { ...gulls, text: 'The harbour master counted 12 ships' }])),
    );
    assert.deepEqual(
      outcome.evidence.filter(({ chunk_id }) => chunk_id === 'harbour.txt:3-4').map(({ fact_id }) => fact_id),
      ['f002.02', 'f002.01'],
    );
  });

  test('that once answered well keeps it when the second reply is worse', async () => {
    const reply = objectOf(childReply([{ text: 'Gulls circled above pier 2 all day.' }]));
    const inner = scripted((call_id) => {
      if (call_id === CHUNK_2) return JSON.stringify({ ...reply, control: { requires_retry: true } });
      return call_id.startsWith(CHUNK_2) ? 'oh no' : undefined;
    });
    const { outcome } = await run(requestOver(harbour(3)), { inner });
    assert.ok(
      outcome.evidence.some(({ text, child_call_id }) => text.startsWith('Gulls') && child_call_id === CHUNK_2),
    );
    assert.deepEqual(outcome.gaps, []);
  });

  for (const reason of ['runtime_error', 'runtime_unsuccessful', 'timeout', 'reply_too_large', 'no_model'] as const) {
    test(`whose call fails as ${reason} is a gap`, async () => {
      const inner = scripted((call_id) => (call_id.startsWith(CHUNK_2) ? { refuse: reason } : undefined));
      const { outcome } = await run(requestOver(harbour(3)), { inner });
      assert.equal(outcome.verdict, 'accepted');
      assert.deepEqual(outcome.gaps, [{ what: 'harbour.txt:3-4', why: `${reason}: scripted` }]);
      const asked = inner.requests.filter(({ call_id }) => call_id.startsWith(CHUNK_2)).length;
      assert.equal(asked, reason === 'no_model' ? 1 : 2);
    });
  }

  test('that answers with 10 MB is refused unread', async () => {
    const { outcome, store, run_id } = await withChild(`{"a": "${'x'.repeat(10_000_000)}"}`);
    assert.match(outcome.gaps[0]?.why ?? '', /^reply_too_large/);
    assert.ok(store.calls(run_id).every(({ completion }) => (completion?.length ?? 0) < 100_000));
  });
});

describe('when no child', () => {
  test('finds anything, no synthesis is asked for: no evidence, in a completed run', async () => {
    const inner = scripted(() => JSON.stringify(childReply([])));
    const { outcome } = await run(requestOver(harbour(8)), { inner });
    assert.deepEqual(
      [outcome.verdict, outcome.run_state, outcome.termination_reason],
      ['no_evidence', 'completed', 'work_queue_exhausted'],
    );
    assert.equal(inner.requests.length, 8);
    assert.deepEqual(treeFaults(outcome.tree), []);
  });

  test('can be asked, the run has failed and says why', async () => {
    const inner = { family: 'default', call: async () => refuse('no_model' as const, 'no model is set up') };
    for (const count of [1, 3, 8]) {
      const { outcome } = await run(requestOver(harbour(count)), { inner });
      assert.deepEqual(
        [outcome.verdict, outcome.run_state, outcome.termination_reason],
        ['failed', 'failed', 'node_failed'],
      );
      assert.match(outcome.detail ?? '', /no model is set up/);
      assert.equal(outcome.totals.calls, 0);
    }
  });
});

describe('a synthesis', () => {
  verifies(
    'rlm:run:refused-parent',
    'with a fact that no child reported is asked once more with the reason, then refused beside the evidence',
    async () => {
      const { outcome, inner } = await withParent((_, prompt) => {
        const facts = shownFacts(objectOf(prompt.context));
        return JSON.stringify(
          parentReply([...facts, { fact_id: 'HB-777', text: 'It rained.', evidence_chunk_id: 'harbour.txt:1-2' }]),
        );
      });
      assert.deepEqual([outcome.verdict, outcome.run_state], ['refused', 'failed']);
      assert.deepEqual(outcome.claims, []);
      assert.equal(outcome.summary, null);
      assert.ok(outcome.refused.every(({ reason }) => reason === 'unsupported_fact_id'));
      assert.equal(outcome.evidence.length, 3);
      assert.match(inner.requests.at(-1)?.prompt ?? '', /unsupported_fact_id/);
      assert.equal(inner.requests.length, 5);
    },
  );

  verifies('rlm:run:parent-gated', 'becomes state only when the guard accepts it: the second time it may', async () => {
    const { outcome } = await withParent((call_id, prompt) => {
      const facts = shownFacts(objectOf(prompt.context));
      const bad = facts.map((fact) => ({ ...fact, text: 'The harbour was empty.' }));
      return JSON.stringify(parentReply(call_id === PARENT ? bad : facts));
    });
    assert.equal(outcome.verdict, 'accepted');
    assert.deepEqual(
      outcome.claims.map(({ fact_ids }) => fact_ids),
      [['HB-001'], ['HB-002'], ['HB-003']],
    );
  });

  test('that says of itself that it failed is asked once more, then refused', async () => {
    const { outcome, inner } = await withParent((_, prompt) =>
      JSON.stringify(parentReply(shownFacts(objectOf(prompt.context)), { verdict: 'failed' })),
    );
    assert.deepEqual([outcome.verdict, outcome.claims.length], ['refused', 0]);
    assert.match(inner.requests.at(-1)?.prompt ?? '', /says of itself that it failed/);
  });

  test('without handles is repaired once from the children, without a call', async () => {
    const { outcome, inner } = await withParent((_, prompt) => {
      const facts = shownFacts(objectOf(prompt.context)).map(({ evidence_chunk_id: _id, ...fact }) => fact);
      return JSON.stringify({ ...parentReply(facts), evidence_references: [] });
    });
    assert.equal(outcome.verdict, 'accepted');
    assert.equal(outcome.repair?.repair_accept, true);
    assert.equal(inner.requests.length, 4);
  });

  for (const [name, reply] of [
    ['prose', 'All is well in the harbour, as the facts show.'],
    ['an echo', null],
    ['claims under another key', { claims: [{ text: 'The harbour is large.' }] }],
    ['no claim', {}],
    ['chunks without facts', { evidence_references: [{ chunk_id: 'harbour.txt:1-2', claim: 'It says so.' }] }],
    ['a reply cut off', '{"mode": "synthesize_parent", "result": {"retained_facts": ['],
  ] as const) {
    test(`of ${name} is refused`, async () => {
      const { outcome } = await withParent((_, prompt) => {
        if (reply === null) return JSON.stringify(prompt);
        return typeof reply === 'string' ? reply : JSON.stringify({ ...parentReply([]), ...reply });
      });
      assert.equal(outcome.verdict, 'refused');
      assert.ok(outcome.refused.length > 0);
      assert.deepEqual(outcome.claims, []);
      assert.match(outcome.detail ?? '', /refused/);
    });
  }

  test('of a group that is refused hands its quotations up as they are, and is a gap', async () => {
    const inner = scripted((call_id) => (call_id.startsWith('rlm_call_group_d1_001') ? 'nonsense' : undefined));
    const { outcome } = await run(requestOver(harbour(8)), { inner });
    assert.equal(outcome.verdict, 'accepted');
    assert.equal(outcome.claims.length, 8);
    assert.match(outcome.gaps[0]?.why ?? '', /its 4 quotations go up as they are/);
  });

  test('of a group decides which facts go up', async () => {
    const inner = scripted((call_id, prompt) => {
      if (!call_id.startsWith('rlm_call_group_d1_001')) return undefined;
      return JSON.stringify(parentReply(shownFacts(objectOf(prompt.context)).slice(0, 1)));
    });
    const { outcome } = await run(requestOver(harbour(8)), { inner });
    assert.deepEqual(
      outcome.claims.map(({ fact_ids }) => fact_ids[0]),
      ['HB-001', 'HB-005', 'HB-006', 'HB-007', 'HB-008'],
    );
    assert.equal(outcome.evidence.length, 8);
  });

  test('carries its residual gaps into the outcome, as said by it', async () => {
    const residual_gaps = [{ gap: 'Pier 9 is not described.', impact: '', suggested_next_step: '' }];
    const { outcome } = await withParent((_, prompt) =>
      JSON.stringify(parentReply(shownFacts(objectOf(prompt.context)), { verdict: 'partial', residual_gaps })),
    );
    assert.equal(outcome.verdict, 'accepted');
    assert.deepEqual(outcome.gaps, [{ what: 'Pier 9 is not described.', why: `said by ${PARENT}` }]);
  });
});
