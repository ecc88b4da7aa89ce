import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createStage, runCommand } from '../../../surfaces/app/app-fixture.ts';
import { verifies } from '../../../verifies.ts';
import { signedInStage, signIn } from './signed-in-stage.ts';

describe('peers doctor', () => {
  test('a sign-in that works has every check fine', async (t) => {
    const { stage } = await signedInStage(t);
    const { text, failure } = await runCommand(stage, 'peers doctor');
    assert.equal(failure, undefined, text);
    assert.match(text, /^ok {4}provider: .*\nok {4}settings: @hermes-of-bob:localhost at http/);
    assert.doesNotMatch(text, /^fail/m);
  });

  verifies(['R4.10', 'R4.70'], 'each missing variable is named, and the way to sign in', async (t) => {
    const stage = createStage(t);
    const { text, failure } = await runCommand(stage, 'peers doctor');
    assert.equal(failure?.exitCode, 1);
    assert.match(
      text,
      /fail {2}provider: memory\.provider is not set\n {6}.*talaria config set memory\.provider hivemind/,
    );
    assert.match(
      text,
      /fail {2}settings: .*MATRIX_HOMESERVER, MATRIX_USER_ID and MATRIX_ACCESS_TOKEN.*\n {6}Sign in: talaria peers login/,
    );
  });

  verifies(['R4.72'], 'a server that is down, an expired token, and a token of another user are found', async (t) => {
    const { server, stage, account } = await signedInStage(t);
    const broken = async (pattern: RegExp) => {
      const { text, failure } = await runCommand(stage, 'peers doctor');
      assert.deepEqual([failure?.exitCode, failure?.code], [1, 'peers-unhealthy'], text);
      assert.match(text, pattern);
      assert.ok(!text.includes(account.accessToken));
    };
    await server.wire.down();
    await broken(/^fail .*127\.0\.0\.1/m);
    await server.wire.up();
    server.doors.expireToken(account.accessToken);
    await broken(/^fail[^\n]*\n {6}.*talaria peers login/m);
    const other = await server.register('hermes-of-eve');
    signIn(stage, { url: server.url, account: { ...other, userId: account.userId } });
    await broken(/^fail[^\n]*hermes-of-eve/m);
  });

  verifies(['R4.70'], 'without a sign-in the agent starts, says so once and works', async (t) => {
    const stage = createStage(t);
    const { root, temp } = stage;
    temp.write('home/config.yaml', 'version: 1\nmemory:\n  provider: hivemind\n');
    const app = await stage.open({ model: 'reflex' });
    assert.match(
      app.notices.join('\n'),
      /MATRIX_HOMESERVER, MATRIX_USER_ID and MATRIX_ACCESS_TOKEN .*talaria peers login/,
      root,
    );
    assert.ok(!app.tools().tools.some(({ name }) => name.startsWith('hivemind_')));
  });
});

describe('the switches', () => {
  test('are set by config set, and refused when they cannot be meant', async (t) => {
    const { stage } = await signedInStage(t);
    for (const key of ['peers.e2ee', 'peers.encrypt_account_data', 'peers.join.enabled']) {
      const { failure } = await runCommand(stage, 'config set', { key, value: 'true' });
      assert.equal(failure, undefined, key);
    }
    assert.equal((await runCommand(stage, 'config set', { key: 'peers.e2e', value: 'true' })).failure?.exitCode, 3);
    assert.equal((await runCommand(stage, 'config set', { key: 'peers.e2ee', value: 'perhaps' })).failure?.exitCode, 2);
    const path = join(stage.root, 'config.yaml');
    writeFileSync(path, readFileSync(path, 'utf8').replace('e2ee: true', 'e2e: true'));
    // Nothing goes out in clear by a slip of the pen.
    await assert.rejects(runCommand(stage, 'peers list'), /config\.yaml:8:1: peers: there is no e2e here/);
  });
});
