/** How what is sold is sealed: what opens is what was promised, for one reader and one listing, and nothing altered opens. */
import assert from 'node:assert/strict';
import {
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
} from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { keccak256 } from 'viem';
import type { Hex } from '#base/ethereum.ts';
import { newBox, openContent, openKey, type Secret, sealContent, sealKey } from '#fleet/market/seal.ts';
import { runs } from '../../property-runs.ts';
import { verifies } from '../../verifies.ts';

const ID: Hex = `0x${'a7'.repeat(32)}`;
const TEXT = Buffer.from(`---\nname: disk-full\n---\n${'Rotate the logs – first. '.repeat(60)}`);
const sha = (bytes: Buffer): Hex => `0x${createHash('sha256').update(bytes).digest('hex')}`;
const seal = async (content: Buffer) => {
  const { ciphertext, contentHash, ciphertextHash, keyCommit, secret } = await sealContent(content);
  const promised = { content_hash: contentHash, ciphertext_hash: ciphertextHash, key_commit: keyCommit };
  return { ciphertext, secret, promised };
};
const whole = ({ key, salt }: Secret) => Buffer.concat([key, salt]);
const altered = (bytes: Buffer, at: number, by: number) => {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ by, at);
  return copy;
};
const why = (result: { readonly ok: true } | { readonly ok: false; readonly reason: string }) =>
  result.ok ? 'ok' : result.reason;
const change = fc.integer({ min: 1, max: 255 });

verifies(
  'R2.11',
  'the content is AES-256-GCM under a key of its own, with nonce and tag, and bound to its hash and the key’s',
  async () => {
    for (const content of [TEXT, Buffer.alloc(0), Buffer.alloc(2 ** 20, 7)]) {
      const { ciphertext, secret, promised } = await seal(content);
      assert.deepEqual(await openContent(ciphertext, secret, promised), { ok: true, value: content });
      assert.equal(ciphertext.length, 12 + content.length + 16);
      const opening = createDecipheriv('aes-256-gcm', secret.key, ciphertext.subarray(0, 12));
      opening.setAAD(Buffer.from(`${promised.key_commit}${promised.content_hash}`.replaceAll('0x', ''), 'hex'));
      opening.setAuthTag(ciphertext.subarray(-16));
      const plain = [opening.update(ciphertext.subarray(12, -16)), opening.final()];
      assert.deepEqual(Buffer.concat(plain), content);
    }
    const [one, other] = [await seal(TEXT), await seal(TEXT)];
    assert.equal(why(await openContent(one.ciphertext, other.secret, one.promised)), 'wrong-key');
    assert.ok(!one.secret.key.equals(other.secret.key) && !one.secret.salt.equals(other.secret.salt));
    assert.ok(!one.ciphertext.subarray(0, 12).equals(other.ciphertext.subarray(0, 12)));
  },
);

verifies(
  'R2.11',
  'no altered byte of nonce, text or tag opens, also when the listing promises the altered ones',
  async () => {
    const { ciphertext, secret, promised } = await seal(TEXT.subarray(0, 64));
    const open = (bytes: Buffer, given = {}) => openContent(bytes, secret, { ...promised, ...given }).then(why);
    for (let at = 0; at < ciphertext.length; at += 1) {
      const wrong = altered(ciphertext, at, 1);
      assert.equal(await open(wrong), 'wrong-ciphertext');
      assert.equal(await open(wrong, { ciphertext_hash: sha(wrong) }), 'altered');
    }
    await fc.assert(
      fc.asyncProperty(fc.nat(ciphertext.length - 1), change, async (at, by) => {
        const wrong = altered(ciphertext, at, by);
        assert.equal(await open(wrong, { ciphertext_hash: sha(wrong) }), 'altered');
      }),
      { numRuns: runs(4_000) },
    );
    for (const short of [0, 11, 27, 28, ciphertext.length - 1].map((end) => ciphertext.subarray(0, end)))
      assert.equal(await open(short, { ciphertext_hash: sha(short) }), 'altered');
  },
);

verifies(
  'R2.13',
  'the hash of the content is checked by who opens it, and neither it nor the key’s can be of something else',
  async () => {
    const { ciphertext, secret, promised } = await seal(TEXT);
    assert.equal(promised.content_hash, sha(TEXT));
    assert.equal(promised.ciphertext_hash, sha(ciphertext));
    assert.equal(promised.key_commit, keccak256(whole(secret)));
    const open = (given: Secret, told: object) => openContent(ciphertext, given, { ...promised, ...told }).then(why);
    await fc.assert(
      fc.asyncProperty(fc.nat(31), change, async (at, by) => {
        const hashOf = (value: Hex): Hex => `0x${altered(Buffer.from(value.slice(2), 'hex'), at, by).toString('hex')}`;
        assert.equal(await open(secret, { content_hash: hashOf(promised.content_hash) }), 'altered');
        assert.equal(await open(secret, { key_commit: hashOf(promised.key_commit) }), 'wrong-key');
        assert.equal(await open({ ...secret, key: altered(secret.key, at, by) }, {}), 'wrong-key');
        // A commitment to the same key with another salt is another text beside it.
        const salted = { ...secret, salt: altered(secret.salt, at, by) };
        assert.equal(await open(salted, {}), 'wrong-key');
        assert.equal(await open(salted, { key_commit: keccak256(whole(salted)) }), 'altered');
      }),
      { numRuns: runs(800) },
    );
    const both = whole(secret);
    for (const end of [0, 31, 33, 64]) {
      const moved = { key: both.subarray(0, end), salt: both.subarray(end) };
      assert.equal(await open(moved, {}), 'wrong-key');
    }
  },
);

