import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { runCommand } from '../../../surfaces/app/app-fixture.ts';
import { verifies } from '../../../verifies.ts';
import { introducedBy, type SignedIn, signedInStage } from './signed-in-stage.ts';

const CAROL = '@hermes-of-carol:localhost';
const DAVE = '@hermes-of-dave:localhost';

function sent({ server }: SignedIn) {
  return server.wire.requests().filter(({ method, path }) => method === 'PUT' && path.includes('/send/'));
}

function created({ server }: SignedIn) {
  return server.wire.requests().filter(({ path }) => path.endsWith('/createRoom'));
}

async function withTwoPeers(t: TestContext): Promise<SignedIn> {
  const signedIn = await signedInStage(t);
  introducedBy(signedIn, { other: CAROL, context: 'Carol audits enclaves' });
  introducedBy(signedIn, { other: DAVE, context: 'Dave needs an audit' });
  return signedIn;
}

describe('peers send', () => {
  test('reaches the peer, and the peer reads it', async (t) => {
    const bob = await signedInStage(t);
    const carol = await signedInStage(t, { name: 'hermes-of-carol', server: bob.server });
    introducedBy(bob, { other: CAROL, context: 'Carol audits enclaves' });
    const { text, data, failure } = await runCommand(bob.stage, 'peers send', {
      peer: 'hermes-of-carol',
      message: ['Can', 'you audit', 'ours?'],
    });
    assert.equal(failure, undefined, text);
    assert.match(text, /^sent to hermes-of-carol@localhost\n.*talaria peers messages hermes-of-carol$/);
    assert.partialDeepStrictEqual(data, { sent: true, to: 'hermes-of-carol', id: 'hermes-of-carol@localhost' });
    assert.match(
      (await runCommand(carol.stage, 'peers messages')).text,
      /hermes-of-bob \(new\)\n.*Can you audit ours\?/,
    );
  });

  verifies(['R4.73'], 'attack: unseen characters that were pasted along are not sent', async (t) => {
    const signedIn = await signedInStage(t);
    introducedBy(signedIn, { other: CAROL, context: 'here' });
    const send = (word: string) =>
      runCommand(signedIn.stage, 'peers send', { peer: 'hermes-of-carol', message: [word] });
    await send('hello\u{e0041}\u202e\nthere\u200b');
    assert.deepEqual(
      sent(signedIn).map(({ body }) => (JSON.parse(body) as { body: string }).body),
      ['hello\nthere'],
    );
    assert.equal((await send('\u{e0041}\u{e0042}')).failure?.code, 'message-empty');
  });

  verifies(
    ['R4.69', 'R4.71', 'R4.72'],
    'whatever cannot be sent is named, with what to do, and nothing goes out',
    async (t) => {
      const signedIn = await signedInStage(t);
      const room = introducedBy(signedIn, { other: CAROL, context: 'here' });
      introducedBy(signedIn, { other: '@hermes-of-eve:a.example', context: 'one' });
      introducedBy(signedIn, { other: '@hermes-of-eve:b.example', context: 'another' });
      const expect = async (input: object, exitCode: number, pattern: RegExp) => {
        const { failure } = await runCommand(signedIn.stage, 'peers send', { message: ['hello'], ...input });
        assert.equal(failure?.exitCode, exitCode, failure?.message);
        assert.match(`${failure.code}: ${failure.message} ${failure.fix}`, pattern);
      };
      await expect({ peer: 'hermes-of-car' }, 3, /^peer-unknown: .*"hermes-of-car".*talaria peers list/);
      await expect(
        { peer: 'hermes-of-eve' },
        3,
        /^peer-ambiguous: .*hermes-of-eve@a\.example.*hermes-of-eve@b\.example/,
      );
      await expect({ peer: 'hermes-of-carol', message: [] }, 2, /^message-empty: /);
      await expect({ peer: 'hermes-of-carol', message: [' ', ''] }, 2, /^message-empty: /);
      await expect({ peer: 'hermes-of-carol', message: ['x'.repeat(1_100_000)] }, 2, /^peers-too-large: /);
      signedIn.server.doors.inject(room, {
        type: 'm.room.member',
        sender: CAROL,
        stateKey: CAROL,
        content: { membership: 'leave' },
      });
      await expect({ peer: 'hermes-of-carol' }, 3, /^peer-left: .*introduce you again/);
      assert.deepEqual(sent(signedIn), []);
    },
  );

  verifies(['R4.70', 'R4.72'], 'server down, HTML, an expired token, nothing configured', async (t) => {
    const signedIn = await signedInStage(t);
    introducedBy(signedIn, { other: CAROL, context: 'here' });
    const { server, stage, account } = signedIn;
    const expect = async (exitCode: number, pattern: RegExp) => {
      for (const [name, input] of [
        ['peers list', {}],
        ['peers send', { peer: 'hermes-of-carol', message: ['hello'] }],
        ['peers introduce', { peerA: 'a', peerB: 'b', yes: true }],
      ] as const) {
        const { failure } = await runCommand(stage, name, input);
        assert.equal(failure?.exitCode, exitCode, `${name}: ${failure?.message}`);
        assert.match(`${failure.code}: ${failure.message} ${failure.fix}`, pattern);
        assert.ok(!JSON.stringify(failure).includes(account.accessToken));
      }
    };
    const mend = server.wire.fail(() => true, { type: 'html' }, 99);
    await expect(1, /^peers-bad-response: .*MATRIX_HOMESERVER/);
    mend();
    await server.wire.down();
    await expect(1, /^peers-unreachable: .*127\.0\.0\.1/);
    await server.wire.up();
    server.doors.expireToken(account.accessToken);
    await expect(1, /^peers-auth: .*talaria peers login/);
    stage.temp.write('home/.env', '');
    await expect(3, /^peers-not-configured: .*MATRIX_ACCESS_TOKEN is not set.*talaria peers login/);
    stage.temp.write('home/config.yaml', 'version: 1\n');
    await expect(3, /MATRIX_HOMESERVER, MATRIX_USER_ID and MATRIX_ACCESS_TOKEN are not set/);
    assert.deepEqual(sent(signedIn), []);
  });
});

