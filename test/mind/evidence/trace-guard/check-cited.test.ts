// The one check by rule on plain claims: reasons in their order, quotes at the edges of words, origins.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Origin } from '#core/model/message.ts';
import { checkCited } from '#mind/evidence/gate/gate-proposal.ts';
import type { Citation, ClaimPolicy, EvidenceEntry } from '#mind/evidence/trace-guard/claim.ts';

const OWNER: ClaimPolicy = { origins: ['owner'] };

function entry(handle: string, text: string, origin: Origin = 'owner'): EvidenceEntry {
  return { handle, texts: [{ text, origin }] };
}

function check(
  entries: readonly EvidenceEntry[],
  text: string,
  citations: readonly Citation[],
  policy = OWNER,
): string {
  const verdict = checkCited(entries, { id: 'c', text, citations }, policy);
  return verdict.accepted ? 'accepted' : verdict.reason;
}

const quoted = (source: string, quote: string) => check([entry('m', source)], 'It is so', [{ handle: 'm', quote }]);

describe('what is cited', () => {
  test('the first reason counts over all citations, and one bad citation is enough', () => {
    const source = entry('m', 'Please keep the staging server on port 8080 for now.');
    const good = { handle: 'm', quote: 'staging server' };
    const said = (...citations: readonly Citation[]) => check([source], 'Staging has port 8080', citations);
    assert.equal(said(), 'no-citation');
    assert.equal(said(good), 'accepted');
    assert.equal(said(good, { handle: 'm', quote: 'not said' }, { handle: 'n', quote: 'x' }), 'unknown-handle');
    assert.equal(said(good, { handle: 'm', quote: 'server' }), 'quote-too-short');
    assert.equal(said(good, { handle: 'm', quote: 'not said at all' }), 'quote-not-found');
    assert.equal(said(good, { handle: 'm', quote: '' }), 'quote-not-found', 'no call stands there');
  });

  test('two words, an identifier or a whole message are enough', () => {
    const source = 'set max_retry_count in src/app/main.ts and billing-api-2 fooBar https://a.example/x --dry-run tea';
    for (const quote of ['max_retry_count', 'src/app/main.ts', 'billing-api-2', 'fooBar', 'https://a.example/x'])
      assert.equal(quoted(source, quote), 'accepted', quote);
    assert.equal(quoted(source, '--dry-run tea'), 'accepted');
    for (const quote of ['tea', 'set', '...', '"', '😀😀', '8080'])
      assert.equal(quoted(source, quote), 'quote-too-short');
    for (const whole of ['vim', 'Vim.', 'да', '👍', '8080']) assert.equal(quoted(whole, whole), 'accepted', whole);
    assert.equal(quoted('Use vim', 'vim'), 'quote-too-short');
  });

  test('a word or number is part of a quote only as a whole; space, case and typographic quotes do not count', () => {
    const torn = [
      ['the port is 8080 now', 'the port is 80'],
      ['Bart is funny today', 'art is fun'],
      ['we use version 1.2.3 here', 'use version 1.2'],
      ['私は東京に住んでいます', '大阪に住んで'],
    ] as const;
    for (const [source, quote] of torn) assert.equal(quoted(source, quote), 'quote-not-found', quote);
    const source = 'I  don’t\nlike “green tea” in\tthe morning';
    for (const quote of [`i don't LIKE "green tea"`, '“I don’t like…”', '"in the morning"', "I don't like..."])
      assert.equal(quoted(source, quote), 'accepted', quote);
    assert.equal(quoted('私は東京に住んでいます', '東京に住んで'), 'accepted');
  });

  test('origins: a call speaks by its record, a part of a message for itself', () => {
    const entries: readonly EvidenceEntry[] = [
      {
        handle: 'm',
        texts: [
          { text: 'read that file for me', origin: 'owner' },
          { text: 'The password rotates on Mondays', origin: 'foreign' },
        ],
      },
      { handle: 'r', texts: [{ text: 'Ran terminal.\ncommand: make test', origin: 'observed', isRecord: true }] },
    ];
    const both: ClaimPolicy = { origins: ['owner', 'observed'] };
    assert.equal(check(entries, 'x', [{ handle: 'm', quote: 'rotates on Mondays' }]), 'origin-not-allowed');
    assert.equal(check(entries, 'x', [{ handle: 'm', quote: 'read that file' }]), 'accepted');
    assert.equal(check(entries, 'Runs `make test`', [{ handle: 'r', quote: '' }], both), 'accepted');
    assert.equal(check(entries, 'Runs `make test`', [{ handle: 'r', quote: '' }]), 'origin-not-allowed');
  });

  test('values may stand around the quote, in what is replaced, or in what a command printed; places may not', () => {
    const entries = [entry('m', 'Two things. The build takes 30 seconds.')];
    const citations = [{ handle: 'm', quote: 'two things' }];
    const said = (text: string, more: Partial<ClaimPolicy> = {}) =>
      check(entries, text, citations, { ...OWNER, ...more });
    assert.equal(said('Two builds of 30 s'), 'accepted');
    assert.equal(said('Two builds of 40 s'), 'value-not-cited');
    assert.equal(said('Two builds of 40 s', { known: ['takes 40 seconds'] }), 'accepted');
    const printed = ['40 s in /srv/app (E_SLOW)'];
    assert.equal(said('Two builds of 40 s, E_SLOW', { printed }), 'accepted');
    assert.equal(said('Two builds in /srv/app', { printed }), 'value-not-cited');
    assert.equal(said('Two builds by `40 s in`', { printed }), 'value-not-cited');
  });
});
