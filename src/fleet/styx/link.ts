// Owns the link: it copies rows between the log of a home and the stream `STYX_<clade>` of a NATS server (hierarchy notes A9), and answers what golems of
// this home are asked from elsewhere. The only file that loads NATS. The server is a way and no store: it may lose, delay, repeat and mix up.
// Invariants: own rows go up and others' come down under their names, so that each stands once; what the stream lost goes up again; no row
// but of this clade is taken; nothing that comes is believed.
import type { NatsConnection } from '@nats-io/transport-node';
import { errorText, TalariaError } from '#base/errors.ts';
import { isJsonObject, type JsonObject, parseJson } from '#base/json.ts';
import { oneLine } from '#base/text.ts';
import type { Question } from './clade.ts';
import { CARRIER, type ForeignRow, type StyxRow } from './home-log.ts';
import { AGAIN, type LinkParts, type LinkPlace, type LinkState, placeOf } from './link-state.ts';

/** A stream on a server, as far as the link needs it. All of it throws once the connection is lost. */
export interface Post {
  /** Bytes that one message may have. */
  readonly most: number;
  /** Makes the stream when it is not there. `last`: its newest message; 0: it has none. */
  look(): Promise<{ readonly created: string; readonly last: number }>;
  /** Undefined: there is no message with this number. */
  idAt(seq: number): Promise<string | undefined>;
  /** Resolves to its number once it is stored. */
  send(letter: Letter): Promise<number>;
  /** From this number on, in order, as many at once as there are. */
  receive(from: number): AsyncIterable<readonly Received[]>;
  /** Rejects when the connection is lost. */
  readonly lost: Promise<never>;
  close(): Promise<void>;
}

export interface Letter {
  readonly subject: string;
  /** `<origin>:<origin_seq>` */
  readonly id: string;
  /** The body as JSON. */
  readonly text: string;
}

export interface Received extends Letter {
  readonly seq: number;
}

/** Rows that go up at once. */
const BATCH = 128;
/** How often the stream is looked at: it may be gone while nothing is sent, ms. */
const LOOK_MS = 15_000;
/** What stands beside the body in a message, bytes. */
const HEAD_BYTES = 512;
const LONGEST_WAIT_MS = 60_000;
/** So many failures in a row open the breaker. */
const BREAKS_AFTER = 3;

/** How long after so many failures in a row the next try comes, ms. */
export function waitAfter(failures: number): number {
  const isOpen = failures % BREAKS_AFTER === 0;
  return isOpen ? LONGEST_WAIT_MS : Math.min(LONGEST_WAIT_MS, 1_000 * 2 ** (failures - 1));
}

export async function runLink(parts: LinkParts, signal: AbortSignal): Promise<void> {
  return new Link(parts, () => natsPost(parts)).run(signal);
}

export class Link {
  readonly #parts: LinkParts;
  readonly #connect: () => Promise<Post>;
  #place: LinkPlace;
  #failures = 0;
  /** What the stream held when it was linked has come down. */
  #caughtUp = Promise.withResolvers<void>();
  #isLive = false;
  /** The last error, until it is linked again, or of a row that no message of this server takes. */
  #trouble: Pick<LinkState, 'error' | 'fix'> = {};

  constructor(parts: LinkParts, connect: () => Promise<Post>) {
    this.#parts = parts;
    this.#connect = connect;
    this.#place = placeOf(parts.log, parts.clade);
  }

