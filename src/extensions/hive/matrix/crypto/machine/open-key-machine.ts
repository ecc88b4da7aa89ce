// Owns one OlmMachine of crypto-wasm on a key store in memory that was rebuilt from the file. Knows no server.
// Invariant: nothing of a machine that is closed, or that did not open, stays in memory.
import { DeviceId, initAsync, OlmMachine, StoreHandle, UserId } from '@matrix-org/matrix-sdk-crypto-wasm';
import type { CryptoFile } from '../store/crypto-file.ts';
import { MemoryRecords } from '../store/memory-records.ts';

export interface KeyMachine {
  readonly olm: OlmMachine;
  readonly records: MemoryRecords;
  /** See KeyBatch. */
  readonly prepared: Set<string>;
  close(): void;
}

export interface MachineAccount {
  readonly userId: string;
  readonly deviceId: string;
  /** 32 bytes; encrypts every record of the store. */
  readonly storeKey: Uint8Array;
}

/** Throws whatever is wrong with the records: no shape, another key, another account. */
export async function openKeyMachine(file: CryptoFile, account: MachineAccount): Promise<KeyMachine> {
  await initAsync();
  const records = new MemoryRecords();
  try {
    await records.restore(file.shapes(), file.records());
    const store = await StoreHandle.openWithKey(records.name, account.storeKey.slice());
    const olm = await OlmMachine.initFromStore(new UserId(account.userId), new DeviceId(account.deviceId), store);
    olm.roomKeyRequestsEnabled = false; // asks our own other devices only; lost-sessions asks the sender
    olm.roomKeyForwardingEnabled = false;
    return { olm, records, prepared: new Set(), close: () => close(olm, records) };
  } catch (error) {
    records.drop();
    throw error;
  }
}

function close(olm: OlmMachine, records: MemoryRecords): void {
  try {
    olm.close();
  } finally {
    records.drop();
  }
}
