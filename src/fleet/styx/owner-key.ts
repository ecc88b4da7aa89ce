// Owns the owner's key of a home, `meta/owner.key` (0600, in no backup, as every `*.key`), the keys of other homes that this one trusts, and what is
// signed with them. Knows no topic. Invariants: the key is made once, at its first use, whoever comes first; what was signed for one purpose
// does not count for another; nothing but a key that is named here speaks for the owner.
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { linkSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { type Clock, systemClock } from '#base/clock.ts';
import { errorCode, known, TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { canonicalJson, type JsonValue } from '#base/json.ts';
import { privateFolder, readIfThere } from '#base/platform.ts';

/** What a body is signed for. */
export type SignedAs = 'word' | 'kit' | 'birth' | 'allowance';

export interface Signature {
  /** Public key: `ed25519:` and 43 characters. */
  readonly by: string;
  readonly signature: string;
}

export interface Owner {
  readonly key: string;
  readonly clock: Clock;
  sign(purpose: SignedAs, body: JsonValue): Signature;
}

export const OWNER_KEY = /^ed25519:[A-Za-z0-9_-]{43}$/;

function keyPath(home: string): string {
  return join(home, 'meta', 'owner.key');
}

/** Makes the key when there is none. Throws TalariaError `owner-key-torn`, and of the disk. */
export function ownerOf(home: string, clock: Clock = systemClock): Owner {
  const path = keyPath(home);
  // What cannot be read is told of by what makes it, with its fix.
  if (known(() => readIfThere(path)) === undefined) makeKey(path);
  const secret = readKey(path);
  const key = textOf(createPublicKey(secret));
  return {
    ...{ key, clock },
    sign: (purpose, body) => ({ by: key, signature: sign(null, bytesOf(purpose, body), secret).toString('base64url') }),
  };
}

function readKey(path: string) {
  try {
    return createPrivateKey(readIfThere(path) ?? '');
  } catch (cause) {
    throw new TalariaError(`${path} is no key`, {
      ...{ code: 'owner-key-torn', cause },
      fix: 'Put it back from a backup with --with-secrets; or take it away: a new one is made, and other homes must trust it anew.',
    });
  }
}

/** Whole or not at all; one that another process made meanwhile stands. */
function makeKey(path: string): void {
  privateFolder(dirname(path));
  const fresh = `${path}.${process.pid}.${randomHex(4)}.fresh`;
  const { privateKey } = generateKeyPairSync('ed25519');
  atomicWrite(fresh, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  try {
    linkSync(fresh, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
}

/** Does this key, and no other, say that body for that purpose? */
export function isSignedBy(purpose: SignedAs, body: JsonValue, { by, signature }: Signature): boolean {
  if (!OWNER_KEY.test(by)) return false;
  const x = by.slice(by.indexOf(':') + 1);
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return verify(null, bytesOf(purpose, body), key, Buffer.from(signature, 'base64url'));
  } catch {
    // Bytes that are no point of the curve are nobody's key.
    return false;
  }
}

function bytesOf(purpose: SignedAs, body: JsonValue): Buffer {
  return Buffer.from(`talaria ${purpose} 1\n${canonicalJson(body)}`);
}

function textOf(key: ReturnType<typeof createPublicKey>): string {
  return `ed25519:${key.export({ format: 'jwk' }).x}`;
}

/** What the clade of this founding owner is called: sixteen of `0-9 a-f`. */
export function cladeOf(founder: string): string {
  return createHash('sha256').update(founder).digest('hex').slice(0, 16);
}

function trustPath(home: string): string {
  return join(home, 'meta', 'owners.txt');
}

/** Of other homes: keys whose words count here as the owner's. */
function trustedKeys(home: string): readonly string[] {
  return (readIfThere(trustPath(home)) ?? '').split('\n').filter((line) => OWNER_KEY.test(line));
}

/** Everybody who speaks for the owner here. Makes no key. */
export function ownersOf(home: string): readonly string[] {
  const own = readIfThere(keyPath(home)) === undefined ? [] : [ownerOf(home).key];
  return [...own, ...trustedKeys(home)];
}

export function trustKey(home: string, key: string): void {
  if (!OWNER_KEY.test(key)) throw new TalariaError(`${key} is no owner's key`, { code: 'owner-key-invalid' });
  privateFolder(dirname(trustPath(home)));
  atomicWrite(trustPath(home), [...new Set([...trustedKeys(home), key]), ''].join('\n'));
}
