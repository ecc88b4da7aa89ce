/** What tests of the skill door share: a door of their own, and a look at the trace that a refusal leaves. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { SkillChange, SkillWrite } from '#mind/skills/skill-door.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { listTree, openDoor, skillText } from './open-door.ts';

export function open(context: TestContext, options: Parameters<typeof openDoor>[1] = {}) {
  const opened = openDoor(createTempHome(context).path, options);
  context.after(() => opened.close());
  const write = (name: string, change: SkillChange, more: Partial<SkillWrite> = {}) =>
    opened.door.write({ name, change, actor: 'agent', approved: true, ...more });
  const create = async (name: string, body?: string, more: Partial<SkillWrite> = {}) => {
    const made = await write(name, { action: 'create', content: skillText(name, body), category: 'data' }, more);
    assert.ok(made.ok, made.ok ? '' : made.detail);
    return made.value;
  };
  const read = (path: string) => readFileSync(join(opened.root, path), 'utf8');
  return { ...opened, write, create, read };
}

type Opened = ReturnType<typeof open>;

/** The refusal, after a look at its trace: a decided proposal and nothing below the root. */
export async function refused(opened: Opened, work: ReturnType<Opened['write']>, reason: string): Promise<string> {
  const before = listTree(opened.root);
  const result = await work;
  assert.ok(!result.ok, 'it was written');
  assert.equal(result.reason, reason, result.detail);
  const proposal = opened.ledger.get(result.proposalId ?? '');
  assert.equal(proposal?.status, reason === 'guard-asks' ? 'pending' : 'refused');
  assert.equal(proposal?.reason, reason);
  assert.deepEqual(listTree(opened.root), before);
  return result.detail;
}
