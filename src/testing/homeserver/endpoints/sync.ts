// Owns `GET /sync` as an endpoint: reads the token and filter, forgets what the client has acknowledged, waits when it may.
import type { JsonObject } from '#base/json.ts';
import type { Device } from '../store/account.ts';
import { readSyncToken, type SyncPlace } from '../store/stream-token.ts';
import { syncAnswer } from '../sync/sync-answer.ts';
import { readSyncFilter } from '../sync/sync-filter.ts';
import type { Route, SignedCall } from '../wire/call.ts';
import { numberQuery } from './fields.ts';

export const syncRoutes: readonly Route[] = [{ method: 'GET', path: 'sync', signed: sync }];

const LONGEST_WAIT_MS = 60_000;

const CACHED_MS = 120_000;

async function sync(call: SignedCall): Promise<JsonObject> {
  const { world, device, query } = call;
  if (!world.settings.cachesSync) return freshSync(call);
  const key = JSON.stringify([query.since, query.filter, query.timeout, query.full_state]);
  const now = world.settings.clock.monotonic();
  const cached = device.syncs.get(key);
  if (cached && cached.until > now) return cached.body;
  const body = await freshSync(call);
  device.syncs.set(key, { body, until: now + CACHED_MS });
  return body;
}

async function freshSync(call: SignedCall): Promise<JsonObject> {
  const { world, account, device, query, signal } = call;
  const since = query.since === undefined ? undefined : readSyncToken(query.since);
  const filter = readSyncFilter(account, query.filter);
  const wait = Math.min(numberQuery(query, 'timeout') ?? 0, LONGEST_WAIT_MS);
  if (since) acknowledge(device, since);
  const request = { session: { account, device }, filter, since };
  const { clock } = world.settings;
  const until = clock.monotonic() + wait;
  for (;;) {
    const { body, empty } = syncAnswer(world, request);
    const left = until - clock.monotonic();
    if (!empty || !since || left <= 0 || signal.aborted) return body;
    await somethingChanged(call, left);
  }
}

function acknowledge({ inbox }: Device, { toDevice }: SyncPlace): void {
  const kept = inbox.filter(({ position }) => position > toDevice);
  inbox.splice(0, inbox.length, ...kept);
}

function somethingChanged({ world, signal }: SignedCall, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      unhook();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = world.settings.clock.after(ms, done);
    const unhook = world.onChange(done);
    signal.addEventListener('abort', done, { once: true });
  });
}
