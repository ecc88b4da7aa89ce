/** A homeserver as tests use it: the fake one in this process, or a real one on loopback. Suites of the peer layer take it as their ground. */

export interface TestAccount {
  /** `@name:server` */
  readonly userId: string;
  readonly accessToken: string;
  readonly deviceId: string;
  readonly password: string;
}

export interface TestHomeserver {
  /** `fake, strict` or `synapse 1.163.2`. */
  readonly name: string;
  /** Address without a slash at its end. */
  readonly url: string;
  readonly serverName: string;
  /** A new account; `local` gets a suffix where the server outlives one test, so use `userId`. */
  register(local: string): Promise<TestAccount>;
  /** Signs the same account in again: another device with another token. */
  signIn(account: TestAccount): Promise<TestAccount>;
  /** Everything that the server keeps, as text to be searched. */
  storedText(): Promise<string>;
  /** Faults and a log of requests; absent on a real server. */
  readonly wire?: TestWire;
}

export interface WireRequest {
  readonly method: string;
  /** Path with its escapes, without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly userId?: string;
}

export type WireFault =
  | {
      readonly type: 'status';
      readonly status: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly type: 'html' }
  | { readonly type: 'reset' }
  | { readonly type: 'slow'; readonly ms: number }
  /** The request takes effect, then the connection breaks. */
  | { readonly type: 'lost-answer' };

export interface TestWire {
  requests(): readonly WireRequest[];
  clear(): void;
  /** The next `times` (default 1) requests that match get the fault. Returns what removes it. */
  fail(match: (request: WireRequest) => boolean, fault: WireFault, times?: number): () => void;
  /** Connections are refused until `up()`; the port stays. */
  down(): Promise<void>;
  up(): Promise<void>;
}
