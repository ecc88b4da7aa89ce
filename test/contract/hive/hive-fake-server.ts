/** The fake homeserver as a TestHomeserver, and how tests start it: strict, new for each, gone with what started it. */
import type { FakeHomeserver, FakeHomeserverOptions } from '#testing/homeserver/fake-homeserver.ts';
import { startFakeHomeserver } from '#testing/homeserver/start-fake-homeserver.ts';
import type { TestHomeserver } from './hive-homeserver.ts';
import type { HomeserverStart } from './hive-introduction.ts';

/** The fake with its doors; a suite that takes any server sees a TestHomeserver in it. */
export type FakeServer = FakeHomeserver & TestHomeserver;

/** Default: strict, `localhost`, rooms of version 11. Give `context`, or call `stop()`. */
export function startFake(options: FakeHomeserverOptions = {}): Promise<FakeServer> {
  return startFakeHomeserver(options);
}

/** As suites take it: each start another server. */
export function onFake(options: FakeHomeserverOptions = {}): HomeserverStart {
  return async () => {
    const server = await startFake(options);
    return { server, stop: () => server.stop() };
  };
}
