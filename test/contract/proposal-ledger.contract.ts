/** The contract of ProposalLedger as tests; the SQLite ledger and the fake in memory both run it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { errorCode } from '#base/errors.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import { type Message, userMessage } from '#core/model/message.ts';
import type { Decision, KeptThing, ProposalDraft, ProposalLedger } from '#mind/evidence/proposal.ts';
import { createManualClock, type ManualClock } from '#testing/manual-clock.ts';

export interface ProposalLedgerSubject {
  readonly ledger: ProposalLedger;
  readonly clock: ManualClock;
  /** Stores a message that can be cited. */
  readonly say: (message: Message) => Promise<StoredMessage>;
  readonly forget: (messageId: number) => Promise<void>;
}

const DRAFT: ProposalDraft = {
  kind: 'memory',
  actor: 'review',
  target: 'user',
  action: 'add',
  change: { target: 'user', action: 'add', content: 'Likes tabs — 東京' },
  sessionId: 's1',
  citations: [{ handle: 'message:1', quote: 'I like tabs' }],
};
const HASHES = { path: '/m/USER.md', beforeHash: 'b', afterHash: 'a' };
const THING: KeptThing = { kind: 'memory', target: 'user', key: 'k' };
const KEY = 'sk-ant-api03-k3JH2kj4h5KJH34kjh5KJh345kjh';

