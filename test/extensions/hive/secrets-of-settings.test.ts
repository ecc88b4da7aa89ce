/** What `memory.env` gives as a secret of peers, in whatever way it is written. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configSchema } from '#surfaces/app/home/config-schema.ts';
import { findHome } from '#surfaces/app/home/home.ts';
import { childEnvironment } from '#surfaces/app/parts/compose-models.ts';
import { createLiveRedaction } from '#surfaces/app/parts/live-redaction.ts';
import { createTempHome } from '#testing/temp-home.ts';

describe('the token in memory.env', () => {
  test('what is given as a secret is redacted, as it stands and by whatever variable, and no command sees the variable', (t) => {
    const { path } = createTempHome(t);
    const environment = { variables: { TALARIA_HOME: `${path}/home` }, cwd: path, userHome: path };
    const home = findHome(environment);
    const around = {
      ...environment,
      variables: { ...environment.variables, BOB_TOKEN: 'token-of-bob-123', PATH: '/bin' },
    };
    const given = [{ MATRIX_ACCESS_TOKEN: 'written-literally-1' }, { MATRIX_ACCESS_TOKEN: '${BOB_TOKEN}' }];
    const [literal, named] = given.map((env) => createLiveRedaction(home, around, env));
    assert.equal(literal?.('a written-literally-1 b'), 'a [redacted] b');
    assert.equal(named?.('a token-of-bob-123 b'), 'a [redacted] b');
    const seenWith = (env: Record<string, string>, names: readonly string[]) => {
      const config = configSchema.parse({ memory: { env }, sandbox: { env: names } });
      return Object.keys(childEnvironment(home, around, config)).sort();
    };
    assert.deepEqual(seenWith(given[1] ?? {}, []), ['PATH', 'TALARIA_HOME', 'TALARIA_INSIDE']);
    assert.ok(seenWith(given[0] ?? {}, ['BOB_TOKEN']).includes('BOB_TOKEN'), 'the owner named it');
  });
});