describe('peers introduce', () => {
  verifies(['R4.31', 'R4.41'], 'shows what both will read, and asks', async (t) => {
    const signedIn = await withTwoPeers(t);
    const input = { peerA: 'hermes-of-carol', peerB: 'hermes-of-dave', reason: 'an audit' };
    const alone = await runCommand(signedIn.stage, 'peers introduce', input);
    assert.match(
      alone.text,
      /Both will read:\n {2}\| About hermes-of-carol@localhost: Carol audits enclaves\n {2}\| About hermes-of-dave@localhost: Dave needs an audit\n {2}\| Why: an audit\nYou stay in their conversation/,
    );
    assert.deepEqual([alone.failure?.exitCode, alone.failure?.code], [3, 'needs-yes']);
    const no = await runCommand(signedIn.stage, 'peers introduce', input, async () => '');
    assert.deepEqual([no.failure?.exitCode, no.failure?.code], [3, 'not-agreed']);
    assert.deepEqual([...created(signedIn), ...sent(signedIn)], []);
    const yes = await runCommand(signedIn.stage, 'peers introduce', input, async () => 'y');
    assert.equal(yes.failure, undefined, yes.text);
    assert.partialDeepStrictEqual(yes.data, { introduced: true, peer_a: 'hermes-of-carol', reason: 'an audit' });
    assert.equal(created(signedIn).length, 1);
    assert.equal(sent(signedIn).length, 3);
  });

  verifies(
    ['R4.31', 'R4.73'],
    'attack: hidden words in a context travel with an introduction that was agreed to',
    async (t) => {
      const signedIn = await signedInStage(t);
      introducedBy(signedIn, {
        other: CAROL,
        context: `Carol\u{e0041}\u{e0042}\u202e audits\n${'line\n'.repeat(300)}end`,
      });
      introducedBy(signedIn, { other: DAVE, context: '' });
      const input = { peerA: 'hermes-of-carol', peerB: 'hermes-of-dave', reason: 'an\u200b audit', yes: true };
      const { text, failure } = await runCommand(signedIn.stage, 'peers introduce', input);
      assert.equal(failure, undefined, text);
      const bodies = sent(signedIn).map(({ body }) => (JSON.parse(body) as { body: string }).body);
      assert.deepEqual(bodies, [
        `About ${CAROL}: Carol audits\n${'line\n'.repeat(300)}end`,
        `About ${DAVE}: (nothing is known yet)`,
        'Why: an audit',
      ]);
      for (const line of bodies.join('\n').split('\n'))
        assert.ok(text.includes(`| ${line.replace(/@(.*?):/, '$1@')}`), line);
      assert.doesNotMatch(text, /lines more/);
    },
  );

  test('it takes two who are there', async (t) => {
    const signedIn = await withTwoPeers(t);
    for (const [peerA, peerB, code] of [
      ['hermes-of-carol', 'hermes-of-carol@localhost', 'peer-ambiguous'],
      ['hermes-of-carol', 'nobody', 'peer-unknown'],
    ] as const) {
      const { failure } = await runCommand(signedIn.stage, 'peers introduce', { peerA, peerB, yes: true });
      assert.equal(failure?.code, code);
    }
    assert.deepEqual(created(signedIn), []);
  });
});

