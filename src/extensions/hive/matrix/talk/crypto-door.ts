// Owns the one way from the Matrix backend to encryption: opened when first needed, once. Knows no algorithm.
// Invariant: where encryption is off or cannot be opened, nothing that needs it is done in another way.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { PeerError } from '../../peers/peer-error.ts';
import type { ClearEvent, RoomCrypto } from '../crypto/room-crypto.ts';

export interface CryptoDoor {
  /** `peers.e2ee`. That the store is broken is said by every refresh. */
  readonly isOn: boolean;
  /** Throws `peers-encryption` when it is off or cannot be opened; a later call tries again. */
  open(): Promise<RoomCrypto>;
  /** Undefined: cannot be read, for want of a key or of the whole store. */
  read(roomId: string, event: JsonObject): Promise<ClearEvent | undefined>;
  /** Safe to call twice. */
  close(): Promise<void>;
}

export function createCryptoDoor(make: (() => Promise<RoomCrypto>) | undefined): CryptoDoor {
  let opened: Promise<RoomCrypto> | undefined;
  const open = async (): Promise<RoomCrypto> => {
    if (make === undefined) throw offError();
    opened ??= make();
    try {
      return await opened;
    } catch (error) {
      opened = undefined;
      throw error;
    }
  };
  return {
    isOn: make !== undefined,
    open,
    read: async (roomId, event) => {
      const plain = withoutRest(event);
      if (make === undefined || plain === undefined) return undefined;
      try {
        return await (await open()).decrypt(roomId, plain);
      } catch (error) {
        if (error instanceof PeerError) return undefined;
        throw error;
      }
    },
    close: async () => {
      const open = await opened?.catch(() => undefined);
      opened = undefined;
      await open?.close();
    },
  };
}

function offError(): PeerError {
  return new PeerError('this is encrypted, and encryption is off here', {
    code: 'peers-encryption',
    fix: 'Set peers.e2ee: true in config.yaml.',
  });
}

/** Only what decryption needs, in the form that it has: foreign JSON may be nested deeper than anybody can write out again. */
function withoutRest(event: JsonObject): JsonObject | undefined {
  const content = event.content;
  if (!isJsonObject(content) || typeof content.ciphertext !== 'string') return undefined;
  return { ...scalarsOf(event), content: scalarsOf(content) };
}

function scalarsOf(value: JsonObject): JsonObject {
  const isScalar = (item: unknown) => item === null || typeof item !== 'object';
  return Object.fromEntries(Object.entries(value).filter(([, item]) => isScalar(item)));
}
