/** A state.db that is damaged is never replaced by an empty one unasked; what can be read of it can be saved. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext } from 'node:test';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../verifies.ts';
import { DAMAGES, MESSAGES, SESSIONS, type Tried, tryDamage, wholeState } from './damaged-states.ts';

describe('a damaged state.db', () => {
  verifies(
    ['core:session:corrupt-kept', 'core:session:salvage'],
    'of every kind is refused or whole, and salvage ends with what can be read',
    async (context) => {
      const { path } = createTempHome(context as TestContext);
      const whole = { log: join(path, 'log.db'), file: join(path, 'file.db') };
      await wholeState(whole.log, true);
      await wholeState(whole.file, false);
      const tried: Record<string, Tried> = {};
      for (const name of Object.keys(DAMAGES))
        tried[name] = await tryDamage(/\blog\b/.test(name) ? whole.log : whole.file, path, [name, 7]);
      for (const name of ['header overwritten', 'first page zeroed', 'emptied', 'gone, with its log left'])
        assert.equal(tried[name]?.refused, true, name);
      assert.equal(
        tried['header overwritten']?.saved,
        SESSIONS * MESSAGES,
        'the header says nothing that the rest does not',
      );
      assert.ok((tried['pages zeroed']?.saved ?? 0) > 0);
    },
  );
});