describe('peers dismiss', () => {
  verifies(
    ['R4.28', 'R4.30', 'R4.59'],
    'declines for good, in either order, also what was not suggested',
    async (t) => {
      const signedIn = await withTwoPeers(t);
      const first = await runCommand(signedIn.stage, 'peers dismiss', {
        peerA: 'hermes-of-dave',
        peerB: 'hermes-of-carol',
      });
      assert.partialDeepStrictEqual(first.data, { dismissed: true, matched: 0 });
      const again = await runCommand(signedIn.stage, 'peers dismiss', {
        peerA: 'hermes-of-carol',
        peerB: 'hermes-of-dave',
      });
      assert.equal(again.failure, undefined);
      const kept = signedIn.server.doors.accountData(signedIn.account.userId, 'social.awareness.sparks');
      const sparks = kept?.sparks as readonly { readonly status: string }[];
      assert.deepEqual(
        sparks.map(({ status }) => status),
        ['dismissed'],
      );
    },
  );
});

describe('peers invite', () => {
  test('makes contact; the other is told what was typed and no more', async (t) => {
    const alice = await signedInStage(t, { name: 'hermes-of-alice' });
    const bob = await signedInStage(t, { server: alice.server });
    const input = { id: '@hermes-of-bob:localhost', context: 'Bob builds enclaves', about: 'Alice knows people' };
    const { text, failure } = await runCommand(alice.stage, 'peers invite', input);
    assert.equal(failure, undefined, text);
    assert.match(text, /^invited hermes-of-bob@localhost; it becomes active/);
    assert.match(
      (await runCommand(alice.stage, 'peers list')).text,
      /hermes-of-bob, contacted by you: "Bob builds enclaves" \(not here yet\)/,
    );
    assert.match(
      (await runCommand(bob.stage, 'peers list')).text,
      /hermes-of-alice, made contact directly: "Alice knows people"/,
    );
    assert.doesNotMatch((await runCommand(alice.stage, 'peers list')).text, /not here yet/);
  });

  test('an id that is none, or one’s own, is wrong use', async (t) => {
    const { stage } = await signedInStage(t);
    for (const [id, code] of [
      ['hermes-of-carol', 'peer-id-invalid'],
      ['', 'peer-id-invalid'],
      ['two words@x', 'peer-id-invalid'],
      ['hermes-of-bob@localhost', 'peer-is-self'],
    ] as const) {
      const { failure } = await runCommand(stage, 'peers invite', { id });
      assert.deepEqual([failure?.exitCode, failure?.code], [2, code]);
    }
  });
});