  async run(signal: AbortSignal): Promise<void> {
    const stop = answerQuestions(this.#parts, () => this.#isLive);
    try {
      while (!signal.aborted) {
        this.#tell({ state: 'connecting' });
        const error = await this.#once(signal).catch((thrown: unknown) => thrown);
        if (signal.aborted) break;
        await this.#wait(error, signal);
      }
    } finally {
      stop();
      this.#tell({ state: 'off' });
    }
  }

  async #wait(error: unknown, signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts.ground;
    this.#failures += 1;
    const ms = waitAfter(this.#failures);
    const fix = error instanceof TalariaError && error.fix ? { fix: error.fix } : {};
    this.#trouble = { error: oneLine(errorText(error), 300), ...fix };
    this.#tell({ state: 'waits', next: clock.now() + ms });
    await clock.sleep(ms, signal).catch(() => undefined);
  }

  #tell(what: Pick<LinkState, 'state'> & Partial<LinkState>): void {
    const { url, ground, onState } = this.#parts;
    const isCurrent = what.state === 'linked' && this.#isLive;
    onState({ url, at: ground.clock.now(), ...what, isCurrent, ...this.#trouble });
  }

  /** One connection, until it is lost or the signal aborts. */
  async #once(signal: AbortSignal): Promise<void> {
    const post = await this.#connect();
    const end = new AbortController();
    const until = AbortSignal.any([signal, end.signal]);
    this.#isLive = false;
    this.#caughtUp = Promise.withResolvers<void>();
    try {
      const last = await this.#agree(post);
      this.#failures = 0;
      this.#trouble = {};
      this.#tell({ state: 'linked' });
      if (this.#place.down >= last) this.#live();
      const aborted = new Promise<void>((resolve) => until.addEventListener('abort', () => resolve()));
      const works = [this.#up(post, until), this.#down(post, last, until), this.#watch(post, until)];
      for (const work of works) work.catch(() => undefined);
      await Promise.race([aborted, post.lost, ...works]);
    } finally {
      end.abort();
      await post.close().catch(() => undefined);
    }
  }

  #live(): void {
    if (this.#isLive) return;
    this.#isLive = true;
    this.#caughtUp.resolve();
    this.#tell({ state: 'linked' });
  }

  /** A stream that is new, or not the one that was seen, is begun anew on both ways: what stands twice is found by its name. Gives its newest message. */
  async #agree(post: Post): Promise<number> {
    const { created, last, isSame } = await this.#look(post);
    if (isSame) return last;
    await this.#parts.log.rewind(CARRIER);
    await this.#keep({ clade: this.#parts.clade, created, down: 0, top: 0, topId: '', at: 0 });
    return last;
  }

  /** Is it the stream that was seen, and as far as it was? What it dropped for its age it has not lost. */
  async #look(post: Post) {
    const { created, last } = await post.look();
    const { top, topId, at } = this.#place;
    const isOld = this.#parts.ground.clock.now() - at > OLD_MS;
    const holds = async () => top === 0 || (await post.idAt(top).then((id) => id === topId || (isOld && !id)));
    return {
      created,
      last,
      isSame: created === this.#place.created && (last >= top || (isOld && last === 0)) && (await holds()),
    };
  }

  async #keep(place: LinkPlace): Promise<void> {
    this.#place = place;
    await this.#parts.log.keepNote(CARRIER, { ...place });
  }

  /** The newest message that is known to be there. */
  async #seen(seq: number, id: string, down = this.#place.down): Promise<void> {
    const isNewer = seq > this.#place.top;
    if (!isNewer && down === this.#place.down) return;
    await this.#keep({
      ...this.#place,
      down,
      ...(isNewer ? { top: seq, topId: id, at: this.#parts.ground.clock.now() } : {}),
    });
  }

  async #up(post: Post, signal: AbortSignal): Promise<void> {
    const { log, ground } = this.#parts;
    // An older copy of this log learns that it is one before it says anything.
    await Promise.race([this.#caughtUp.promise, ground.clock.sleep(LOOK_MS, signal).catch(() => undefined)]);
    this.#live();
    let grown = Promise.withResolvers<void>();
    const stop = log.follow(['>'], () => grown.resolve());
    signal.addEventListener('abort', () => grown.resolve());
    try {
      while (!signal.aborted) {
        grown = Promise.withResolvers<void>();
        const { origin } = log;
        const rows = log.read(['>'], log.position(CARRIER), BATCH);
        await this.#send(post, rows);
        const last = rows.at(-1);
        if (signal.aborted) return;
        // Under another name by now: it goes up again.
        if (last && log.origin === origin) await log.commit(CARRIER, last.seq);
        if (rows.length < BATCH && !signal.aborted) await grown.promise;
      }
    } finally {
      stop();
    }
  }

  async #send(post: Post, rows: readonly StyxRow[]): Promise<void> {
    const { log, clade } = this.#parts;
    const { origin } = log;
    const letters = rows.filter((row) => row.origin === origin).map((row) => letterOf(row, clade));
    const fits = letters.filter((letter) => this.#fits(post, letter));
    const sent = await Promise.all(fits.map(async (letter) => ({ seq: await post.send(letter), id: letter.id })));
    const newest = sent.reduce((one, other) => (other.seq > one.seq ? other : one), { seq: 0, id: '' });
    if (newest.seq > 0) await this.#seen(newest.seq, newest.id);
  }

  #fits({ most }: Post, { subject, id, text }: Letter): boolean {
    const bytes = Buffer.byteLength(text) + HEAD_BYTES;
    if (bytes <= most) return true;
    const error = `row ${id} (${subject}) has ${bytes} bytes, and the server takes ${most}: it stays here`;
    this.#trouble = { error, fix: LARGER };
    this.#tell({ state: 'linked' });
    return false;
  }

