/** The commands of the link, as they are typed. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ownerOf } from '#fleet/styx/owner-key.ts';
import { homeOf } from './home-stage.ts';

const URL = 'nats://127.0.0.1:1';

test('a home is linked, told how the next machine joins it, and unlinked; both are of one clade', async (t) => {
  const one = homeOf(t);
  assert.match((await one.run('status')).text, /^your key ed25519:\S{43}\nNot linked: talaria styx link URL/);
  const linked = await one.run('link', { url: URL, tokenFrom: 'CLADE' });
  assert.match(linked.text, /CLADE is not set yet: put CLADE=… into .*\.env/);
  const [, join = '', key = ''] =
    /On the next machine: (talaria styx link (?:\S+ ){4}(\S+))/.exec(linked.text)?.map((part) => part.trim()) ?? [];
  assert.equal(join, `talaria styx link ${URL} --token-from CLADE --owner ${key}`);
  const other = homeOf(t);
  const joined = await other.run('link', { url: URL, tokenFrom: 'CLADE', owner: key });
  const [his, ours] = [joined.data, linked.data].map(Object);
  assert.equal(his.clade, ours.clade);
  assert.match(joined.text, new RegExp(`say there: talaria styx trust ${his.key}`));
  assert.match((await other.run('status')).text, new RegExp(`trusted  ${key}`));
  await one.run('trust', { key: his.key });
  assert.deepEqual(Object((await one.run('status')).data).trusted, [his.key]);
  assert.match((await one.run('unlink')).text, /^Unlinked from nats:/);
  assert.match((await one.run('unlink')).text, /^It was not linked\.$/m);
  assert.deepEqual(Object((await one.run('status')).data).trusted, [his.key]);
});

test('an address that anybody can read along is kept only with a yes, once; one that is none, or holds a token, never', async (t) => {
  const home = homeOf(t);
  const far = 'nats://10.0.0.7:4222';
  const tokenFrom = 'CLADE';
  assert.equal((await home.run('link', { url: far, plain: true })).failure?.code, 'no-token');
  assert.equal((await home.run('link', { url: far, tokenFrom })).failure?.code, 'open-way');
  assert.equal((await home.run('link', { url: URL })).failure?.code, 'open-way');
  const asked: string[] = [];
  const answer = (text: string) => {
    const ask = async (question: string) => {
      asked.push(question);
      return text;
    };
    return { ask };
  };
  assert.match((await home.run('link', { url: far, tokenFrom }, answer('n'))).text, /^Nothing changed\.$/m);
  assert.match((await home.run('link', { url: far, tokenFrom }, answer('y'))).text, /^Linked by nats:\/\/10/);
  assert.match((await home.run('link', { url: far, tokenFrom })).text, /^Linked by/);
  assert.equal(asked.length, 2);
  for (const url of ['tls://10.0.0.7:4222', 'wss://x.example', 'ws://localhost:8080'])
    assert.match((await home.run('link', { url, tokenFrom })).text, /^Linked by/);
  assert.match((await home.run('link', { url: URL, plain: true })).text, /^Linked by/);
  const secret = [
    'nats://s3cret@x:4222',
    'nats://u:s3cret@x',
    'nats://:s3cret@x',
    'wss://x/?access_token=s3cret',
    'tls:s3cret@ x',
  ];
  for (const url of ['http://x', 'x', '', 'nats://', 'nats:///x', ...secret]) {
    const { failure } = await home.run('link', { url, tokenFrom });
    assert.equal(failure?.code, 'url-invalid', url);
    assert.ok(!JSON.stringify(failure).includes('s3cret'), url);
  }
  assert.ok(!home.config().includes('s3cret'));
  const { failure } = await home.run('trust', { key: 'ed25519:x' });
  assert.deepEqual([failure?.code, /talaria styx status/.test(failure?.fix ?? '')], ['owner-key-invalid', true]);
});

test('a home that is a file is said with its fix', async (t) => {
  const home = homeOf(t);
  writeFileSync(home.root, '');
  await assert.rejects(home.run('status'), { fix: /move it away/ });
});

test('a key that is torn is said with its fix, and left', async (t) => {
  const home = homeOf(t);
  const { root } = home;
  ownerOf(root);
  writeFileSync(join(root, 'meta', 'owner.key'), 'torn');
  const told = await home.run('status').catch((error: unknown) => ({ failure: Object(error) }));
  assert.equal(told.failure?.code, 'owner-key-torn');
  assert.equal(readFileSync(join(root, 'meta', 'owner.key'), 'utf8'), 'torn');
});
