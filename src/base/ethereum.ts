// Owns keys, addresses, hashes and signatures as Ethereum has them (secp256k1, Keccak-256, EIP-712), and the loading of what computes them.
// Knows no chain and no contract. Invariants: a key that is wrong is repeated in no error; of the two signatures that say the same only one
// counts; addresses are lower case.
import { setFlagsFromString } from 'node:v8';
import { TalariaError } from './errors.ts';
import { randomHex } from './ids.ts';

export type Hex = `0x${string}`;

/** What is signed after EIP-712. */
export interface TypedData {
  readonly domain: Readonly<{ name: string; version: string; chainId: number; verifyingContract?: Hex }>;
  readonly types: Record<string, { readonly name: string; readonly type: string }[]>;
  readonly primaryType: string;
  readonly message: Record<string, unknown>;
}

/** Loaded at the first signature. */
export async function ethereum() {
  // A mind beside its golem runs without compilers: a thousand hashes would take it seconds.
  setFlagsFromString('--opt');
  // biome-ignore lint/correctness/noUndeclaredDependencies: the bundle has it, and nobody installs it
  const { keccak256, recoverTypedDataAddress } = await import('viem');
  // biome-ignore lint/correctness/noUndeclaredDependencies: as above
  const { privateKeyToAccount } = await import('viem/accounts');
  return { keccak256, recoverTypedDataAddress, privateKeyToAccount };
}

/** Keccak-256. */
export async function hashOf(bytes: Uint8Array): Promise<Hex> {
  return (await ethereum()).keccak256(bytes);
}

/** A secp256k1 key, 64 hex characters. */
export function newKey(): string {
  return randomHex(32);
}

/** Address of a key. Throws TalariaError `key-invalid`. */
export async function addressOf(key: string): Promise<Hex> {
  return (await accountOf(key)).address.toLowerCase() as Hex;
}

/** What signs with a key as a file holds it; `fix`: how the owner gets it back. Throws TalariaError `key-invalid`. */
export async function accountOf(key: string, fix = 'Bring the key back from a copy.') {
  const { privateKeyToAccount } = await ethereum();
  const [, hex] = /^(?:0x)?([0-9a-f]{64})$/i.exec(key.trim()) ?? [];
  try {
    if (hex !== undefined) return privateKeyToAccount(`0x${hex}`);
  } catch {
    // Falls through without the cause, which may repeat the key.
  }
  throw new TalariaError('this is no secp256k1 key of 64 hex characters', { code: 'key-invalid', fix });
}

/** Half the order of the curve: of the two signatures that say the same only the lower one counts, so nobody can write it anew. */
const HALF_ORDER = '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0';
const SIGNATURE = /^0x[0-9a-f]{64}([0-9a-f]{64})1[bc]$/;

/** Address of who signed that; undefined: nobody did. */
export async function signerOf(data: TypedData, signature: string): Promise<Hex | undefined> {
  const [, s] = SIGNATURE.exec(signature) ?? [];
  if (s === undefined || s > HALF_ORDER) return undefined;
  const { recoverTypedDataAddress } = await ethereum();
  const found = recoverTypedDataAddress({ ...data, signature: signature as Hex });
  // What is no point of the curve was signed by nobody.
  return found.then(
    (address) => address.toLowerCase() as Hex,
    () => undefined,
  );
}
