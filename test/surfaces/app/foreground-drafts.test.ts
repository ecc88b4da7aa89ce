/** Drafts of a foreground turn that nobody attends: the same one waits once, and nothing waits that is not what was meant. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { keepDraft, skillDraft } from '#surfaces/app/parts/mind/foreground-drafts.ts';
import { open } from '../../mind/skills/door/door-bench.ts';
import { skillText } from '../../mind/skills/door/open-door.ts';

const create = (name: string, body: string) =>
  ({ name, change: { action: 'create', content: skillText(name, body) }, actor: 'agent', approved: true }) as const;

describe('drafts of a foreground turn', () => {
  test('the same change waits once, another one beside it', async (context) => {
    const { ledger, home } = open(context);
    const draft = (write: Parameters<typeof skillDraft>[0]) => keepDraft(ledger, `${home}/pending`, skillDraft(write));
    const first = await draft(create('a', 'One.'));
    const again = await draft(create('a', 'One.'));
    const other = await draft(create('a', 'Two.'));
    assert.ok(first.ok && again.ok && other.ok);
    assert.deepEqual([first.value.isKnown, again.value.isKnown, other.value.isKnown], [false, true, false]);
    assert.equal(first.value.id, again.value.id);
    assert.equal(ledger.list({ status: 'pending' }).length, 2);
    await ledger.decide(first.value.id, { status: 'rejected', reason: 'owner-said-no' });
    const later = await draft(create('a', 'One.'));
    assert.equal(later.ok && later.value.isKnown, false);
  });

  test('what could be stored only without a secret does not wait', async (context) => {
    const { ledger, home } = open(context);
    const draft = (write: Parameters<typeof skillDraft>[0]) => keepDraft(ledger, `${home}/pending`, skillDraft(write));
    const done = await draft(create('a', `Use sk-proj-${'aB3dE5fG7h'.repeat(4)}.`));
    assert.equal(done.ok ? '' : done.reason, 'secret');
    assert.equal(ledger.list({ status: 'pending' }).length, 0);
  });
});
