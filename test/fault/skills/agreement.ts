/** What must hold of a skill, its versions, its record and its provenance at any moment at which nobody writes. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashSkillFolder } from '#mind/skills/door/skill-tree.ts';
import { createSkillRecords } from '#mind/skills/skill-records.ts';
import type { OpenDoor } from '../../mind/skills/skill-bench.ts';

/** Where the skill lies in the scenarios. */
export function folderOf({ root }: Pick<OpenDoor, 'root'>, skill: string): string {
  return join(root, skill === 'csv' ? 'data/csv' : skill);
}

export function assertAgreement(opened: OpenDoor, skill: string, when: string): void {
  const { ledger, door, database, root, backups } = opened;
  for (const status of ['writing', 'proposed'] as const)
    assert.deepEqual(ledger.list({ kind: 'skill', status }), [], `${when}: a proposal is still ${status}`);
  const versions = door.versions(skill);
  const last = versions.at(-1);
  const now = hashSkillFolder(folderOf(opened, skill));
  const applied = ledger.list({ kind: 'skill', status: 'applied' }).filter(({ target }) => target === skill);
  assert.equal(versions.length, applied.length, `${when}: versions and applied proposals`);
  if (last === undefined) {
    assert.equal(now, null, `${when}: a skill without a version`);
  } else {
    const proposal = ledger.get(last.proposalId);
    assert.equal(proposal?.status, 'applied', when);
    assert.equal(proposal?.afterHash, now, `${when}: the newest version is what stands there`);
    const [why] = ledger.why({ kind: 'skill', target: skill, key: String(last.version) });
    assert.equal(why?.proposal.id, last.proposalId, `${when}: why`);
    const record = createSkillRecords({ database, root }).get(skill);
    assert.equal(record?.version, last.version, `${when}: record`);
    assert.equal(record?.status === 'retired', now === null, `${when}: status`);
  }
  for (const { version, manifestPath, rolledBackAt } of versions) {
    const manifest = JSON.parse(readFileSync(manifestPath, 'utf8'));
    assert.equal(manifest.rolled_back, rolledBackAt !== undefined, `${when}: what the manifest of ${version} says`);
    assert.equal(manifest.verify.passed, true, `${when}: version ${version} was not verified`);
  }
  assert.deepEqual(namesIn(join(root, '.staging')), [], `${when}: staging`);
  const known = new Set([...versions, ...door.versions('other')].map(({ manifestPath }) => manifestPath));
  const all = namesIn(backups).map((stamp) => join(backups, stamp, 'manifest.json'));
  // What a verifier turned down keeps its backup, which says so.
  const kept = all.filter((path) => !readFileSync(path, 'utf8').includes('"rollback_reason": "verify-failed"'));
  assert.deepEqual(
    kept.filter((path) => !known.has(path)),
    [],
    `${when}: backups of nothing`,
  );
  assert.equal(kept.length, known.size, `${when}: a backup for each version`);
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
