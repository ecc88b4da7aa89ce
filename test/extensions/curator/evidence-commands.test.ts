import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { buildManagedBlock, referenceFile } from '#extensions/curator/block/managed-block.ts';
import { ledgerReader } from '#extensions/curator/report.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { roomCommands } from '#surfaces/app/commands/shell-commands.ts';
import { readSlashLine } from '#surfaces/cli/mount-command.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { createStage, openConversation, play, runCommand } from '../../surfaces/app/app-fixture.ts';
import {
  createForgetStage,
  type ForgetStage,
  leaveTraces,
  NOW,
} from '../../surfaces/app/commands/forget/forget-stage.ts';
import { stageWithEvidence } from './evidence-stage.ts';

interface Printed {
  readonly filters: { readonly days: number; readonly skill: string | null };
  readonly summary: { readonly tool_events: number; readonly skill_events: number };
  readonly skill_evidence: readonly { readonly skill_name: string | null }[];
}

describe('the evidence commands', () => {
  test('status tells where, how much and which skills; an empty home says what would fill it', async (t) => {
    const stage = stageWithEvidence(t);
    const { text, data } = await runCommand(stage, 'curator status');
    assert.match(text, /evidence\.sqlite\nLast 3650 days: tool calls 10 \(failed 3\), turns 1, session ends 0\nMode: /);
    assert.match(text, /release \| 5 \| 0\ndeploy \| 1 \| 0/);
    assert.partialDeepStrictEqual(data, { days: 3650, mode: 'report-only', tool_events: 10, turn_events: 1 });
    const short = await runCommand(stage, 'curator status', { days: 0 });
    assert.match(short.text, /Last 1 days: tool calls 1 /);
    stage.temp.write('home/evidence.sqlite', '');
    assert.match((await runCommand(stage, 'curator status')).text, /backfill-sessions/);
  });

  test('report: seven days unless said otherwise, clamped, in both forms', async (t) => {
    const stage = stageWithEvidence(t);
    const read = async (input: object) => {
      const { text, data, failure } = await runCommand(stage, 'curator report', { ...input, format: 'json' });
      assert.equal(failure, undefined);
      const printed: Printed = JSON.parse(text);
      assert.deepEqual(printed, data, 'the line and --json say the same');
      assert.deepEqual(Object.keys(printed), Object.keys(printed).sort());
      return printed;
    };
    const { filters, summary } = await read({});
    assert.deepEqual([filters, summary.tool_events, summary.skill_events], [{ days: 7, skill: null }, 7, 4]);
    assert.equal((await read({ days: 99_999 })).filters.days, 3650);
    assert.equal((await read({ days: '2' })).summary.tool_events, 2);
    const { text } = await runCommand(stage, 'curator report');
    assert.match(text, /^# Curator evidence report\n[\s\S]*last 7 day/);
  });

  for (const command of ['curator status', 'curator report'] as const)
    test(`${command}: a damaged file is named with its new place, then by every listing of the queue`, async (t) => {
      const stage = stageWithEvidence(t);
      stage.temp.write('home/evidence.sqlite', 'this is no database, it is text that goes on'.repeat(500));
      const unread = await runCommand(stage, 'curator candidates-list').catch((error: unknown) => error);
      assert.equal((unread as { readonly code?: string }).code, 'database-corrupt');
      assert.match(String((unread as { readonly fix?: string }).fix), /curator status/);
      const { text } = await runCommand(stage, command);
      assert.match(
        text,
        /evidence\.sqlite was damaged and is kept as \S+\.corrupt-\S+; .*review queue and the rows .* hermes/,
      );
      const again = await runCommand(stage, command);
      assert.doesNotMatch(again.text, /was damaged and is kept as .* again/, 'once');
      await runCommand(stage, 'curator candidates-mine', { inputJsonl: stage.temp.write('no.jsonl', '') });
      const listed = await runCommand(stage, 'curator candidates-list');
      assert.match(
        JSON.stringify((listed.data as { readonly notes?: unknown }).notes),
        /damaged and is kept as .*review queue/,
      );
      const shown = await runCommand(stage, 'curator candidates-list', { format: 'markdown' });
      assert.match(shown.text, /^note: An earlier evidence file was damaged/);
      const status = await runCommand(stage, 'curator status');
      assert.match(status.text, /An earlier evidence file was damaged and is kept as/);
    });

  test('analyze: thirty days of one skill, ordinary calls counted in', async (t) => {
    const stage = stageWithEvidence(t);
    const { data } = await runCommand(stage, 'curator analyze', { skill: 'release' });
    const { filters, summary, skill_evidence: rows } = data as Printed;
    assert.deepEqual([filters, summary.tool_events], [{ days: 30, skill: 'release' }, 5]);
    assert.ok(rows.length === 5 && rows.every(({ skill_name }) => skill_name === 'release'));
    await assert.rejects(() => runCommand(stage, 'curator analyze'), /--skill/);
  });

  test('first hour 9: a skill that nobody has is refused by analyze and propose', async (t) => {
    for (const name of ['curator analyze', 'curator propose']) {
      const { failure } = await runCommand(createStage(t), name, { skill: 'nothing' });
      assert.deepEqual([failure?.exitCode, failure?.code], [3, 'no-such-skill'], name);
    }
  });

  test('first hour 9: setup-semantic --from looks at the folder before it installs anything', async (t) => {
    const stage = createStage(t);
    const { text, failure } = await runCommand(stage, 'curator setup-semantic', { from: '/nowhere/models' });
    assert.match(text, /there is no folder \/nowhere\/models/);
    assert.equal(failure?.exitCode, 1);
    assert.deepEqual([existsSync(join(stage.root, 'engines')), /engine/.test(text)], [false, false]);
  });

  test('measure: a skill that nothing is known of fails, a written one has its versions', async (t) => {
    const stage = stageWithEvidence(t);
    const unknown = await runCommand(stage, 'curator measure', { skill: 'nobody' });
    assert.deepEqual([unknown.failure?.exitCode, unknown.failure?.code], [3, 'nothing-to-measure']);
    const app = await stage.open({ model: 'reflex' });
    const content = '---\nname: release\ndescription: Cut a release.\n---\n\nTag it, then push it.\n';
    const change = { action: 'create', content } as const;
    const written = await app.doors.door.write({ name: 'release', change, actor: 'owner', approved: true });
    assert.ok(written.ok);
    await app.shutdown();
    const table = await runCommand(stage, 'curator measure', { skill: 'release' });
    assert.match(
      table.text,
      /^version \| by \| what [\s\S]*\n1 \| owner \| create \| .* \| 0 \| 0 \| 0 \| - \| - \| - \| -$/,
    );
    const { text, data } = await runCommand(stage, 'curator measure', { skill: 'release', format: 'json' });
    assert.deepEqual(JSON.parse(text), data);
  });

  test('the chat takes /curator alone, with days, and nothing else of these', async (t) => {
    const app = await stageWithEvidence(t).open({ model: 'reflex' });
    const commands = (await app.commands()).filter(({ surfaces }) => surfaces.includes('chat'));
    for (const [line, days] of [
      ['/curator', 3650],
      ['/curator --days 7', 7],
      ['/curator status --days 3', 3],
    ] as const) {
      const read = await readSlashLine(line, commands);
      assert.ok(read.type === 'command', line);
      assert.deepEqual([read.command.name, read.input], ['curator status', { days }]);
    }
    assert.equal((await readSlashLine('/curator report', commands)).type, 'said');
  });
});

describe('the tool curator_evidence_report', () => {
  test('gives the report as foreign text, in both forms, its days clamped', async (t) => {
    const call = (given: object) => ({ name: 'curator_evidence_report', arguments: { ...given } });
    const steps = [
      { calls: [call({}), call({ days: 9_999, skill: 'release' }), call({ format: 'markdown' })] },
      'Read.',
    ];
    const client = createScriptedModel(steps, { context: t });
    const app = await stageWithEvidence(t).open({ extra: { client }, toolsets: ['default', 'curator'] });
    assert.ok(
      (await app.tools()).tools.some(
        ({ name, toolset }) => name === 'curator_evidence_report' && toolset === 'curator',
      ),
    );
    await play(await openConversation(app), 'how do my skills fare?');
    const messages = client.requests.at(-1)?.messages ?? [];
    const results = messages.flatMap((message) => (message.role === 'tool' ? message.parts : []));
    assert.deepEqual(
      results.map(({ origin, isError }) => [origin, isError]),
      Array(3).fill(['foreign', false]),
    );
    const [plain, one, markdown] = results.map(({ text }) => JSON.parse(text));
    assert.deepEqual([plain.success, plain.format, plain.report.filters.days], [true, 'json', 7]);
    assert.deepEqual(one.report.filters, { days: 365, skill: 'release' });
    assert.deepEqual([markdown.format, typeof markdown.report], ['markdown', 'string']);
  });

  test('is shown where its toolset is named, also in the configuration, and not by default', async (t) => {
    const stage = stageWithEvidence(t);
    const isShown = async () => {
      const app = await stage.open({ model: 'reflex' });
      return (await app.tools()).tools.some(({ name }) => name === 'curator_evidence_report');
    };
    assert.equal(await isShown(), false);
    stage.temp.write('home/config.yaml', 'toolsets: [default, curator]\n');
    assert.equal(await isShown(), true);
  });
});

// What a command of the curator cannot do without is asked for by the words to type.

const RAW = /expected (?:string|array)|received|invalid input|too small/i;

describe('the flags that must be typed', () => {
  test('are named when they are missing or empty, in no word of the checker', async (t) => {
    const { environment } = createStage(t);
    const all = await roomCommands({ environment, app: () => assert.fail('the agent was opened') });
    const commands = all.filter(({ name }) => name.startsWith('curator'));
    const found: string[] = [];
    for (const { name, input } of commands) {
      const missing = input.safeParse({});
      if (missing.success) continue;
      for (const { path, message } of missing.error.issues) {
        const key = String(path[0]);
        found.push(`${name} ${key}`);
        assert.doesNotMatch(message, RAW, `${name} ${key}`);
        const empty = input.safeParse({ [key]: key === 'ids' ? [] : '' });
        const said = empty.error?.issues.find((issue) => issue.path[0] === key)?.message;
        assert.equal(said, message, `${name} ${key}, empty`);
      }
    }
    assert.ok(found.length >= 12, found.join('\n'));
  });
});

// What skills keep of a forgotten conversation is named, before and after it goes.

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
    await ledger.decide(id, { status: 'refused', reason: 'later', detail: 'Taken back.' });
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
    database.run(
      "INSERT INTO provenance(kind, target, thing, proposal, at) SELECT 'skill', 'written', '1', key, 1 FROM proposals WHERE id = ?",
      id,
    );
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