  async #down(post: Post, newest: number, signal: AbortSignal): Promise<void> {
    const { log, clade } = this.#parts;
    for await (const letters of post.receive(this.#place.down + 1)) {
      if (signal.aborted) return;
      await log.take(letters.flatMap((letter) => rowIn(letter, clade) ?? []));
      const last = letters.at(-1);
      if (last) await this.#seen(last.seq, last.id, last.seq);
      if (this.#place.down >= newest) this.#live();
    }
    if (!signal.aborted) throw new TalariaError('the stream ended', { code: 'stream-ended' });
  }

  async #watch(post: Post, signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#parts.ground.clock.sleep(LOOK_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      if (!(await this.#look(post)).isSame)
        throw new TalariaError('the stream is another one', { code: 'stream-replaced' });
    }
  }
}

const LARGER = 'Set max_payload: 2MB in the configuration of the server, then: talaria styx unlink, and link again.';

function letterOf({ origin, originSeq, topic, body }: StyxRow, clade: string): Letter {
  return { subject: `styx.${clade}.${origin}.${topic}`, id: `${origin}:${originSeq}`, text: JSON.stringify(body) };
}

/** Undefined: it is no row of this clade. */
function rowIn({ subject, id, text }: Received, clade: string): ForeignRow | undefined {
  const [, at, origin = '', ...topic] = subject.split('.');
  const [named, number] = id.split(':');
  const body = parseJson(text);
  if (at !== clade || named !== origin || !body.ok) return undefined;
  return { origin, originSeq: Number(number), topic: topic.join('.'), body: body.value };
}

/** What golems of this home are asked elsewhere; the answer is a Result. Whoever they are not, or that has no such door, is silent or says so. One after another, and no longer
 * than a question is waited for; none that was asked while there was no link. */
function answerQuestions({ log, ground }: LinkParts, isLive: () => boolean): () => void {
  let before = Promise.resolve();
  return log.follow(['golem.*.ask'], (row) => {
    const { to, what } = isJsonObject(row.body) ? row.body : {};
    if (!isLive() || row.origin === log.origin || typeof to !== 'string' || typeof what !== 'string') return;
    const answered = before.then(async () => {
      if (ground.clock.now() - row.at > WAITED_MS) return;
      const answer = await answerTo(ground, row, to);
      if (answer === undefined) return;
      await log.answer(row, answer).catch((error: unknown) => {
        if (!(error instanceof TalariaError) || error.code !== 'body-too-large') throw error;
        return log.answer(row, { ok: false, reason: 'answer-too-large', detail: error.message });
      });
    });
    // Who asked hears nothing, and says so after its time.
    before = answered.catch(() => undefined);
  });
}

async function answerTo(ground: LinkParts['ground'], { topic, body }: StyxRow, to: string) {
  try {
    const golems = await ground.door('golems');
    const [, name = ''] = topic.split('.');
    const state = await golems.ask(name, { what: 'state' });
    const { signer } = state.ok && isJsonObject(state.value.value) ? state.value.value : {};
    if (signer !== to) return undefined;
    return (await golems.ask(name, body as unknown as Question)) as unknown as JsonObject;
  } catch (error) {
    const reason = error instanceof TalariaError ? error.code : 'failed';
    return { ok: false, reason, detail: oneLine(errorText(error), 300) };
  }
}

/** Who asked waits no longer, ms. */
const WAITED_MS = 60_000;

/** How long the server may take for one thing, ms. */
const PATIENCE_MS = 5_000;
/** Bytes that are under way to us at most. */
const UNDER_WAY = 4 * 1024 ** 2;
/** Of one topic of one home, as many as a log keeps of a golem. */
const KEPT_PER_SUBJECT = 10_000;
/** Bytes of one clade, and for how long the server keeps them, ms: what is older stands in the logs. */
const KEPT_STREAM_BYTES = 256 * 1024 ** 2;
const KEPT_MS = 7 * 86_400_000;
/** What was seen so long ago may be gone for its age, ms. */
const OLD_MS = KEPT_MS - 86_400_000;
/** For so long the server remembers what it has, ns: what it lost must come again. */
const REPEATS_NS = 1_000_000_000;
/** Messages that come in at once. */
const TAKEN = 256;

type PostParts = Pick<LinkParts, 'url' | 'token' | 'tokenFrom' | 'clade'>;

async function natsPost(parts: PostParts): Promise<Post> {
  // biome-ignore lint/correctness/noUndeclaredDependencies: the bundle has it, and nobody installs it
  const { connect, wsconnect } = await import('@nats-io/transport-node');
  // biome-ignore lint/correctness/noUndeclaredDependencies: as above
  const { jetstreamManager } = await import('@nats-io/jetstream');
  const { url, token } = parts;
  const isWeb = /^wss?:/.test(url);
  const options = {
    ...{ servers: url, name: 'talaria', reconnect: false, ignoreClusterUpdates: true, timeout: PATIENCE_MS },
    ...{ pingInterval: LOOK_MS, maxPingOut: 2 },
    ...(token === undefined ? {} : { token }),
  };
  const isSafe = url.startsWith('tls:');
  const connecting = isWeb ? wsconnect(options) : connect({ ...options, ...(isSafe ? { tls: {} } : {}) });
  const connection = await connecting.catch((error: unknown) => {
    throw connectError(error, parts);
  });
  try {
    return await postOver(connection, await jetstreamManager(connection, { timeout: PATIENCE_MS }), parts);
  } catch (error) {
    await connection.close();
    throw serverError(error, parts);
  }
}

