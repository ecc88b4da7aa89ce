import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { DatabaseNotice } from '#base/database.ts';
import type { Message, ToolCallPart, ToolResultPart } from '#core/model/message.ts';
import { createEvidenceLedger, type EvidenceLedger } from '#mind/evidence/ledger/evidence-ledger.ts';
import type { JsonObject, TurnInfo } from '#public/talaria.ts';
import { createManualClock, type ManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { assistant, call, owner } from '../conversation.ts';

const KEY = 'sk-ant-api03-k3JH2kj4h5KJH34kjh5KJh345kjh';
const TURN: TurnInfo = { sessionId: 's1', source: 'cli', cwd: '/', turn: 1 };

function open(context: TestContext): {
  readonly ledger: EvidenceLedger;
  readonly path: string;
  readonly clock: ManualClock;
} {
  const path = join(createTempHome(context).path, 'data', 'evidence.sqlite');
  const clock = createManualClock();
  const ledger = createEvidenceLedger({ path, clock });
  context.after(() => ledger.close());
  return { ledger, path, clock };
}

async function ran(
  ledger: EvidenceLedger,
  name: string,
  given: JsonObject,
  how: Parameters<typeof call>[3] & { text?: string } = {},
  turn = TURN,
): Promise<void> {
  const [asked, answered] = call(name, given, how.text ?? 'ok', how);
  await ledger.hooks.afterTool?.(turn, asked.parts[0] as ToolCallPart, answered.parts[0] as ToolResultPart);
}

function rows(ledger: EvidenceLedger, table: string): readonly Record<string, unknown>[] {
  return ledger.database.all<Record<string, unknown>>(`SELECT * FROM ${table} ORDER BY id`).map((row) => ({ ...row }));
}

const ended = (messages: readonly Message[], outcome: 'done' | 'aborted' | 'failed' = 'done') => ({
  outcome,
  messages,
});

describe('evidence ledger', () => {
  test('the events of a turn are committed together when it ends', async (context) => {
    const { ledger, path } = open(context);
    await ran(ledger, 'terminal', { command: 'make' }, { exitCode: 2, callId: 'a' });
    await ran(ledger, 'read_file', { path: 'x' }, { text: 'no errors, 0 failed', callId: 'b' });
    assert.equal(rows(ledger, 'tool_events').length, 0);
    const talk = [
      owner('earlier'),
      assistant('yes'),
      owner('build it', { type: 'text', text: 'injected', origin: 'foreign', label: 'context' }),
      assistant('done'),
    ];
    await ledger.hooks.afterTurn?.(TURN, ended(talk));
    const [first, second] = rows(ledger, 'tool_events');
    assert.partialDeepStrictEqual(first, {
      created_at: '2026-01-15T12:00:00+00:00',
      session_id: 's1',
      tool_name: 'terminal',
      duration_ms: 1,
      is_error: 1,
      skill_name: null,
      args_json: '{"command":"make"}',
      result_preview: 'ok',
      active_skill: null,
      is_error_upstream: 0,
    });
    assert.partialDeepStrictEqual(second, { is_error: 0, is_error_upstream: 1 });
    assert.partialDeepStrictEqual(rows(ledger, 'turn_events')[0], {
      session_id: 's1',
      model: 'test/one',
      platform: 'cli',
      user_preview: 'build it',
      assistant_preview: 'done',
    });
    assert.equal(ledger.database.get<{ journal_mode: string }>('PRAGMA journal_mode')?.journal_mode, 'wal');
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  test('secrets are taken out before anything is stored, also at the edge of a preview', async (context) => {
    const { ledger, path } = open(context);
    await ran(
      ledger,
      'terminal',
      { command: `curl -H "x: ${KEY}"`, env: { password: 'hunter2!Xyz' } },
      { text: `${'x'.repeat(480)} ${KEY}` },
    );
    await ledger.hooks.afterTurn?.(TURN, ended([owner(`my key is ${KEY}`), assistant(`I see ${KEY}`)]));
    await ledger.close();
    for (const name of readdirSync(dirname(path))) {
      const bytes = readFileSync(join(dirname(path), name), 'latin1');
      assert.ok(!bytes.includes(KEY.slice(0, 18)) && !bytes.includes('hunter2'), name);
    }
  });

  test('ordinary calls belong to the skill that was viewed before them in the same turn', async (context) => {
    const { ledger } = open(context);
    await ran(ledger, 'terminal', {}, { callId: 'a' });
    await ran(ledger, 'skill_view', { name: 'missing' }, { isError: true, callId: 'b' });
    await ran(ledger, 'skill_view', { name: 'deploy' }, { callId: 'c' });
    await ran(ledger, 'terminal', {}, { exitCode: 2, callId: 'd' });
    await ledger.hooks.afterTurn?.(TURN, ended([owner('x')]));
    await ran(ledger, 'terminal', {}, { callId: 'a' }, { ...TURN, turn: 2 });
    await ledger.hooks.afterTurn?.({ ...TURN, turn: 2 }, ended([owner('y')]));
    const found = rows(ledger, 'tool_events').map((row) => [row.skill_name, row.active_skill, row.is_error]);
    assert.deepEqual(found, [
      [null, null, 0],
      ['missing', 'missing', 1],
      ['deploy', 'deploy', 0],
      [null, 'deploy', 1],
      [null, null, 0],
    ]);
  });

  test('an event counts once, calls with one id in one turn each count', async (context) => {
    const { ledger } = open(context);
    const turn = async () => {
      await ran(ledger, 'terminal', {}, { callId: 'same' });
      await ran(ledger, 'terminal', {}, { callId: 'same' });
      await ledger.hooks.afterTurn?.(TURN, ended([owner('x')]));
    };
    await turn();
    await turn();
    assert.equal(rows(ledger, 'tool_events').length, 2);
    assert.equal(rows(ledger, 'turn_events').length, 1);
  });

  test('a session has one end, the last one', async (context) => {
    const { ledger, clock } = open(context);
    await ledger.hooks.afterTurn?.(TURN, ended([owner('x'), assistant('y')], 'aborted'));
    await ledger.hooks.sessionEnd?.(TURN);
    assert.partialDeepStrictEqual(rows(ledger, 'session_events')[0], {
      completed: 0,
      interrupted: 1,
      model: 'test/one',
    });
    await clock.advance(5_000);
    await ledger.hooks.afterTurn?.({ ...TURN, turn: 2 }, ended([owner('x')]));
    await ledger.hooks.sessionEnd?.(TURN);
    const ends = rows(ledger, 'session_events');
    assert.equal(ends.length, 1);
    assert.partialDeepStrictEqual(ends[0], { completed: 1, interrupted: 0, created_at: '2026-01-15T12:00:05+00:00' });
  });

  test('closing writes what no turn has written; pruning takes what is old', async (context) => {
    const { ledger, path, clock } = open(context);
    await ran(ledger, 'terminal', {});
    await ledger.close();
    const again = createEvidenceLedger({ path, clock });
    context.after(() => again.close());
    assert.equal(rows(again, 'tool_events').length, 1);
    await clock.advance(60_000);
    await again.hooks.afterTurn?.(TURN, ended([owner('x')]));
    assert.equal(await again.prune(clock.now()), 1);
    assert.deepEqual([rows(again, 'tool_events').length, rows(again, 'turn_events').length], [0, 1]);
  });

  test('a file that is no database is put aside with a notice, a newer one costs no turn', async (context) => {
    const home = createTempHome(context);
    const path = join(home.path, 'evidence.sqlite');
    writeFileSync(path, 'this is no database, it is text that goes on for a while'.repeat(20));
    const told: DatabaseNotice[] = [];
    const first = createEvidenceLedger({ path, notice: (one) => void told.push(one) });
    assert.equal(told.length, 0, 'nothing is opened before it is needed');
    first.database.run("UPDATE schema_versions SET version = 99 WHERE room = 'ledger'");
    assert.equal(told[0]?.code, 'database-quarantined');
    assert.ok(existsSync(told[0]?.copy ?? ''));
    await first.close();
    const newer = createEvidenceLedger({ path, notice: (one) => void told.push(one) });
    context.after(() => newer.close());
    await ran(newer, 'terminal', {});
    await newer.hooks.afterTurn?.(TURN, ended([owner('x')]));
    assert.equal(told[1]?.code, 'opened-read-only');
    assert.equal(rows(newer, 'tool_events').length, 0);
  });
});
