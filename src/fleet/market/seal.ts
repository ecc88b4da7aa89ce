// Owns how what is sold is sealed (hierarchy notes B5): the content under a fresh key (AES-256-GCM), and the key for one reader (HPKE, RFC 9180).
// Knows no chain, no sale and no disk. Invariants: no key is used for a second content; what opens is, byte for byte, what its listing promised;
// a sealed key opens for one private key and one listing.
import { createCipheriv, createDecipheriv, generateKeyPairSync, randomBytes } from 'node:crypto';
import { TalariaError } from '#base/errors.ts';
import { type Hex, hashOf } from '#base/ethereum.ts';
import { sha256 } from '#base/ids.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Listing } from './listing.ts';

/** What opens a content, 32 bytes each; the salt keeps `key_commit` from being tried out. */
export interface Secret {
  readonly key: Buffer;
  readonly salt: Buffer;
}

interface Sealed {
  /** Nonce, body and tag. */
  readonly ciphertext: Buffer;
  readonly contentHash: Hex;
  readonly ciphertextHash: Hex;
  readonly keyCommit: Hex;
  readonly secret: Secret;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';
const TAG = { authTagLength: TAG_BYTES };
const INFO = Buffer.from('talaria/market/key/1');
/** Of HPKE: the sender's half of the key exchange, and the secret with its tag. */
const ENC_BYTES = 32;
const SEALED_KEY_BYTES = ENC_BYTES + 2 * KEY_BYTES + TAG_BYTES;

export async function sealContent(content: Buffer): Promise<Sealed> {
  const secret = { key: randomBytes(KEY_BYTES), salt: randomBytes(KEY_BYTES) };
  const [keyCommit, contentHash] = [await commitOf(secret), shaOf(content)];
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, secret.key, nonce, TAG).setAAD(bound(keyCommit, contentHash));
  const body = [cipher.update(content), cipher.final()];
  const ciphertext = Buffer.concat([nonce, ...body, cipher.getAuthTag()]);
  return { ciphertext, contentHash, ciphertextHash: shaOf(ciphertext), keyCommit, secret };
}

/** The content, when each of the three is what was listed; `altered`: the seller sealed something else than was promised. */
export async function openContent(
  ciphertext: Buffer,
  secret: Secret,
  { content_hash, ciphertext_hash, key_commit }: Pick<Listing, 'content_hash' | 'ciphertext_hash' | 'key_commit'>,
): Promise<Result<Buffer, 'wrong-ciphertext' | 'wrong-key' | 'altered'>> {
  if (shaOf(ciphertext) !== ciphertext_hash)
    return refuse('wrong-ciphertext', 'It is not the sealed text of this listing: fetch it again.');
  if (!isWhole(secret) || (await commitOf(secret)) !== key_commit)
    return refuse('wrong-key', 'The key is not the one of this listing.');
  const content = decrypted(ciphertext, secret.key, bound(key_commit, content_hash));
  if (content === undefined || shaOf(content) !== content_hash)
    return refuse('altered', 'What was sealed is not what the listing promised.');
  return ok(content);
}

function decrypted(ciphertext: Buffer, key: Buffer, aad: Buffer): Buffer | undefined {
  if (ciphertext.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const tag = ciphertext.subarray(-TAG_BYTES);
  const opening = createDecipheriv(CIPHER, key, ciphertext.subarray(0, NONCE_BYTES), TAG);
  opening.setAAD(aad).setAuthTag(tag);
  try {
    return Buffer.concat([opening.update(ciphertext.subarray(NONCE_BYTES, -TAG_BYTES)), opening.final()]);
  } catch {
    // The tag is of something else.
    return undefined;
  }
}

function commitOf({ key, salt }: Secret): Promise<Hex> {
  return hashOf(Buffer.concat([key, salt]));
}

/** Bytes that move from the key to the salt would leave the commitment as it is. */
function isWhole({ key, salt }: Secret): boolean {
  return key.length === KEY_BYTES && salt.length === KEY_BYTES;
}

function shaOf(bytes: Buffer): Hex {
  return `0x${sha256(bytes)}`;
}

/** What a sealed content belongs to: the id of its listing holds the hash of it, so it cannot stand in it. */
function bound(keyCommit: Hex, contentHash: Hex): Buffer {
  return bytesOf(`${keyCommit}${contentHash.slice(2)}`);
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.replace(/^0x/, ''), 'hex');
}

/** Of somebody to whom keys are sealed: X25519, 64 hex characters each. */
export function newBox(): { readonly publicKey: string; readonly privateKey: string } {
  const { x = '', d = '' } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' });
  const hexOf = (text: string) => Buffer.from(text, 'base64url').toString('hex');
  return { publicKey: hexOf(x), privateKey: hexOf(d) };
}

/** Loaded at the first key that is sealed or opened. */
async function suite() {
  // biome-ignore lint/correctness/noUndeclaredDependencies: the bundle has it, and nobody installs it
  const { Aes256Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } = await import('@hpke/core');
  return new CipherSuite({ kem: new DhkemX25519HkdfSha256(), kdf: new HkdfSha256(), aead: new Aes256Gcm() });
}

/** 112 bytes, for the box's owner alone and for this listing. Throws TalariaError `box-invalid` for what is no point that a key can be agreed on. */
export async function sealKey({ key, salt }: Secret, publicKey: string, listingId: Hex): Promise<Buffer> {
  const hpke = await suite();
  try {
    const recipientPublicKey = await hpke.kem.deserializePublicKey(bytesOf(publicKey));
    const plain = Buffer.concat([key, salt]);
    const { enc, ct } = await hpke.seal({ recipientPublicKey, info: INFO }, plain, bytesOf(listingId));
    return Buffer.concat([Buffer.from(enc), Buffer.from(ct)]);
  } catch (cause) {
    throw new TalariaError(`${publicKey.slice(0, 64)} is no key to seal for`, {
      ...{ code: 'box-invalid', cause },
      fix: 'Ask for the public key of the box again: X25519, 64 hex characters.',
    });
  }
}

/** Throws nothing for foreign bytes. */
export async function openKey(
  sealed: Buffer,
  privateKey: string,
  listingId: Hex,
): Promise<Result<Secret, 'not-for-this-key'>> {
  const plain = sealed.length === SEALED_KEY_BYTES ? await unsealed(sealed, privateKey, listingId) : undefined;
  if (plain === undefined)
    return refuse('not-for-this-key', 'The key was sealed for another reader or another listing.');
  return ok({ key: plain.subarray(0, KEY_BYTES), salt: plain.subarray(KEY_BYTES) });
}

async function unsealed(sealed: Buffer, privateKey: string, listingId: Hex): Promise<Buffer | undefined> {
  const hpke = await suite();
  try {
    const recipientKey = await hpke.kem.deserializePrivateKey(bytesOf(privateKey));
    const recipient = { recipientKey, enc: sealed.subarray(0, ENC_BYTES), info: INFO };
    return Buffer.from(await hpke.open(recipient, sealed.subarray(ENC_BYTES), bytesOf(listingId)));
  } catch {
    // Its errors are of one kind: this key does not open it.
    return undefined;
  }
}