export function proposalLedgerContract(
  name: string,
  make: (clock: ManualClock) => Promise<ProposalLedgerSubject & { readonly close: () => Promise<void> }>,
): void {
  const using = async (body: (subject: ProposalLedgerSubject) => Promise<void>): Promise<void> => {
    const subject = await make(createManualClock());
    try {
      await body(subject);
    } finally {
      await subject.close();
    }
  };
  const code = (wanted: string) => (error: unknown) => errorCode(error) === wanted;

  describe(`proposal ledger contract: ${name}`, () => {
    test('an opened proposal is read back as it was drafted', () =>
      using(async ({ ledger, clock }) => {
        const proposal = await ledger.open(DRAFT);
        assert.match(proposal.id, /^prop_[0-9a-f]{16}$/);
        assert.deepEqual(proposal, { ...DRAFT, id: proposal.id, status: 'proposed', createdAt: clock.now() });
        assert.deepEqual(ledger.get(proposal.id), proposal);
        const { sessionId: _, ...bare } = { ...DRAFT, citations: [] };
        const without = await ledger.open(bare);
        assert.deepEqual(ledger.get(without.id), {
          ...bare,
          id: without.id,
          status: 'proposed',
          createdAt: clock.now(),
        });
      }));

    test('one write goes proposed, writing with its hashes, applied', () =>
      using(async ({ ledger, clock }) => {
        const { id } = await ledger.open(DRAFT);
        const undo = { removed: ['old'] };
        await ledger.begin(id, { ...HASHES, undo });
        assert.partialDeepStrictEqual(ledger.get(id), { status: 'writing', ...HASHES, undo });
        await clock.advance(5);
        await ledger.decide(id, { status: 'applied' });
        assert.partialDeepStrictEqual(ledger.get(id), { status: 'applied', ...HASHES, decidedAt: clock.now() });
      }));

    test('hashes of a file that was not there, or will not be, are null', () =>
      using(async ({ ledger }) => {
        const { id } = await ledger.open(DRAFT);
        await ledger.begin(id, { ...HASHES, beforeHash: null, afterHash: null });
        assert.partialDeepStrictEqual(ledger.get(id), { beforeHash: null, afterHash: null });
      }));

    test('a write begins once', () =>
      using(async ({ ledger }) => {
        const { id } = await ledger.open(DRAFT);
        await ledger.begin(id, HASHES);
        await assert.rejects(ledger.begin(id, HASHES), code('proposal-begun'));
        await ledger.decide(id, { status: 'applied' });
        await assert.rejects(ledger.begin(id, HASHES), code('proposal-decided'));
      }));

    test('an equal decision changes nothing, another one throws', () =>
      using(async ({ ledger, clock }) => {
        const refusal: Decision = { status: 'refused', reason: 'quote-not-found', detail: 'No such words.' };
        const { id } = await ledger.open(DRAFT);
        await ledger.decide(id, refusal);
        const decided = ledger.get(id);
        await clock.advance(10);
        await ledger.decide(id, refusal);
        assert.deepEqual(ledger.get(id), decided);
        await assert.rejects(ledger.decide(id, { status: 'applied' }), code('proposal-decided'));
        await assert.rejects(ledger.decide(id, { ...refusal, reason: 'no-citation' }), code('proposal-decided'));
        assert.deepEqual(ledger.get(id), decided);
      }));

    test('what is pending may still be written or rejected', () =>
      using(async ({ ledger }) => {
        const [one, two] = [await ledger.open(DRAFT), await ledger.open(DRAFT)];
        for (const { id } of [one, two]) await ledger.decide(id, { status: 'pending', reason: 'needs-owner' });
        assert.equal(ledger.get(one.id)?.reason, 'needs-owner');
        await ledger.begin(one.id, HASHES);
        assert.equal(ledger.get(one.id)?.reason, undefined);
        await ledger.decide(one.id, { status: 'applied' });
        await ledger.decide(two.id, { status: 'rejected' });
        assert.deepEqual([ledger.get(one.id)?.status, ledger.get(two.id)?.status], ['applied', 'rejected']);
        assert.equal(ledger.get(two.id)?.reason, undefined);
      }));

    test('unknown ids throw', () =>
      using(async ({ ledger }) => {
        assert.equal(ledger.get('prop_0'), undefined);
        await assert.rejects(ledger.begin('prop_0', HASHES), code('no-such-proposal'));
        await assert.rejects(ledger.decide('prop_0', { status: 'applied' }), code('no-such-proposal'));
        await assert.rejects(ledger.attach(THING, 'prop_0'), code('no-such-proposal'));
      }));

    test('lists the newest first, by status, kind, actor, session and number', () =>
      using(async ({ ledger }) => {
        const first = await ledger.open(DRAFT);
        const second = await ledger.open({ ...DRAFT, kind: 'skill', actor: 'agent', target: 'deploy' });
        const third = await ledger.open({ ...DRAFT, sessionId: 's2' });
        await ledger.decide(third.id, { status: 'refused', reason: 'no-citation' });
        const ids = (filter?: Parameters<ProposalLedger['list']>[0]) => ledger.list(filter).map(({ id }) => id);
        assert.deepEqual(ids(), [third.id, second.id, first.id]);
        assert.deepEqual(ids({ limit: 1 }), [third.id]);
        assert.deepEqual(ids({ limit: 0 }), []);
        assert.deepEqual(ids({ status: 'proposed' }), [second.id, first.id]);
        assert.deepEqual(ids({ kind: 'skill' }), [second.id]);
        assert.deepEqual(ids({ actor: 'review', sessionId: 's1' }), [first.id]);
        assert.deepEqual(ids({ sessionId: 'none' }), []);
      }));

    test('says where a kept thing comes from, newest first, with the messages as they stand', () =>
      using(async ({ ledger, say, forget }) => {
        const { id: messageId, sessionId, at } = await say(userMessage('I like tabs, always have'));
        const citation = { handle: `message:${messageId}`, quote: 'I like tabs' };
        const first = await ledger.open({ ...DRAFT, citations: [citation] });
        const second = await ledger.open(DRAFT);
        assert.deepEqual(ledger.why(THING), []);
        for (const { id } of [first, second, first]) await ledger.attach(THING, id);
        const why = ledger.why(THING);
        assert.deepEqual(
          why.map(({ proposal }) => proposal.id),
          [second.id, first.id],
        );
        const text = 'I like tabs, always have';
        assert.deepEqual(why[1]?.citations, [{ ...citation, sessionId, messageId, role: 'user', at, text }]);
        assert.deepEqual(ledger.why({ ...THING, key: 'other' }), []);
        assert.deepEqual(ledger.why({ ...THING, target: 'memory' }), []);
        await forget(messageId);
        assert.deepEqual(ledger.why(THING)[1]?.citations, [citation]);
      }));

    test('start-up decides every begun write by the hash that is found', () =>
      using(async ({ ledger }) => {
        const open = async (path: string) => {
          const { id } = await ledger.open(DRAFT);
          await ledger.begin(id, { path, beforeHash: 'b', afterHash: 'a' });
          return id;
        };
        const ids = [await open('/new'), await open('/old'), await open('/other'), await open('/gone')];
        const untouched = await ledger.open(DRAFT);
        const found = new Map([
          ['/new', 'a'],
          ['/old', 'b'],
          ['/other', 'c'],
        ]);
        const decided = await ledger.reconcile((path) => found.get(path) ?? null);
        assert.deepEqual(
          decided.map(({ id, status }) => [id, status]),
          ids.map((id, index) => [id, ['applied', 'dropped', 'edited', 'edited'][index]]),
        );
        assert.equal(ledger.get(untouched.id)?.status, 'proposed');
        assert.deepEqual(await ledger.reconcile(() => 'a'), []);
      }));

    test('no key-shaped string is kept', () =>
      using(async ({ ledger }) => {
        const { id } = await ledger.open({
          ...DRAFT,
          change: { content: `use ${KEY}`, operations: [{ deep: [KEY], password: 'hunter2!Xyz' }] },
          citations: [{ handle: 'message:1', quote: `the key is ${KEY}` }],
        });
        await ledger.decide(id, { status: 'refused', reason: 'secret', detail: `found ${KEY}` });
        const text = JSON.stringify(ledger.get(id));
        assert.ok(!text.includes(KEY) && !text.includes('hunter2'), text);
        assert.match(text, /redacted/);
      }));

    test('what is given out cannot change what is kept', () =>
      using(async ({ ledger }) => {
        const change = { content: 'one' };
        const { id } = await ledger.open({ ...DRAFT, change });
        change.content = 'two';
        Reflect.set(ledger.get(id)?.change ?? {}, 'content', 'three');
        assert.equal(ledger.get(id)?.change.content, 'one');
      }));
  });
}
