import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answered, createForgetStage, DAY, eventCount, NOW, said, writeEvents } from './forget-stage.ts';
import { leaveTraces, SENTINEL, WORD } from './traces.ts';

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
