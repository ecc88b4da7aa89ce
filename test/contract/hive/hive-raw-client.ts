/** A small client of a homeserver over plain HTTP, for tests: what a standard server promises, and no code of the product; and three of them with the room that an introduction makes. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { verifies } from '../../verifies.ts';
import type { TestAccount, TestHomeserver } from './hive-stage.ts';

export interface RawEvent {
  readonly type: string;
  readonly sender: string;
  readonly event_id: string;
  readonly origin_server_ts: number;
  readonly state_key?: string;
  readonly content: Readonly<Record<string, unknown>>;
  readonly unsigned?: Readonly<Record<string, unknown>>;
}

export interface RawPage {
  readonly chunk: readonly RawEvent[];
  readonly start: string;
  readonly end?: string;
}

export interface RawJoinedRoom {
  readonly timeline: { readonly events: readonly RawEvent[]; readonly limited?: boolean; readonly prev_batch?: string };
  readonly state: { readonly events: readonly RawEvent[] };
  readonly account_data?: { readonly events: readonly Pick<RawEvent, 'type' | 'content'>[] };
}

export interface RawSync {
  readonly next_batch: string;
  readonly account_data?: { readonly events: readonly Pick<RawEvent, 'type' | 'content'>[] };
  readonly to_device?: { readonly events: readonly Pick<RawEvent, 'type' | 'sender' | 'content'>[] };
  readonly device_lists?: { readonly changed?: readonly string[]; readonly left?: readonly string[] };
  readonly device_one_time_keys_count?: Readonly<Record<string, number>>;
  readonly rooms?: {
    readonly join?: Readonly<Record<string, RawJoinedRoom>>;
    readonly invite?: Readonly<Record<string, { readonly invite_state: { readonly events: readonly RawEvent[] } }>>;
    readonly leave?: Readonly<Record<string, RawJoinedRoom>>;
  };
}

export interface RawRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below `/_matrix/client`, escaped, with its query. */
  readonly path: string;
  /** Sent as JSON; a text as it stands; without it there is no body. */
  readonly body?: unknown;
}

export interface RawAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** An answer that is not 200. */
export class RawError extends Error {
  readonly status: number;
  readonly errcode: string;

  constructor(request: RawRequest, { status, body }: RawAnswer) {
    super(`${request.method} ${request.path}: ${status} ${JSON.stringify(body)}`);
    this.status = status;
    this.errcode = String(body.errcode);
  }
}

export class HiveRawClient {
  readonly account: TestAccount;
  readonly userId: string;
  readonly #url: string;

  constructor(server: TestHomeserver, account: TestAccount) {
    this.account = account;
    this.userId = account.userId;
    this.#url = server.url;
  }

  static async register(server: TestHomeserver, local: string): Promise<HiveRawClient> {
    return new HiveRawClient(server, await server.register(local));
  }

