import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import type { Room } from '#core/agent/room.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { forgetRows, selectMessages } from '#mind/sessions/forget-messages.ts';
import { createSqliteSessionStore, type SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { slow } from '../../../../slow.ts';
import { createStage } from '../../app-fixture.ts';
import {
  answered,
  called,
  createForgetStage,
  DAY,
  eventCount,
  forgetBeside,
  leaveTraces,
  NOW,
  resulted,
  SENTINEL,
  said,
  WORD,
  writeEvents,
} from './forget-stage.ts';

function search(store: SqliteSessionStore, word: string): Promise<readonly string[]> {
  return store
    .search(word)
    .then((hits) => hits.filter(({ snippet }) => snippet.includes(word)).map((hit) => hit.sessionId));
}

describe('forget --match', () => {
  test('no byte of the text is left in any file of the home; everything else stays', async (t) => {
    const stage = createForgetStage(t);
    const { secret, plain, pendingId } = await leaveTraces(stage);
    assert.equal(stage.filesWith(SENTINEL).length, 7, stage.filesWith(SENTINEL).join());
    const run = await stage.run({ match: SENTINEL.toLowerCase(), yes: true });
    assert.equal(run.failure, undefined, run.text);
    assert.deepEqual(stage.filesWith(SENTINEL), []);
    assert.deepEqual(stage.filesWith(WORD), [], 'stems of it are left in the index');
    await stage.within(async (store) => {
      const texts = (await store.messages(secret)).map(({ message }) => JSON.stringify(message.parts));
      assert.equal(texts.length, 6);
      assert.match(texts[2] ?? '', /list the logs of moria/);
      assert.deepEqual(await search(store, 'moria'), [secret]);
      assert.deepEqual(await search(store, 'sandal'), [plain]);
      assert.deepEqual(await store.checkIndex(), { agrees: true, differences: [] });
      assert.equal((await store.get(secret))?.title, undefined);
      assert.equal((await store.get(secret))?.messageCount, 6);
      assert.equal((await store.get(secret))?.toolCallCount, 1);
      assert.equal(await store.loadPrompt(secret), undefined);
      assert.equal((await store.spans(secret))[0]?.detail, undefined);
      const ledger = createProposalLedger({ database: store.database });
      assert.equal(ledger.get(pendingId)?.status, 'dropped');
      const refused = ledger.list({ status: 'refused' })[0];
      assert.deepEqual(
        refused?.citations.map(({ quote }) => quote),
        ['[forgotten]', 'how is the weather'],
      );
      assert.deepEqual([refused?.reason, refused?.change.forgotten], ['evidence_text_mismatch', true]);
    });
    assert.equal(eventCount(stage.home), 4, 'events without the text stay');
    assert.ok(!existsSync(join(stage.home.spill, secret, 'c2.txt')));
    assert.ok(existsSync(join(stage.home.spill, plain, 'c9.txt')));
    assert.equal(stage.temp.read('home/cache/input-history'), '"which port has sandal"\n');
    assert.match(stage.temp.read('home/logs/agent.log'), /kept/);
    const again = await stage.run({ match: SENTINEL, yes: true });
    assert.match(again.text, /nothing that could go held it/);
  });

  slow('words of the form (fields, roles, tools, states) are no content', async (t) => {
    const stage = createForgetStage(t);
    const { secret, plain } = await leaveTraces(stage);
    const snapshot = () =>
      stage.within(async (store) => ({
        messages: [...(await store.messages(secret)), ...(await store.messages(plain))],
        sessions: await store.list(),
        proposals: createProposalLedger({ database: store.database }).list(),
      }));
    const before = await snapshot();
    const logs = stage.temp.read('home/logs/agent.log');
    for (const word of [
      'owner',
      'origin',
      'parts',
      'tool-result',
      'terminal',
      'cli',
      'content',
      'review',
      'event',
      'scripted',
    ]) {
      const run = await stage.run({ match: word, yes: true });
      assert.equal(run.failure, undefined, word);
      assert.deepEqual(await snapshot(), before, word);
    }
    assert.equal(stage.temp.read('home/logs/agent.log'), logs);
    assert.equal(eventCount(stage.home), 6);
    const manifest = stage.temp.read('home/backups/skills/20260514T101502123000Z/manifest.json');
    await stage.run({ match: 'open-vault', yes: true });
    assert.equal(stage.temp.read('home/backups/skills/20260514T101502123000Z/manifest.json'), manifest);
  });

  slow('what the owner keeps is named with the way to clear it', async (t) => {
    const stage = createForgetStage(t);
    await leaveTraces(stage);
    stage.temp.write('home/memories/MEMORY.md', SENTINEL);
    stage.temp.write('home/skills/vault/SKILL.md', `---\nname: vault\ndescription: x\n---\n${SENTINEL}`);
    stage.temp.write('home/SOUL.md', `I know ${SENTINEL}`);
    stage.temp.write('home/state.db.before-20260101-000000-abcd', `old ${SENTINEL}`);
    const run = await stage.run({ match: SENTINEL, yes: true });
    assert.deepEqual(stage.filesWith(SENTINEL), [
      'SOUL.md',
      'memories/MEMORY.md',
      'skills/vault/SKILL.md',
      'state.db.before-20260101-000000-abcd',
    ]);
    assert.match(run.text, /still kept there: .*MEMORY\.md \(`talaria memory remove/);
    assert.match(run.text, /still kept there: .*SKILL\.md \(edit the skill/);
    assert.match(run.text, /still kept there: .*SOUL\.md/);
    assert.match(run.text, /still kept there: .*before-.*an old copy/);
    await stage.run({ match: SENTINEL, yes: true, everywhere: true });
    assert.deepEqual(stage.filesWith(SENTINEL), ['SOUL.md']);
  });

  test('a summary of what went goes, and what else it stood for is live again', async (t) => {
    const stage = createForgetStage(t);
    const id = await stage.within(async (store) => {
      const session = await store.create({ source: 'cli', cwd: '/' });
      const ids = [];
      for (const text of ['first thing', `about ${SENTINEL}`, 'third thing']) {
        ids.push((await store.append(session.id, said(text))).id);
        ids.push((await store.append(session.id, answered(`answer to ${text.slice(0, 5)}`))).id);
      }
      const summary = `Talked of ${SENTINEL}.`;
      await store.compact(session.id, {
        ids: ids.slice(0, 4),
        replacement: [{ role: 'user', parts: [{ type: 'text', text: summary, origin: 'model', label: 'summary' }] }],
      });
      return session.id;
    });
    await stage.run({ match: SENTINEL, yes: true });
    assert.deepEqual(stage.filesWith(WORD), []);
    await stage.within(async (store) => {
      const texts = (await store.messages(id))
        .map(({ message }) => message.parts[0])
        .map((part) => part && 'text' in part && part.text);
      assert.deepEqual(texts, ['first thing', 'answer to first', 'third thing', 'answer to third']);
      assert.equal((await store.checkIndex()).agrees, true);
    });
  });

  test('a call goes with its result, whichever of them holds the text', async (t) => {
    const stage = createForgetStage(t);
    const id = await stage.within(async (store) => {
      const session = await store.create({ source: 'cli', cwd: '/' });
      await store.append(session.id, said('look around'));
      await store.append(session.id, called('c1', 'ls'));
      await store.append(session.id, resulted('c1', SENTINEL));
      await store.append(session.id, {
        role: 'assistant',
        model: 'm',
        parts: [{ type: 'tool-call', callId: 'c3', name: 'x', arguments: { name: WORD, type: 'y' }, origin: 'model' }],
      });
      await store.append(session.id, resulted('c3', 'well'));
      await store.append(session.id, called('c2', 'pwd'));
      await store.append(session.id, resulted('c2', '/'));
      await store.append(session.id, answered('looked'));
      return session.id;
    });
    await stage.run({ match: WORD, yes: true });
    await stage.within(async (store) => {
      const roles = (await store.messages(id)).map(({ message }) => message.role);
      assert.deepEqual(roles, ['user', 'assistant', 'tool', 'assistant']);
    });
    assert.deepEqual(stage.filesWith(WORD), []);
  });

  test('another database of the home loses the text too, its keys stay', async (t) => {
    const stage = createForgetStage(t);
    await leaveTraces(stage);
    const path = join(stage.home.root, 'other', 'runs.sqlite');
    const steps = ['CREATE TABLE runs(id TEXT PRIMARY KEY, note TEXT, data TEXT)'];
    const { database } = openDatabase(path, { rooms: [{ room: 'other', steps }] });
    database.run('INSERT INTO runs VALUES(?, ?, ?)', 'run1', `saw ${SENTINEL}`, JSON.stringify({ deep: [SENTINEL] }));
    database.close();
    await stage.run({ match: SENTINEL, yes: true });
    assert.deepEqual(stage.filesWith(SENTINEL), []);
    const again = openDatabase(path, { rooms: [] }).database;
    assert.deepEqual(
      { ...again.get<object>('SELECT * FROM runs') },
      { id: 'run1', note: 'saw [forgotten]', data: '{"deep":["[forgotten]"]}' },
    );
    again.close();
  });
});

describe('forget --session', () => {
  test('a run that is stopped before the file is rewritten leaves no bytes after the next close', async (t) => {
    const stage = createForgetStage(t);
    await stage.within(async (store) => {
      const { id: sessionId } = await store.create({ source: 'cli', cwd: '/w', title: `open ${SENTINEL}` });
      await store.append(sessionId, said(`open ${SENTINEL}`));
      await store.append(sessionId, answered(SENTINEL));
      await forgetRows(store.database, { sessions: selectMessages(store.database, { kind: 'session', sessionId }) });
    });
    const bytes = readFileSync(stage.home.stateDatabase).toString('latin1').toLowerCase();
    assert.ok(!bytes.includes(WORD));
    assert.ok(!existsSync(`${stage.home.stateDatabase}-wal`));
  });

  test('the whole session goes with all its traces', async (t) => {
    const stage = createForgetStage(t);
    const { secret, plain } = await leaveTraces(stage);
    const run = await stage.run({ session: secret, yes: true });
    assert.equal(run.failure, undefined, run.text);
    const left = stage.filesWith(WORD);
    assert.deepEqual(left, ['logs/agent.log'], 'a log line that names no session is not known to be of it');
    await stage.within(async (store) => {
      assert.deepEqual(
        (await store.list()).map(({ id }) => id),
        [plain],
      );
      assert.equal((await store.checkIndex()).agrees, true);
      assert.equal(store.database.get<{ status: string }>('SELECT status FROM reviews')?.status, 'failed');
    });
    assert.equal(eventCount(stage.home), 3);
    assert.ok(!existsSync(join(stage.home.spill, secret)));
  });

  test('costs stay for the sums, under no session', async (t) => {
    const stage = createForgetStage(t);
    await stage.within(async (store) => {
      const { id } = await store.create({ source: 'cli', cwd: '/' });
      const usage = { inputTokens: 10, outputTokens: 1, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
      const span = {
        id: 's',
        sessionId: id,
        turn: 1,
        kind: 'step',
        name: 'm',
        startedAt: NOW,
        ms: 1,
        status: 'ok',
      } as const;
      await store.recordSpans([{ ...span, usage, cost: 0.5 }]);
    });
    await stage.run({ session: 'last', yes: true });
    await stage.within(async (store) => {
      assert.equal((await store.costs())[0]?.cost, 0.5);
      const next = await store.create({ source: 'cli', cwd: '/' });
      assert.deepEqual(await store.costs({ sessionId: next.id }), []);
    });
  });

  test('a fork keeps its copy, can be found by it, and is named', async (t) => {
    const stage = createForgetStage(t);
    const { origin, fork } = await stage.within(async (store) => {
      const session = await store.create({ source: 'cli', cwd: '/' });
      await store.append(session.id, said(`about ${WORD} things`));
      await store.append(session.id, answered('yes'));
      const forked = await store.fork(session.id);
      await store.append(forked.id, said('going on'));
      return { origin: session.id, fork: forked.id };
    });
    const run = await stage.run({ session: origin, yes: true });
    assert.match(run.text, new RegExp(`session ${fork} began as a copy`));
    await stage.within(async (store) => {
      assert.deepEqual(await search(store, WORD), [fork]);
      assert.equal((await store.get(fork))?.parentId, undefined);
      assert.deepEqual(await store.checkIndex(), { agrees: true, differences: [] });
    });
    await stage.run({ session: fork, yes: true });
    assert.deepEqual(stage.filesWith(WORD), []);
  });

  test('a session that another process has open is refused by name, and nothing goes', async (t) => {
    const stage = createForgetStage(t);
    const { secret } = await leaveTraces(stage);
    const other = createSqliteSessionStore({ path: stage.home.stateDatabase, clock: stage.clock });
    t.after(() => other.close());
    assert.ok((await other.claim(secret)).ok);
    for (const input of [{ session: secret }, { match: SENTINEL }]) {
      const run = await stage.run({ ...input, yes: true });
      assert.deepEqual([run.failure?.exitCode, run.failure?.code], [3, 'owned-elsewhere']);
      assert.match(run.failure?.message ?? '', new RegExp(secret));
    }
    assert.equal((await other.messages(secret)).length, 10);
  });
});

describe('forget --before', () => {
  test('whole turns before the moment go, and sessions of which nothing is left', async (t) => {
    const stage = createForgetStage(t);
    const { old, mixed } = await stage.within(async (store) => {
      const at = (days: number) => ({ at: NOW - days * DAY });
      const first = await store.create({ source: 'cli', cwd: '/' });
      await store.append(first.id, said(`long ago ${WORD}`), at(60));
      await store.append(first.id, answered('yes'), at(60));
      store.database.run(
        'UPDATE sessions SET last_active_at = ?, started_at = ? WHERE id = ?',
        NOW - 60 * DAY,
        NOW - 60 * DAY,
        first.id,
      );
      const second = await store.create({ source: 'cli', cwd: '/' });
      await store.append(second.id, said(`also ${WORD}`), at(31));
      await store.append(second.id, answered('an answer that came later'), at(29));
      await store.append(second.id, said('recent'), at(1));
      return { old: first.id, mixed: second.id };
    });
    stage.temp.write(
      'home/logs/agent.log',
      `{"at":"2026-01-01T00:00:00.000Z","text":"${WORD}"}\n{"at":"2026-05-31T00:00:00.000Z"}\n`,
    );
    stage.temp.write('home/backups/daily/state-2026-01-01.db', `a copy with ${WORD}`);
    writeEvents(stage.home, mixed, WORD);
    const run = await stage.run({ before: '30d', yes: true });
    assert.equal(run.failure, undefined, run.text);
    assert.deepEqual(stage.filesWith(WORD), []);
    await stage.within(async (store) => {
      assert.equal(await store.get(old), undefined);
      assert.equal((await store.messages(mixed)).length, 1);
      assert.equal((await store.checkIndex()).agrees, true);
    });
    assert.equal(eventCount(stage.home), 0);
  });

  test('a day begins at local midnight', async (t) => {
    const stage = createForgetStage(t);
    const midnight = new Date(2026, 0, 31).getTime();
    const id = await stage.within(async (store) => {
      const session = await store.create({ source: 'cli', cwd: '/' });
      await store.append(session.id, said('the evening before'), { at: midnight - 1 });
      await store.append(session.id, said('the morning'), { at: midnight });
      return session.id;
    });
    await stage.run({ before: '2026-01-31', yes: true });
    const left = await stage.within((store) => store.messages(id));
    assert.deepEqual(
      left.map(({ at }) => at),
      [midnight],
    );
  });
});

describe('forget: asking and refusing', () => {
  test('it asks; a no, silence and a missing terminal change nothing', async (t) => {
    const stage = createForgetStage(t);
    const { secret } = await leaveTraces(stage);
    const files = stage.filesWith(SENTINEL);
    assert.deepEqual((await stage.run({ session: secret })).failure?.code, 'needs-yes');
    for (const answer of ['', 'n', 'yesterday']) {
      const run = await stage.run({ session: secret }, { ask: async () => answer });
      assert.deepEqual([run.failure?.exitCode, run.failure?.code], [3, 'not-agreed']);
    }
    const dry = await stage.run({ match: SENTINEL, dryRun: true });
    assert.match(dry.text, /3? ?messages? in 1 session/);
    assert.match(dry.text, /nothing was changed: this was a dry run/);
    assert.match(dry.text, /holds it now: .*input-history/);
    assert.deepEqual(stage.filesWith(SENTINEL), files);
    assert.equal((await stage.run({ session: secret }, { ask: async () => ' Yes ' })).failure, undefined);
  });

  test('bad input is a usage error, an unknown session a refusal', async (t) => {
    const stage = createForgetStage(t);
    const wrong: readonly (readonly [Record<string, unknown>, string])[] = [
      [{}, 'one-of-three'],
      [{ session: 'last', match: 'abc' }, 'one-of-three'],
      [{ before: 'yesterday' }, 'no-time'],
      [{ before: '-3d' }, 'no-time'],
      [{ before: '2026-13-45' }, 'no-time'],
      [{ before: '' }, 'no-time'],
      [{ match: ' a ' }, 'text-too-short'],
      [{ session: 'last', everywhere: true }, 'everywhere-alone'],
    ];
    for (const [input, code] of wrong) {
      const { failure } = await stage.run({ ...input, yes: true });
      assert.deepEqual([failure?.exitCode, failure?.code], [2, code], JSON.stringify(input));
    }
    const { failure } = await stage.run({ session: 'nothing', yes: true });
    assert.deepEqual([failure?.exitCode, failure?.code], [3, 'no-such-session']);
  });
});

test('a room takes out whole entries before what is left in any database loses the text', async (t) => {
  const kept: string[][] = [];
  const room: Room = {
    name: 'notes',
    open: (ground) => {
      const database = ground.database('notes.db', { room: 'notes', steps: ['CREATE TABLE notes(text TEXT)'] });
      const notes = () => database.all<{ text: string }>('SELECT text FROM notes').map(({ text }) => text);
      database.run("INSERT INTO notes VALUES('blue zebra'), ('red fish')");
      return {
        forget: async ({ holds }) => {
          const meant = notes().filter((text) => holds?.(text));
          for (const text of meant) database.run('DELETE FROM notes WHERE text = ?', text);
          return [{ name: 'notes', count: meant.length }];
        },
        close: () => void kept.push(notes()),
      };
    },
  };
  const { data } = await forgetBeside(createStage(t), room, { match: 'zebra', yes: true });
  assert.deepEqual(kept, [['red fish']]);
  assert.deepEqual((data as { gone: object }).gone, { notes: 1 });
});
