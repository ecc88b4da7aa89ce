// Owns what the parts of the Matrix backend share, and the one way from it to encryption: opened when first needed, once. Invariant: where
// encryption is off or cannot be opened, nothing that needs it is done in another way.
import type { Clock } from '#base/clock.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { ClearEvent, RoomCrypto } from '../crypto/room-crypto.ts';
import { PeerError } from '../peer.ts';
import type { HiveConfig } from '../settings.ts';
import type { MatrixHttp } from './matrix-http.ts';
import type { AccountData } from './notes.ts';
import type { PeerViewer } from './peer-view.ts';
import type { BookShelf } from './room-book.ts';

export interface MatrixGround {
  /** `@name:server` */
  readonly selfId: string;
  readonly join: HiveConfig['join'];
  readonly clock: Clock;
  readonly http: MatrixHttp;
  readonly data: AccountData;
  readonly crypto: CryptoDoor;
  readonly shelf: BookShelf;
  readonly viewer: PeerViewer;
  /** Whether introductions of that user are accepted. */
  readonly isWelcome: (userId: string) => boolean;
  /** For the log, one sentence. */
  readonly warn: (text: string) => void;
}

export class CryptoDoor {
  /** `peers.e2ee`. That the store is broken is said by every refresh. */
  readonly isOn: boolean;
  readonly #make: (() => Promise<RoomCrypto>) | undefined;
  #opened: Promise<RoomCrypto> | undefined;

  constructor(make: (() => Promise<RoomCrypto>) | undefined) {
    this.isOn = make !== undefined;
    this.#make = make;
  }

  /** Throws `peers-encryption` when it is off or cannot be opened; a later call tries again. */
  async open(): Promise<RoomCrypto> {
    if (this.#make === undefined)
      throw new PeerError('this is encrypted, and encryption is off here', {
        code: 'peers-encryption',
        fix: 'Set peers.e2ee: true in config.yaml.',
      });
    this.#opened ??= this.#make();
    try {
      return await this.#opened;
    } catch (error) {
      this.#opened = undefined;
      throw error;
    }
  }

  /** Undefined: cannot be read, for want of a key or of the whole store. */
  async read(roomId: string, event: JsonObject): Promise<ClearEvent | undefined> {
    const plain = withoutRest(event);
    if (!this.isOn || plain === undefined) return undefined;
    try {
      return await (await this.open()).decrypt(roomId, plain);
    } catch (error) {
      if (error instanceof PeerError) return undefined;
      throw error;
    }
  }

  /** Safe to call twice. */
  async close(): Promise<void> {
    const open = await this.#opened?.catch(() => undefined);
    this.#opened = undefined;
    await open?.close();
  }
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
