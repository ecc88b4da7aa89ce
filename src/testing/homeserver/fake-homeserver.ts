// Owns what a test holds of the fake homeserver: accounts, the wire with its faults, and doors past the protocol.
// Knows no implementation. Invariant: everything that a door does could have been done by some other client or by time.
import type { Clock } from '#base/clock.ts';
import type { JsonObject, JsonValue } from '#base/json.ts';
import type { Teardown } from '../teardown.ts';

export interface FakeHomeserverOptions {
  /** The part after the colon of ids; may have a port. Default `localhost`. */
  readonly serverName?: string;
  /** Default true: every POST and PUT needs `Content-Type: application/json` and a JSON object, as Continuwuity wants it. */
  readonly strict?: boolean;
  /** Version of new rooms, `1` to `12`; default `11`. */
  readonly roomVersion?: string;
  /** Registration then asks for this token instead of nothing. */
  readonly registrationToken?: string;
  /** As Synapse does by default: the same `/sync` of the same device gets the same answer again for two minutes. Default false. */
  readonly cachesSync?: boolean;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** A test context: the server stops when the test ends. */
  readonly context?: Teardown;
}

export interface HomeserverAccount {
  /** `@name:server` */
  readonly userId: string;
  readonly accessToken: string;
  readonly deviceId: string;
  readonly password: string;
}

export interface HomeserverRequest {
  readonly method: string;
  /** Path with its escapes, without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly userId?: string;
}

/** `html`: a web page with status 200. `reset`: the connection breaks, nothing took effect. `lost-answer`: the same after it took effect. */
export type HomeserverFault =
  | {
      readonly type: 'status';
      readonly status: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly type: 'html' }
  | { readonly type: 'reset' }
  | { readonly type: 'slow'; readonly ms: number }
  | { readonly type: 'lost-answer' };

export interface HomeserverWire {
  /** Frozen, oldest first. */
  requests(): readonly HomeserverRequest[];
  clear(): void;
  /** The next `times` (default 1) requests that match get the fault. Returns what removes it. */
  fail(match: (request: HomeserverRequest) => boolean, fault: HomeserverFault, times?: number): () => void;
  /** Connections are refused until `up()`; the port stays. */
  down(): Promise<void>;
  up(): Promise<void>;
  /** Every client-server request is answered 429 with this delay, until what is returned is called. */
  limitRate(retryAfterMs: number): () => void;
  /** Connections that are open now. */
  readonly openSockets: number;
}

export interface EventDraft {
  readonly type: string;
  readonly content: JsonObject;
  readonly sender: string;
  /** Makes it a state event. */
  readonly stateKey?: string;
  /** Default: now. */
  readonly at?: number;
}

export interface RoomDraft {
  readonly creator: string;
  readonly name?: string;
  readonly invite?: readonly string[];
  readonly join?: readonly string[];
  /** Texts that the creator sends after the invitations. */
  readonly messages?: readonly string[];
  readonly creationContent?: JsonObject;
  /** Default false. True: megolm. */
  readonly encrypted?: boolean;
}

/** Doors past the protocol. They throw `homeserver-unknown` for a room or account that there is not. */
export interface HomeserverDoors {
  /** Signs up without HTTP; an id of another server is a person of that server, seen through federation. */
  addAccount(localOrUserId: string): HomeserverAccount;
  /** A room with members and messages, without HTTP: thousands a second. Gives its id. */
  addRoom(draft: RoomDraft): string;
  /** Appends an event to the timeline, whatever power levels say. Gives its id. */
  inject(roomId: string, draft: EventDraft): string;
  /** Empties an event of its content, as a moderator would. */
  redact(roomId: string, eventId: string, by: string): void;
  /** The token is unknown from now on. */
  expireToken(accessToken: string): void;
  setAccountData(userId: string, type: string, content: JsonObject, roomId?: string): void;
  accountData(userId: string, type: string, roomId?: string): JsonObject | undefined;
  /** Current content of a piece of state. */
  state(roomId: string, type: string, stateKey?: string): JsonObject | undefined;
  /** Everything in the timeline, oldest first, as members see it. */
  timeline(roomId: string): readonly JsonObject[];
  /** Forgets the one-time keys of a device (and its fallback key): somebody took them all. */
  takeKeys(userId: string, deviceId: string): void;
  /** To-device messages that wait for a device. */
  waiting(userId: string, deviceId: string): readonly JsonValue[];
}

export interface FakeHomeserver {
  /** `fake, strict` or `fake`. */
  readonly name: string;
  /** Address without a slash at its end. */
  readonly url: string;
  readonly serverName: string;
  /** A new account, through HTTP. */
  register(local: string): Promise<HomeserverAccount>;
  /** Signs the same account in again: another device with another token. */
  signIn(account: HomeserverAccount): Promise<HomeserverAccount>;
  /** Everything that the server keeps, as text to be searched. Passwords and tokens are left out. */
  storedText(): Promise<string>;
  readonly wire: HomeserverWire;
  readonly doors: HomeserverDoors;
  /** Ends every connection, timer and waiting request. May be called twice. */
  stop(): Promise<void>;
}
