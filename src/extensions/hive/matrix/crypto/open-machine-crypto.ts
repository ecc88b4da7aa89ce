// Owns the door to end-to-end encryption: loads crypto-wasm and its store (8 MB) only when it is opened. Knows nothing of either.
import type { MachineCryptoOptions } from './machine/machine-crypto.ts';
import type { RoomCrypto } from './room-crypto.ts';

/** Opens or makes the key store in `options.folder`. Throws PeerError `peers-encryption` when it cannot be used. */
export async function openMachineCrypto(
  options: MachineCryptoOptions,
  signal: AbortSignal = new AbortController().signal,
): Promise<RoomCrypto> {
  const { MachineCrypto } = await import('./machine/machine-crypto.ts');
  const crypto = new MachineCrypto(options);
  await crypto.start(signal);
  return crypto;
}
