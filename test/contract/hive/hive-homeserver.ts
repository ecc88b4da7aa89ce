/** A homeserver as tests use it: the fake one in this process, or a real one on loopback. Suites of the peer layer take it as their ground. */
import type {
  HomeserverAccount,
  HomeserverFault,
  HomeserverRequest,
  HomeserverWire,
} from '#testing/homeserver/fake-homeserver.ts';

export type TestAccount = HomeserverAccount;

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

export type WireRequest = HomeserverRequest;
export type WireFault = HomeserverFault;
export type TestWire = Pick<HomeserverWire, 'requests' | 'clear' | 'fail' | 'down' | 'up'>;
