// Owns the seam between the Matrix backend and end-to-end encryption (hivemind notes 5). Implemented by machine-crypto (crypto-wasm, loaded
// only when `peers.e2ee` is on). Knows no peers. Invariant: whatever changed keys is on disk before it leaves this machine and before the
// position of a sync advances; one write a batch.
import type { JsonObject } from '#base/json.ts';

/** The parts of a sync answer that concern keys. */
export interface KeyChanges {
  readonly toDevice: readonly JsonObject[];
  /** User ids. */
  readonly changed: readonly string[];
  readonly left: readonly string[];
  readonly oneTimeKeyCounts: Readonly<Record<string, number>>;
  readonly unusedFallbackKeyTypes?: readonly string[];
  /** `next_batch`. */
  readonly next: string;
  /** This sync began at no position: device lists may have changed unseen, so everybody's are asked for again. */
  readonly isInitial?: boolean;
  /** Rooms that this sync says are encrypted; remembered together with `next`. */
  readonly encrypted?: readonly EncryptedRoom[];
}

export interface EncryptedRoom {
  readonly roomId: string;
  /** State content of `m.room.encryption`. Kept are algorithm and rotation alone. */
  readonly settings: JsonObject;
}

export interface ClearEvent {
  readonly type: string;
  readonly content: JsonObject;
}

/** A room as encryption needs it: user ids of everybody who may read, invited ones too. */
export interface EncryptionTarget {
  readonly roomId: string;
  readonly members: readonly string[];
  /** State content of `m.room.encryption`. */
  readonly settings: JsonObject;
}

/** Somebody has a device that got none of our messages of that room. */
export interface LateDevice {
  readonly userId: string;
  readonly deviceId: string;
}

/** Contract. Throws PeerError `peers-encryption` when something cannot be encrypted or the store cannot be used; nothing was sent then. */
export interface RoomCrypto {
  readonly deviceId: string;
  /**
   * The newest position that was stored, by any process of this home; undefined: none was. A sync from an older one, or from none (then
   * `isInitial`), brings messages twice, which does no harm; one from a newer position that was never received loses keys.
   */
  position(): string | undefined;
  /**
   * Takes in keys, stores them together with `next`, then sends what the machine has to say (keys to upload, queries). What it throws
   * after the store (the network's PeerError) is tried again by the next call; the position of the sync may advance only when it returns.
   */
  receive(changes: KeyChanges, signal: AbortSignal): Promise<void>;
  /**
   * Every room that was ever noted as encrypted by any process of this home, with the newest settings that were noted: what a server says
   * less, later, is not believed. Costs a query of all of them; before the store was opened, and after it failed, the last known ones.
   */
  encryptedRooms(): readonly EncryptedRoom[];
  /** Shares the key with every device of every member, encrypts all contents, stores once, then sends the keys; gives contents of `m.room.encrypted`. */
  encrypt(target: EncryptionTarget, events: readonly ClearEvent[], signal: AbortSignal): Promise<readonly JsonObject[]>;
  /**
   * Undefined: there is no key for it, or it is not what it claims to be. `event` is the whole event, with `sender` and `type`. A missing
   * key is asked for, once, by the next `receive`; one whose sender's devices are not known yet can be read after the next `receive`.
   */
  decrypt(roomId: string, event: JsonObject): Promise<ClearEvent | undefined>;
  /**
   * Devices of other members that were never noted with `noteReached` for this room, or have lost their keys since; asks for changed
   * device lists first.
   */
  lateDevices(target: EncryptionTarget, signal: AbortSignal): Promise<readonly LateDevice[]>;
  /** Remembers that messages of this room were encrypted for these devices. */
  noteReached(roomId: string, devices: readonly LateDevice[]): Promise<void>;
  close(): Promise<void>;
}
