import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { skillSchema } from '#mind/skills/skill-schema.ts';
import { usedTurns, usesByVersion } from '#mind/skills/use/read-uses.ts';
import { insertUse } from '#mind/skills/use/use-rows.ts';
import { createTempHome } from '#testing/temp-home.ts';

describe('the uses of a skill', () => {
  test('are counted by version, and their turns come in order', async (t) => {
    const { database } = openDatabase(join(createTempHome(t).path, 'state.db'), { rooms: [skillSchema] });
    t.after(() => database.close());
    const use = (skill: string, version: number, turn: number, outcome: 'success' | 'failure') =>
      insertUse(database, { skill, version, sessionId: 's', turn, outcome, reason: 'next-turn', at: turn });
    await use('a', 2, 1, 'success');
    await use('a', 2, 2, 'failure');
    await use('a', 0, 3, 'success');
    await use('b', 2, 3, 'success');
    assert.deepEqual(usesByVersion(database, 'a'), [
      { version: 0, successes: 1, failures: 0 },
      { version: 2, successes: 1, failures: 1 },
    ]);
    assert.deepEqual(usesByVersion(database, 'c'), []);
    assert.deepEqual(
      [...usedTurns(database, 'a', 2)].map(({ sessionId, turn }) => [sessionId, turn]),
      [
        ['s', 1],
        ['s', 2],
      ],
    );
  });
});