type Manager = Awaited<ReturnType<typeof import('@nats-io/jetstream')['jetstreamManager']>>;

async function postOver(connection: NatsConnection, manager: Manager, parts: PostParts): Promise<Post> {
  const name = `STYX_${parts.clade}`;
  const client = manager.jetstream();
  const lost = connection.closed().then((error) => {
    throw serverError(error ?? new Error('the server closed the connection'), parts);
  });
  lost.catch(() => undefined);
  const told = async <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw serverError(error, parts);
    });
  const limits = { max_bytes: KEPT_STREAM_BYTES, max_age: KEPT_MS * 1_000_000, discard: 'old' } as const;
  const more = { max_msgs_per_subject: KEPT_PER_SUBJECT, duplicate_window: REPEATS_NS, ...limits };
  const make = () => manager.streams.add({ name, subjects: [`styx.${parts.clade}.>`], ...more });
  return {
    most: connection.info?.max_payload ?? 1024 ** 2,
    lost,
    look: () =>
      told(
        manager.streams
          .info(name)
          .catch((error: unknown) => (nameOf(error) === 'StreamNotFoundError' ? make() : Promise.reject(error)))
          // One of before has no end; who set another one meant it.
          .then((info) =>
            info.config.max_age === 0 && info.config.max_bytes === -1 ? manager.streams.update(name, limits) : info,
          )
          .then(({ created, state }) => ({ created, last: state.messages === 0 ? 0 : state.last_seq })),
      ),
    idAt: (seq) => told(manager.streams.getMessage(name, { seq }).then((found) => found?.header.get(ID))),
    send: ({ subject, id, text }) =>
      told(client.publish(subject, text, { msgID: id, timeout: PATIENCE_MS }).then(({ seq }) => seq)),
    receive: (from) => received(client, name, from),
    close: () => connection.close(),
  };
}

const ID = 'Nats-Msg-Id';

async function* received(client: ReturnType<Manager['jetstream']>, name: string, from: number) {
  const ordered = { deliver_policy: 'by_start_sequence', opt_start_seq: from } as const;
  const consumer = await client.consumers.get(name, ordered);
  const messages = await consumer.consume({ max_bytes: UNDER_WAY, abort_on_missing_resource: true });
  let batch: Received[] = [];
  for await (const message of messages) {
    const { seq, subject, headers } = message;
    batch.push({ seq, subject, id: headers?.get(ID) ?? '', text: message.string() });
    // What waits in the client may be no message; what waits in the stream is one.
    if (message.info.pending > 0 && batch.length < TAKEN) continue;
    yield batch;
    batch = [];
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}

function connectError(error: unknown, parts: PostParts): TalariaError {
  const { url, tokenFrom } = parts;
  if (nameOf(error) !== 'ConnectionError') return serverError(error, parts);
  const words = errorText(error);
  const fix = words.includes("'tls'")
    ? 'The server has no TLS: give it a certificate, or link by nats://.'
    : `See that the server runs and can be reached: ${url}. ${AGAIN}`;
  return new TalariaError(`${url}: ${words}${tokenFrom ? '' : ' (no token is set)'}`, {
    ...{ code: 'server-away', cause: error, retryable: true, fix },
  });
}

const FIXES: Readonly<Record<string, (parts: PostParts) => string>> = {
  AuthorizationError: ({ tokenFrom }) =>
    tokenFrom
      ? `${tokenFrom} does not hold the token that the server asks for: mend it in .env of the home.`
      : 'The server asks for a token: talaria styx link URL --token-from NAME.',
  JetStreamNotEnabled: () => 'Start the server with jetstream { store_dir: … } in its configuration.',
  PermissionViolationError: () => 'Let the token publish and subscribe to styx.>, $JS.API.> and _INBOX.>.',
};

function serverError(error: unknown, parts: PostParts): TalariaError {
  const known = FIXES[nameOf(error)];
  const fix = known?.(parts) ?? AGAIN;
  const code = nameOf(error) === 'AuthorizationError' ? 'token-refused' : 'server-failed';
  return new TalariaError(`${parts.url}: ${errorText(error)}`, { code, cause: error, retryable: true, fix });
}
