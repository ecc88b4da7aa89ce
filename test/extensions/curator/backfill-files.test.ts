import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isoTime } from '#base/clock.ts';
import { backfillSessions, reportLines } from '#extensions/curator/backfill/backfill-sessions.ts';
import { assistant, call, owner } from '../../mind/evidence/conversation.ts';
import { verifies } from '../../verifies.ts';
import { called, createBackfillStage, DAY, result, said, tell, user } from './backfill-stage.ts';

const KEY = 'sk-ant-api03-k3JH2kj4h5KJH34kjh5KJh345kjh';

const TALK = [
  { role: 'system', content: 'You are calm.' },
  user('put it online'),
  called(['c1', 'skill_view', { name: 'deploy' }]),
  result('c1', '{"success": true, "content": "exit code 3 means permission denied"}'),
  called(['c2', 'terminal', { command: 'make' }], ['c3', 'terminal', '{broken']),
  result('c3', 'Traceback (most recent call last)'),
  result('c2', '{"output": "no errors, 0 failed", "exit_code": 0}'),
  said('It is online, I ran terminal(make) for you.'),
  user('and now?'),
  said('Still.'),
];

describe('evidence from session files', () => {
  verifies(
    [
      'curator:backfill:session-fields',
      'curator:backfill:tool-pairs',
      'curator:backfill:turns',
      'curator:backfill:marker',
      'curator:backfill:no-guessing',
    ],
    'calls with their results, both verdicts and the active skill; turns; one end',
    async (t) => {
      const stage = createBackfillStage(t);
      stage.file('s1', { model: 'm/1', platform: 'telegram', messages: TALK });
      const report = await stage.fill();
      assert.partialDeepStrictEqual(report, {
        ...{ sessions_dir: stage.folder, days: 30, limit: null, sessions_seen: 1, sessions_imported: 1 },
        ...{ sessions_skipped_old: 0, files_failed: 0 },
        ...{ tool_events_imported: 3, turn_events_imported: 2, session_events_imported: 1 },
      });
      assert.equal(report.missing, undefined);
      const start = stage.clock.now() - DAY;
      const second = `${isoTime(start).slice(0, 19)}+00:00`;
      assert.deepEqual(
        stage
          .rows('tool_events')
          .map((row) => [row.tool_name, row.skill_name, row.active_skill, row.is_error, row.is_error_upstream]),
        [
          ['skill_view', 'deploy', 'deploy', 0, 0],
          ['terminal', null, 'deploy', 0, 1],
          ['terminal', null, 'deploy', 0, 0],
        ],
      );
      const [first, broken] = stage.rows('tool_events');
      assert.partialDeepStrictEqual(first, { session_id: 's1', created_at: second, duration_ms: null });
      assert.equal(broken?.args_json, '{"raw_arguments":"{broken"}');
      assert.deepEqual(
        stage.rows('turn_events').map((row) => [row.model, row.platform, row.user_preview, row.assistant_preview]),
        [
          ['m/1', 'telegram', 'put it online', 'It is online, I ran terminal(make) for you.'],
          ['m/1', 'telegram', 'and now?', 'Still.'],
        ],
      );
      assert.partialDeepStrictEqual(stage.rows('session_events'), [
        { session_id: 's1', completed: 1, interrupted: 0, platform: 'telegram' },
      ]);
    },
  );

  verifies('curator:backfill:idempotent', 'a second run adds nothing; what was said since is added', async (t) => {
    const stage = createBackfillStage(t);
    stage.file('s1', { messages: TALK });
    await stage.fill();
    const again = await stage.fill();
    assert.partialDeepStrictEqual(again, {
      ...{ sessions_seen: 1, sessions_imported: 0 },
      ...{ tool_events_imported: 0, turn_events_imported: 0, session_events_imported: 0 },
    });
    stage.file('s1', { messages: [...TALK, called(['c4', 'terminal']), result('c4', 'x')] });
    assert.partialDeepStrictEqual(await stage.fill(), { tool_events_imported: 1, turn_events_imported: 0 });
  });

  test('a compressed transcript of the same session counts nothing again', async (t) => {
    const stage = createBackfillStage(t);
    stage.file('s1', { messages: TALK });
    await stage.fill();
    const summary = user('[CONTEXT COMPACTION — REFERENCE ONLY] much was done');
    stage.file('s1', { messages: [summary, said('Noted.'), user('before'), ...TALK.slice(1)] });
    const again = await stage.fill();
    assert.partialDeepStrictEqual(again, { tool_events_imported: 0, turn_events_imported: 0 });
  });

  test('calls without an id are told apart by where they stand, and answered in order', async (t) => {
    const stage = createBackfillStage(t);
    const step = (command: string) => [
      called([undefined, 'terminal', { command }]),
      result(undefined, `ran ${command}`),
    ];
    const two = called([undefined, 'terminal', { command: 'c' }], [undefined, 'terminal', { command: 'd' }]);
    const rest = [two, result(undefined, 'ran c'), result(undefined, 'ran d'), said('ok')];
    stage.file('s1', {
      messages: [user('go'), ...step('a'), ...step('b'), ...rest, user('on'), ...step('e'), said('ok')],
    });
    assert.equal((await stage.fill()).tool_events_imported, 5);
    assert.deepEqual(
      stage.rows('tool_events').map(({ args_json, result_preview }) => [args_json, result_preview]),
      ['a', 'b', 'c', 'd', 'e'].map((name) => [`{"command":"${name}"}`, `ran ${name}`]),
    );
    assert.equal((await stage.fill()).tool_events_imported, 0);
  });

  test('rows have the time of their own message, never one to come', async (t) => {
    const stage = createBackfillStage(t);
    const now = stage.clock.now();
    const at = (ms: number, message: object) => ({ ...message, timestamp: (now - ms) / 1000 });
    const messages = [
      at(3 * DAY, user('go')),
      at(3 * DAY, called(['a', 'terminal'])),
      at(2 * DAY, result('a', 'x')),
      { ...called(['b', 'terminal']), timestamp: 'never' },
      { ...result('b', 'y'), timestamp: 1e300 },
      at(-5 * DAY, said('done')),
    ];
    stage.file('s1', { messages }, 40 * DAY);
    assert.equal((await stage.fill()).sessions_imported, 1, 'its last calls are in the window');
    const time = (ms: number) => `${isoTime(ms).slice(0, 19)}+00:00`;
    assert.deepEqual(
      stage.rows('tool_events').map((row) => row.created_at),
      [time(now - 2 * DAY), time(now)],
    );
    assert.equal(stage.rows('turn_events')[0]?.created_at, time(now));
  });

  verifies('curator:backfill:newest-first', 'the window first, then the newest so many of it', async (t) => {
    const stage = createBackfillStage(t);
    const ids = ['a', 'b', 'c', 'd'];
    for (const [index, id] of ids.entries()) stage.file(id, { messages: TALK }, (index + 1) * 10 * DAY);
    await tell(stage, 'own', [owner('x'), assistant('y')], 15 * DAY);
    const report = await stage.fill({ limit: 2 });
    assert.partialDeepStrictEqual(report, { limit: 2, sessions_imported: 2, sessions_seen: 2 });
    assert.deepEqual(
      stage.rows('session_events').map((row) => row.session_id),
      ['a', 'own'],
    );
    assert.partialDeepStrictEqual(await stage.fill({ days: 25, limit: 0 }), {
      ...{ limit: null, sessions_seen: 5, sessions_imported: 1, sessions_skipped_old: 2 },
    });
    assert.equal((await stage.fill({ days: 99_999 })).days, 3650);
    assert.equal((await stage.fill({ days: -3 })).days, 1);
  });

  test('an old file that was copied today is old; one without a time is as old as its file', async (t) => {
    const stage = createBackfillStage(t);
    const start = isoTime(stage.clock.now() - 90 * DAY).slice(0, 19);
    stage.file('old', { session_start: start, messages: TALK }, DAY);
    stage.file('fresh', { session_start: 'nonsense', messages: TALK }, DAY);
    stage.file('stale', { session_start: null, messages: TALK }, 90 * DAY);
    const report = await stage.fill();
    assert.partialDeepStrictEqual(report, { sessions_imported: 1, sessions_skipped_old: 2, files_failed: 0 });
    assert.equal(stage.rows('session_events')[0]?.session_id, 'fresh');
  });

  verifies('curator:backfill:broken-file', 'what cannot be read is counted, and hides nothing else', async (t) => {
    const stage = createBackfillStage(t);
    stage.file('utf8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]));
    stage.file('json', '{"messages": [');
    stage.file('list', '[]');
    stage.file('empty', '');
    truncateSync(stage.file('huge', '{}'), 65 * 1024 * 1024);
    const nested = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`;
    stage.file(
      'deep',
      `{"messages":[{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"t","arguments":${nested}}}]}]}`,
    );
    mkdirSync(join(stage.folder, 'session_folder.json'));
    writeFileSync(join(stage.folder, 'sessions.json'), '{}');
    stage.file('fine', { messages: TALK });
    const report = await stage.fill({ days: 3650 });
    assert.equal(report.files_failed, 7);
    assert.equal(report.sessions_imported, 1);
    assert.equal(report.notes.length, 7, 'how many, five paths with reasons, one line for the rest');
    const lines = reportLines(report);
    assert.ok(lines.includes('7 sessions could not be read:') && lines.includes('and 2 more'), lines.join('\n'));
    const named = lines.filter((line) => line.startsWith(`not read: ${join(stage.folder, 'session_')}`));
    assert.equal(named.length, 5, lines.join('\n'));
  });

  test('a damaged message of ours costs its session only', async (t) => {
    const stage = createBackfillStage(t);
    await tell(stage, 'broken', [owner('go'), ...call('terminal', {}, 'ok'), assistant('y')]);
    await tell(stage, 'whole', [owner('go'), ...call('terminal', {}, 'ok'), assistant('y')]);
    stage.store.database.run("UPDATE messages SET body = '{' WHERE role = 'tool' AND session = 1");
    const report = await stage.fill();
    assert.partialDeepStrictEqual(report, { files_failed: 1, sessions_imported: 1, tool_events_imported: 1 });
    assert.match(
      report.notes.join(),
      /1 session could not be read:,not read: broken: message \d+ of broken cannot be read/,
    );
    assert.equal(stage.rows('session_events')[0]?.session_id, 'whole');
  });

  test('odd data becomes odd rows, not failures', async (t) => {
    const stage = createBackfillStage(t);
    const strange = [7, null, 'text', { role: 5 }, { role: 'tool', content: { error: 'x' }, tool_call_id: 'o' }];
    stage.file('strange', {
      session_id: 'odd\u0000\ud800id',
      platform: 9,
      messages: [
        ...strange,
        user('\ud83d go \u0000'),
        called(['\ud800\u0000', `${'n'.repeat(300)}\u0000`, { '\ud800': '\u0000' }]),
        result('\ud800\u0000', { error: 'no such thing' }),
        said(`look: ${KEY} \ud800`),
      ],
    });
    stage.file('object', { messages: { not: 'a list' } });
    const report = await stage.fill();
    assert.partialDeepStrictEqual(report, { files_failed: 0, sessions_imported: 2, tool_events_imported: 1 });
    const [row] = stage.rows('tool_events');
    assert.partialDeepStrictEqual(row, { is_error: 1, is_error_upstream: 1 });
    assert.ok(!JSON.stringify(stage.rows('turn_events')).includes(KEY));
    assert.equal((await stage.fill()).tool_events_imported, 0);
  });

  test('a missing folder is said, ours are read all the same; a folder that is a file is no folder', async (t) => {
    const stage = createBackfillStage(t);
    await tell(stage, 'own', [owner('x'), assistant('y')]);
    const report = await stage.fill({ sessionsDir: join(stage.folder, 'nowhere') });
    assert.partialDeepStrictEqual(report, { missing: true, sessions_imported: 1 });
    const file = stage.temp.write('file', 'x');
    const odd = await stage.fill({ sessionsDir: file });
    assert.match(odd.notes.join('\n'), /file cannot be read/);
  });

  test('without a folder named, hermes-agent’s is not read but named', async (t) => {
    const stage = createBackfillStage(t);
    stage.temp.write('.hermes/sessions/session_x.json', JSON.stringify({ session_id: 'x', messages: TALK }));
    const report = await backfillSessions(stage.sources, { days: 30 }, new AbortController().signal);
    assert.partialDeepStrictEqual(report, { missing: true, sessions_seen: 0 });
    assert.match(report.notes.join('\n'), /not read: .*\.hermes.sessions; to read it add --sessions-dir /);
    stage.temp.write('home/sessions/session_y.json', JSON.stringify({ session_id: 'y', messages: TALK }));
    assert.equal(
      (await backfillSessions(stage.sources, { days: 3650 }, new AbortController().signal)).sessions_imported,
      1,
    );
  });

  verifies(
    'curator:backfill:counts',
    'it counts by source, and touches neither skills nor what it reads',
    async (t) => {
      const stage = createBackfillStage(t);
      stage.temp.write('home/skills/deploy/SKILL.md', 'x');
      stage.file('s1', { messages: TALK });
      await tell(stage, 'own', [owner('go'), ...call('terminal', {}, 'ok'), assistant('y')]);
      const before = [
        readdirSync(stage.folder),
        readdirSync(join(stage.temp.path, 'home/skills'), { recursive: true }),
      ];
      const report = await stage.fill();
      assert.deepEqual(
        report.sources.map((one) => [
          one.source,
          one.sessions_imported,
          one.tool_events_imported,
          one.turn_events_imported,
        ]),
        [
          ['talaria', 1, 1, 1],
          ['session-files', 1, 3, 2],
        ],
      );
      assert.partialDeepStrictEqual(report, { sessions_imported: 2, tool_events_imported: 4, turn_events_imported: 3 });
      assert.deepEqual(before, [
        readdirSync(stage.folder),
        readdirSync(join(stage.temp.path, 'home/skills'), { recursive: true }),
      ]);
    },
  );

  test('stopped half-way it can be run again', async (t) => {
    const stage = createBackfillStage(t);
    for (const id of ['a', 'b', 'c']) stage.file(id, { messages: TALK });
    await assert.rejects(stage.fill({}, AbortSignal.abort()), { name: 'AbortError' });
    assert.equal((await stage.fill()).sessions_imported, 3);
    rmSync(stage.folder, { recursive: true });
    assert.equal((await stage.fill()).missing, true);
  });
});

const id = fc.option(fc.constantFrom('a', 'b', 'call_0', ''), { nil: undefined });
const name = fc.constantFrom('terminal', 'skill_view', 'read_file');
const message = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }).map(user),
  fc.string({ unit: 'binary', maxLength: 20 }).map(said),
  fc
    .array(fc.tuple(id, name, fc.oneof(fc.string(), fc.dictionary(fc.string(), fc.jsonValue()))), { maxLength: 3 })
    .map((calls) => called(...calls)),
  fc.tuple(id, fc.oneof(fc.string(), fc.jsonValue())).map(([one, content]) => result(one, content)),
  fc.jsonValue(),
);

describe('any transcript', () => {
  test('is taken or counted as failed; a second time adds nothing; each call is one event', async (t) => {
    const stage = createBackfillStage(t);
    let n = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 12 }), async (messages) => {
        n += 1;
        const path = stage.file(`s${n}`, { messages });
        const first = await stage.fill({ limit: 1 });
        const asked = messages.flatMap((one) => {
          const call = one as { role?: unknown; tool_calls?: unknown } | null;
          return call?.role === 'assistant' && Array.isArray(call.tool_calls) ? call.tool_calls : [];
        });
        assert.deepEqual([first.files_failed, first.session_events_imported], [0, 1]);
        assert.equal(first.tool_events_imported, asked.length);
        const again = await stage.fill({ limit: 1 });
        assert.deepEqual([again.tool_events_imported, again.turn_events_imported, again.sessions_imported], [0, 0, 0]);

        rmSync(path);
      }),
      { numRuns: 40 },
    );
  });
});
