import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openSessions } from 'talaria/sessions';
import { errorCode } from '#base/errors.ts';
import { verifies } from '../../verifies.ts';
import { withFolder } from './temp-store.ts';

describe('the entry talaria/sessions', () => {
  verifies('core:entry:sessions', 'appends, searches and closes; another opening finds the same', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'some.db');
      const sessions = openSessions(path);
      const said = {
        sessionId: 'any name',
        role: 'user',
        content: 'I adopted a grey kitten.',
        timestamp: 1_700_000_000_000,
      };
      const { messageId } = await sessions.append({ ...said, speaker: 'Ada' });
      await sessions.append({
        ...said,
        role: 'assistant',
        content: 'Congratulations!',
        timestamp: '2023-11-15T00:00:00Z',
      });
      const hits = await sessions.search('which cat did Ada adopt?', { limit: 1 });
      assert.equal(hits.length, 1);
      assert.deepEqual(
        { ...hits[0], score: 0 },
        {
          sessionId: 'any name',
          messageId,
          score: 0,
          snippet: 'I >>>adopted<<< a grey >>>kitten<<<.',
        },
      );
      assert.ok((hits[0]?.score ?? 0) > 0);
      await sessions.close();
      const again = openSessions(path);
      assert.equal((await again.search('kitten'))[0]?.messageId, messageId);
      await again.close();
    }),
  );

  test('takes other roles as speakers, and times in seconds, as text and as dates', () =>
    withFolder(async (folder) => {
      const sessions = openSessions(join(folder, 'some.db'));
      const add = (role: string, timestamp: number | string | Date) =>
        sessions.append({ sessionId: 's', role, content: `a walnut from ${role}`, timestamp });
      await add('narrator', 1_700_000_000);
      await add('tool', new Date(1_700_000_000_000));
      await add('system', '2023-11-14T22:13:20Z');
      assert.equal((await sessions.search('walnut', { limit: 10 })).length, 3);
      await assert.rejects(
        () => add('user', 'not a time'),
        (error) => errorCode(error) === 'invalid-message',
      );
      const broken = { sessionId: 's', role: 'user', content: 7 as unknown as string };
      await assert.rejects(
        () => sessions.append(broken),
        (error) => errorCode(error) === 'invalid-message',
      );
      await sessions.close();
    }));
});
