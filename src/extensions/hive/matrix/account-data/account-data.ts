// Owns the reading and writing of our keys in the account data, which are the database of the peer layer (seed 004, layer 4). Knows no meaning
// of a value. Invariant: only M_NOT_FOUND is absence; every other failure throws (notes 6, B6).
import type { JsonObject } from '#base/json.ts';
import { PeerError } from '../../peers/peer-error.ts';
import type { MatrixHttp } from '../http/matrix-http.ts';
import { type AccountDataCipher, isSealed } from './account-data-cipher.ts';

export const PEER_KEY = 'social.awareness.peer';
export const SUMMARY_KEY = 'social.awareness.summary';
export const READ_KEY = 'social.awareness.read';
export const SPARKS_KEY = 'social.awareness.sparks';

const OUR_KEYS = new Set([PEER_KEY, SUMMARY_KEY, READ_KEY, SPARKS_KEY]);

export interface Opened {
  /** Undefined: sealed, and we have no key that opens it. */
  readonly value: JsonObject | undefined;
  /** Sealed where notes are to be sealed, plain where they are not. */
  readonly isAsWanted: boolean;
}

/** A key of a room when one is given, else of the user. */
export interface NotePlace {
  readonly key: string;
  readonly room?: string;
}

export interface AccountData {
  open(stored: JsonObject, place: NotePlace): Opened;
  /** All that a whole sync brought is on the server as it is wanted: from now on what is in clear there is not ours. */
  settled(): void;
  /** Of a room when one is given, else of the user. */
  get(key: string, room: string | undefined, signal: AbortSignal): Promise<JsonObject | undefined>;
  put(note: NotePlace & { readonly value: JsonObject }, signal: AbortSignal): Promise<void>;
}

export function createAccountData(
  http: MatrixHttp,
  selfId: string,
  cipher: AccountDataCipher | undefined,
): AccountData {
  const pathOf = (key: string, room: string | undefined) => [
    ...['v3', 'user', selfId],
    ...(room === undefined ? [] : ['rooms', room]),
    ...['account_data', key],
  ];
  const bound = ({ key, room = '' }: NotePlace) => JSON.stringify([selfId, room, key]);
  return {
    open: (stored, place) =>
      isSealed(stored)
        ? { value: cipher?.open(stored, bound(place)), isAsWanted: cipher !== undefined }
        : openPlain(stored, place, cipher),
    settled: () => cipher?.plain?.end(),
    get: async (key, room, signal) => {
      try {
        return await http({ method: 'GET', path: pathOf(key, room) }, signal);
      } catch (error) {
        if (error instanceof PeerError && error.errcode === 'M_NOT_FOUND') return undefined;
        throw error;
      }
    },
    put: async ({ key, room, value }, signal) => {
      const body =
        cipher === undefined ? value : cipher.seal(value, bound({ key, ...(room === undefined ? {} : { room }) }));
      await http({ method: 'PUT', path: pathOf(key, room), body }, signal);
    },
  };
}

/** One that is not believed is as one that is not there. */
function openPlain(stored: JsonObject, { key }: NotePlace, cipher: AccountDataCipher | undefined): Opened {
  const isNote = OUR_KEYS.has(key) && Object.keys(stored).length > 0;
  if (!isNote || !cipher?.plain?.isOver()) return { value: stored, isAsWanted: cipher === undefined };
  cipher.plain.refused();
  return { value: {}, isAsWanted: true };
}
