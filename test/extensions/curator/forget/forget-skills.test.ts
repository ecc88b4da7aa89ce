// What skills keep of a forgotten conversation is named, before and after it goes.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { buildManagedBlock } from '#extensions/curator/block/managed-block.ts';
import { referenceFile } from '#extensions/curator/block/reference-file.ts';
import { ledgerReader } from '#extensions/curator/report/ledger-reader.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { createForgetStage, type ForgetStage, NOW } from '../../../surfaces/app/commands/forget/forget-stage.ts';
import { leaveTraces } from '../../../surfaces/app/commands/forget/traces.ts';

/** A note in the skill, in a file beside it and in an earlier text, made from what the ledger has. */
function leaveNotes({ home, temp, clock }: ForgetStage): void {
  const { database } = openDatabase(home.evidenceDatabase, { rooms: [], clock });
  const rows = ledgerReader(database)
    .evidence({ since: '', skill: null }, 20)
    .map((row) => ({ ...row, is_error: 1 }));
  database.close();
  const note = { skill: 'open-vault', now: NOW, summary: {}, rows };
  temp.write('home/skills/ops/open-vault/SKILL.md', `---\nname: open-vault\n---\n\n${buildManagedBlock(note)}`);
  const { path, text } = referenceFile(note);
  temp.write(`home/skills/ops/open-vault/${path}`, text);
  temp.write(
    'home/skills/innocent/SKILL.md',
    `---\nname: innocent\n---\n\n- 2026-01-10T10:00:01+00:00 terminal ok: x\n`,
  );
  temp.write('home/backups/skills/20260514T101502123000Z/SKILL.md', buildManagedBlock(note));
}

/** A skill that was written in the conversation. */
async function leaveVersion(stage: ForgetStage, sessionId: string): Promise<void> {
  await stage.within(async ({ database }) => {
    const ledger = createProposalLedger({ database, clock: stage.clock });
    const change = { action: 'create', content: 'x' };
    const draft = { kind: 'skill', actor: 'agent', target: 'written', action: 'create', sessionId } as const;
    const { id } = await ledger.open({ ...draft, change, citations: [] });
    const add = (skill: string, backup: string, proposal: string) =>
      database.run(
        `INSERT INTO skill_versions(skill, version, actor, action, folder, backup, proposal_id, at)
         VALUES(?, 1, 'agent', 'create', ?, ?, ?, 1)`,
        skill,
        skill,
        backup,
        proposal,
      );
    add('written', 'none', id);
    add('open-vault', '20260514T101502123000Z', 'nobody');
  });
}

describe('forget names the skills that rest on what goes', () => {
  for (const how of ['session', 'before'] as const)
    test(`--${how}`, async (t) => {
      const stage = createForgetStage(t);
      const { secret, plain } = await leaveTraces(stage);
      leaveNotes(stage);
      await leaveVersion(stage, secret);
      const query = how === 'session' ? { session: secret } : { before: '2026-06-02' };
      const dry = await stage.run({ ...query, dryRun: true });
      assert.match(
        dry.text,
        /would still be kept there: the skill open-vault \(2 texts with recorded output, 1 earlier text with it\)/,
      );
      const run = await stage.run({ ...query, yes: true });
      assert.match(
        run.text,
        /still kept there: the skill open-vault \(2 texts with recorded output, 1 earlier text with it\)/,
      );
      assert.match(run.text, /still kept there: the skill written \(1 version written out of it\)/);
      assert.match(run.text, /`talaria skills rollback NAME`.*`talaria forget --match TEXT --everywhere`/);
      assert.doesNotMatch(run.text, /innocent/);
      assert.doesNotMatch(
        (await stage.run({ session: how === 'session' ? plain : 'x', dryRun: true })).text,
        /the skill written/,
      );
    });
});