test('nothing that is published holds the key or its salt', async () => {
  const { ciphertext, secret, promised } = await seal(TEXT);
  const box = newBox();
  const sealed = await sealKey(secret, box.publicKey, ID);
  const shown = Buffer.concat([ciphertext, sealed, Buffer.from(JSON.stringify(promised))]);
  for (const part of [secret.key, secret.salt])
    for (const form of [part, part.toString('hex'), part.toString('base64')]) assert.equal(shown.includes(form), false);
});

const labelled = (suite: Buffer, label: string, text: Buffer) =>
  Buffer.concat([Buffer.from('HPKE-v1'), suite, Buffer.from(label), text]);
const mac = (key: Buffer, text: Buffer) => createHmac('sha256', key).update(text).digest();
const none = Buffer.alloc(0);

/** RFC 9180, base mode, written down again from its text (chapters 4 and 5). */
function opened(
  sealed: Buffer,
  { publicKey, privateKey }: ReturnType<typeof newBox>,
  info: string,
  aad: Buffer,
): Buffer {
  const jwk = (x: Buffer, d?: Buffer) => ({
    ...{ kty: 'OKP', crv: 'X25519', x: x.toString('base64url') },
    ...(d ? { d: d.toString('base64url') } : {}),
  });
  const [enc, own, secret] = [sealed.subarray(0, 32), Buffer.from(publicKey, 'hex'), Buffer.from(privateKey, 'hex')];
  const dh = diffieHellman({
    privateKey: createPrivateKey({ key: jwk(own, secret), format: 'jwk' }),
    publicKey: createPublicKey({ key: jwk(enc), format: 'jwk' }),
  });
  const expand = (suite: Buffer, key: Buffer, label: string, text: Buffer, length: number) => {
    const asked = Buffer.concat([Buffer.from([0, length]), labelled(suite, label, text), Buffer.from([1])]);
    return mac(key, asked).subarray(0, length);
  };
  const kem = Buffer.from([...Buffer.from('KEM'), 0, 0x20]);
  const hpke = Buffer.from([...Buffer.from('HPKE'), 0, 0x20, 0, 1, 0, 2]);
  const shared = expand(kem, mac(none, labelled(kem, 'eae_prk', dh)), 'shared_secret', Buffer.concat([enc, own]), 32);
  const [psk, told] = [
    mac(none, labelled(hpke, 'psk_id_hash', none)),
    mac(none, labelled(hpke, 'info_hash', Buffer.from(info))),
  ];
  const context = Buffer.concat([Buffer.from([0]), psk, told]);
  const root = mac(shared, labelled(hpke, 'secret', none));
  const opening = createDecipheriv(
    'aes-256-gcm',
    expand(hpke, root, 'key', context, 32),
    expand(hpke, root, 'base_nonce', context, 12),
  );
  opening.setAAD(aad).setAuthTag(sealed.subarray(-16));
  return Buffer.concat([opening.update(sealed.subarray(32, -16)), opening.final()]);
}

test('a key is sealed by HPKE in 112 bytes, which another writing of RFC 9180 opens', async () => {
  const { secret } = await seal(TEXT);
  const box = newBox();
  const sealed = await sealKey(secret, box.publicKey, ID);
  assert.equal(sealed.length, 112);
  assert.deepEqual(opened(sealed, box, 'talaria/market/key/1', Buffer.from(ID.slice(2), 'hex')), whole(secret));
  assert.deepEqual(await openKey(sealed, box.privateKey, ID), { ok: true, value: secret });
  assert.notDeepEqual(await sealKey(secret, box.publicKey, ID), sealed);
});

test('a sealed key opens for its reader and its listing alone, and no altered byte of it opens', async () => {
  const { secret } = await seal(TEXT);
  const box = newBox();
  const sealed = await sealKey(secret, box.publicKey, ID);
  const open = (bytes: Buffer, key = box.privateKey, id: Hex = ID) => openKey(bytes, key, id).then(why);
  assert.equal(await open(sealed), 'ok');
  for (const key of [newBox().privateKey, box.publicKey, '', 'zz', '00'.repeat(32)])
    assert.equal(await open(sealed, key), 'not-for-this-key');
  for (const id of [`0x${'a7'.repeat(31)}a8`, '0x', `0x${'a7'.repeat(33)}`] as const)
    assert.equal(await open(sealed, box.privateKey, id), 'not-for-this-key');
  for (const bytes of [
    none,
    sealed.subarray(1),
    sealed.subarray(0, 111),
    Buffer.concat([sealed, Buffer.from([0])]),
    Buffer.alloc(112),
  ])
    assert.equal(await open(bytes), 'not-for-this-key');
  for (let at = 0; at < sealed.length; at += 1) assert.equal(await open(altered(sealed, at, 128)), 'not-for-this-key');
  await fc.assert(
    fc.asyncProperty(fc.nat(111), change, async (at, by) => {
      assert.equal(await open(altered(sealed, at, by)), 'not-for-this-key');
    }),
    { numRuns: runs(1_600) },
  );
});

test('nothing is sealed for what is no key, or one with which everybody agrees on the same', async () => {
  const { secret } = await seal(TEXT);
  const small = [
    '00'.repeat(32),
    `01${'00'.repeat(31)}`,
    'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  ];
  for (const key of ['', 'zz', 'a1'.repeat(31), 'a1'.repeat(33), ...small])
    await assert.rejects(sealKey(secret, key, ID), (error: Error) => {
      assert.equal(Object(error).code, 'box-invalid');
      return !`${error.stack}${error.cause}`.includes(secret.key.toString('hex'));
    });
});
