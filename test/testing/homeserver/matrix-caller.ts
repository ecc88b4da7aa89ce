/** A client of the fake homeserver as small as can be: one request, its status and its object. */
import type { FakeHomeserver, HomeserverAccount } from '#testing/homeserver/fake-homeserver.ts';

// biome-ignore lint/suspicious/noExplicitAny: the tests look into whatever the server answers
export type Loose = any;

export interface Called {
  readonly status: number;
  readonly body: Loose;
  readonly headers: Headers;
}

export type Caller = (method: string, path: string, body?: object) => Promise<Called>;

/** Paths begin after `/_matrix/client/v3`. */
export function callerOf(server: FakeHomeserver, account?: { readonly accessToken: string }): Caller {
  return async (method, path, body) => {
    const headers = {
      ...(account && { authorization: `Bearer ${account.accessToken}` }),
      ...(body && { 'content-type': 'application/json' }),
    };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${server.url}/_matrix/client/v3${path}`, init);
    return { status: response.status, body: await response.json(), headers: response.headers };
  };
}

export interface Person extends HomeserverAccount {
  readonly call: Caller;
  /** `/sync` from where it was left; the answer's body. */
  sync(filter?: object): Promise<Loose>;
}

export async function person(server: FakeHomeserver, local: string): Promise<Person> {
  return personOf(server, await server.register(local));
}

export function personOf(server: FakeHomeserver, account: HomeserverAccount): Person {
  const call = callerOf(server, account);
  let since = '';
  const sync = async (filter?: object): Promise<Loose> => {
    const query = new URLSearchParams({ timeout: '0', ...(since && { since }) });
    if (filter) query.set('filter', JSON.stringify(filter));
    const { body } = await call('GET', `/sync?${query}`);
    since = body.next_batch;
    return body;
  };
  return { ...account, call, sync };
}

/** A new room's id, escaped for a path. */
export async function roomOf(creator: Person, body: object = {}): Promise<string> {
  const made = await creator.call('POST', '/createRoom', body);
  return encodeURIComponent(String(made.body.room_id));
}

let sent = 0;

export function say(who: Person, room: string, text: string): Promise<Called> {
  sent += 1;
  return who.call('PUT', `/rooms/${room}/send/m.room.message/say${sent}`, { msgtype: 'm.text', body: text });
}

export function textsOf(events: readonly Loose[]): readonly string[] {
  return events.filter(({ type }) => type === 'm.room.message').map(({ content }) => content.body);
}

export function codeOf({ status, body }: Called): string {
  return `${status} ${body.errcode ?? ''}`.trim();
}