  /** Whatever the server says. */
  async request(request: RawRequest): Promise<RawAnswer> {
    const { method, path, body } = request;
    const answer = await fetch(`${this.#url}/_matrix/client${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.account.accessToken}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as RawAnswer['body'] };
  }

  /** @throws RawError when the answer is not 200 */
  async call<T>(method: RawRequest['method'], path: string, body?: unknown): Promise<T> {
    const request = { method, path, ...(body === undefined ? {} : { body }) };
    const answer = await this.request(request);
    if (answer.status !== 200) throw new RawError(request, answer);
    return answer.body as T;
  }

  async createRoom(options: Readonly<Record<string, unknown>>): Promise<string> {
    return (await this.call<{ room_id: string }>('POST', '/v3/createRoom', options)).room_id;
  }

  async join(room: string): Promise<void> {
    await this.call('POST', `/v3/join/${encodeURIComponent(room)}`, {});
  }

  async leave(room: string): Promise<void> {
    await this.#inRoom(room, 'leave', {});
  }

  async invite(room: string, user: string): Promise<void> {
    await this.#inRoom(room, 'invite', { user_id: user });
  }

  async kick(room: string, user: string): Promise<void> {
    await this.#inRoom(room, 'kick', { user_id: user });
  }

  async ban(room: string, user: string): Promise<void> {
    await this.#inRoom(room, 'ban', { user_id: user });
  }

  async unban(room: string, user: string): Promise<void> {
    await this.#inRoom(room, 'unban', { user_id: user });
  }

  /** A text message; the id of its event. */
  say(room: string, text: string): Promise<string> {
    return this.send(room, { type: 'm.room.message', content: { msgtype: 'm.text', body: text } });
  }

  /** @param event.txn default a new one */
  async send(room: string, event: { type: string; content: unknown; txn?: string }): Promise<string> {
    const path = `${roomPath(room)}/send/${encodeURIComponent(event.type)}/${event.txn ?? randomUUID()}`;
    return (await this.call<{ event_id: string }>('PUT', path, event.content)).event_id;
  }

  messages(room: string, query: Readonly<Record<string, string>> = {}): Promise<RawPage> {
    const search = new URLSearchParams({ dir: 'b', limit: '100', ...query });
    return this.call('GET', `${roomPath(room)}/messages?${search}`);
  }

  /** Bodies of the text messages, newest first. */
  async texts(room: string): Promise<readonly string[]> {
    const { chunk } = await this.messages(room);
    return chunk.filter(({ type }) => type === 'm.room.message').map(({ content }) => String(content.body));
  }

  /** Who is joined or invited (or left, banned), by user id. */
  async members(room: string): Promise<Readonly<Record<string, string>>> {
    const { chunk } = await this.call<RawPage>('GET', `${roomPath(room)}/members`);
    return Object.fromEntries(chunk.map(({ state_key, content }) => [String(state_key), String(content.membership)]));
  }

  state(room: string): Promise<readonly RawEvent[]> {
    return this.call('GET', `${roomPath(room)}/state`);
  }

  /** Never waits. */
  sync(query: Readonly<Record<string, string>> = {}): Promise<RawSync> {
    return this.call('GET', `/v3/sync?${new URLSearchParams({ timeout: '0', ...query })}`);
  }

  #inRoom(room: string, action: string, body: Readonly<Record<string, unknown>>): Promise<unknown> {
    return this.call('POST', `${roomPath(room)}/${action}`, body);
  }
}

export function roomPath(room: string): string {
  return `/v3/rooms/${encodeURIComponent(room)}`;
}

export type HomeserverStart = () => Promise<{ readonly server: TestHomeserver; stop(): Promise<void> }>;

export interface Agents {
  readonly server: TestHomeserver;
  readonly alice: HiveRawClient;
  readonly bob: HiveRawClient;
  readonly carol: HiveRawClient;
  /** A room of Alice with Bob and Carol invited and introduced. */
  readonly room: string;
}

export const REASON = 'Bob ships what Carol audits.';

export const ABOUT_BOB = 'Bob builds enclaves.\nHe looks for an auditor.';

export const ABOUT_CAROL = 'Carol audits enclaves.';

/** Runs `body` with three new agents; the server is stopped after it. */
export async function withAgents(start: HomeserverStart, body: (agents: Agents) => Promise<void>): Promise<void> {
  const { server, stop } = await start();
  try {
    const [alice, bob, carol] = [
      await HiveRawClient.register(server, 'hermes-of-alice'),
      await HiveRawClient.register(server, 'hermes-of-bob'),
      await HiveRawClient.register(server, 'hermes-of-carol'),
    ];
    await body({ server, alice, bob, carol, room: await introduce(alice, [bob, ABOUT_BOB], [carol, ABOUT_CAROL]) });
  } finally {
    await stop();
  }
}

type AgentsBody = (agents: Agents) => Promise<void>;

/** `test` and `verifies` whose bodies get three new agents. */
export function testsWithAgents(start: HomeserverStart) {
  const run = (body: AgentsBody) => () => withAgents(start, body);
  return {
    test: (name: string, body: AgentsBody) => void test(name, run(body)),
    verifies: (ids: string | readonly string[], name: string, body: AgentsBody) => verifies(ids, name, run(body)),
  };
}

type Introduced = readonly [agent: HiveRawClient, context: string];

/** Makes the room, invites both, and posts who they are; nobody has joined yet but `by`. */
export async function introduce(by: HiveRawClient, a: Introduced, b: Introduced): Promise<string> {
  const name = `Introduction: ${localpart(a[0].userId)} <> ${localpart(b[0].userId)}`;
  const room = await by.createRoom({ name, preset: 'private_chat', invite: [a[0].userId, b[0].userId] });
  for (const [agent, context] of [a, b]) await by.say(room, about(agent, context));
  await by.say(room, `Why: ${REASON}`);
  return room;
}

export function about(agent: HiveRawClient, context: string): string {
  return `About ${agent.userId}: ${context}`;
}

/** Both invited ones join. */
export async function joinBoth({ bob, carol, room }: Agents): Promise<void> {
  await bob.join(room);
  await carol.join(room);
}

/** Who is joined, by user id, sorted. */
export async function joined(witness: HiveRawClient, room: string): Promise<readonly string[]> {
  const members = Object.entries(await witness.members(room));
  return members.flatMap(([user, membership]) => (membership === 'join' ? [user] : [])).sort();
}

export function users(...agents: readonly HiveRawClient[]): readonly string[] {
  return agents.map(({ userId }) => userId).sort();
}

export async function refused(work: Promise<unknown>, errcode = 'M_FORBIDDEN', status = 403): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof RawError, String(error));
    assert.deepEqual({ status: error.status, errcode: error.errcode }, { status, errcode });
    return true;
  });
}

/** As a banned one is refused: M_FORBIDDEN by the book, M_BAD_STATE by Synapse. */
export async function barred(work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof RawError, String(error));
    assert.equal(error.status, 403);
    assert.match(error.errcode, /^M_(?:FORBIDDEN|BAD_STATE)$/);
    return true;
  });
}

function localpart(user: string): string {
  return user.slice(1, user.indexOf(':'));
}
