// Owns the type of one batch: what a piece of work may use while it alone, of all processes of this home, holds the keys.
import type { OlmMachine } from '@matrix-org/matrix-sdk-crypto-wasm';
import type { MatrixHttp } from '../../http/matrix-http.ts';
import type { CryptoFile } from '../store/crypto-file.ts';
import type { EncryptedRooms } from '../store/encrypted-rooms.ts';
import type { ReachedDevices } from '../store/reached-devices.ts';
import type { OwnSessions } from './own-sessions.ts';

export interface KeyBatch {
  readonly olm: OlmMachine;
  readonly file: CryptoFile;
  readonly reached: ReachedDevices;
  readonly encrypted: EncryptedRooms;
  readonly ownSessions: OwnSessions;
  readonly http: MatrixHttp;
  readonly userId: string;
  readonly deviceId: string;
  /** Something for the owner, one sentence; the same one is said once. */
  readonly warn: (sentence: string) => void;
  /** To be written to the file together with the next `store`. */
  readonly later: (write: () => void) => void;
  /** Writes all that changed, in one transaction; nothing when nothing did. `isLight`: what a repetition would bring about again. */
  readonly store: (options?: { readonly isLight?: boolean }) => Promise<void>;
  /** Member lists for which nothing has to be asked before a message: devices are known and have sessions. Emptied by all that is new. */
  readonly prepared: Set<string>;
  readonly signal: AbortSignal;
}
