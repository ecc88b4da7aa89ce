// Owns the channel of programs: `POST /hooks/NAME`, signed as Standard Webhooks say (https://www.standardwebhooks.com), answered in the response,
// or by a signed POST to the callback. Knows no seat. Invariants: what is not signed, older than five minutes or of another name reaches nobody;
// an id counts once.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Blobs } from '#base/blobs.ts';
import type { Clock } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { newId } from '#base/ids.ts';
import { parseJson } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Channel, Incoming, IncomingFile, Outgoing, Sent } from '#core/agent/channel.ts';

export interface WebhookSettings {
  /** `whsec_BASE64`, or any text. */
  readonly secret: string;
  readonly callback?: string | undefined;
}

const WINDOW_MS = 300_000;
const POST_MS = 30_000;
const MOST_BYTES = 25 * 1024 ** 2;

const bodySchema = z.object({
  user: z.string().min(1).max(200),
  chat: z.string().min(1).max(200).optional(),
  text: z.string().max(1_000_000),
  /** Data URLs. */
  images: z.array(z.string()).max(20).default([]),
});

interface Waiting {
  readonly said: Incoming;
  readonly kept: () => void;
}

export class WebhookChannel implements Channel {
  readonly name: string;
  readonly canAsk = false;
  readonly fault = undefined;
  readonly #settings: WebhookSettings;
  readonly #clock: Clock;
  readonly #blobs: Blobs;
  readonly #queue: Waiting[] = [];
  /** Who waits for an answer, by the id of what was said; nobody: it was answered, or left. */
  readonly #requests = new Map<
    string,
    { readonly at: number; readonly waiting: Set<(text?: string) => void>; isOver: boolean }
  >();
  #wake = Promise.withResolvers<void>();

  constructor(
    name: string,
    settings: WebhookSettings,
    { clock, blobs }: { readonly clock: Clock; readonly blobs: Blobs },
  ) {
    this.name = `webhook:${name}`;
    this.#settings = settings;
    this.#clock = clock;
    this.#blobs = blobs;
  }

  async fetch(request: Request): Promise<Response> {
    if (request.method !== 'POST') return said(405, 'a message comes by POST');
    const text = await request.text();
    if (text.length > MOST_BYTES) return said(413, 'a message has 25 MB at most');
    const id = request.headers.get('webhook-id') ?? '';
    const fault = this.#signatureFault(request.headers, id, text);
    if (fault !== undefined) return said(401, fault);
    const read = bodySchema.safeParse(known(text));
    if (!read.success)
      return said(400, `the body takes {user, chat?, text, images?}: ${read.error.issues[0]?.path.join('.')}`);
    return this.#taken(id, read.data, request.signal);
  }

  async #taken(id: string, { user, chat = user, text, images }: z.infer<typeof bodySchema>, left: AbortSignal) {
    const now = this.#clock.now();
    for (const [old, one] of this.#requests)
      if (one.waiting.size === 0 && one.at < now - 2 * WINDOW_MS) this.#requests.delete(old);
    const request = this.#requests.get(id) ?? { at: now, waiting: new Set(), isOver: false };
    if (request.isOver) return said(409, 'this id came before');
    const files = images.map(
      (url): IncomingFile => ({ ref: this.#blobs.keep(Buffer.from(url.replace(/^data:[^,]*,/, ''), 'base64')) }),
    );
    const { promise: answered, resolve: answer } = Promise.withResolvers<string | undefined>();
    const kept = Promise.withResolvers<void>();
    if (!this.#settings.callback) this.#requests.set(id, request);
    request.waiting.add(answer);
    const who = { chat, person: user, name: user, isGroup: false, isMeant: true };
    this.#queue.push({ said: { ...who, id, kind: 'message', at: now, text, files }, kept: kept.resolve });
    this.#wake.resolve();
    await kept.promise;
    if (this.#settings.callback) return Response.json({ id }, { status: 202 });
    left.addEventListener('abort', () => answer(undefined), { once: true });
    const words = await answered.finally(() => request.waiting.delete(answer));
    return words === undefined ? said(499, 'nobody waits') : Response.json({ id, chat, text: words });
  }

  #signatureFault(headers: Headers, id: string, body: string): string | undefined {
    const stamp = headers.get('webhook-timestamp') ?? '';
    const given = (headers.get('webhook-signature') ?? '').split(' ').filter((one) => one.startsWith('v1,'));
    if (id === '' || stamp === '' || given.length === 0)
      return 'webhook-id, webhook-timestamp and webhook-signature are needed';
    if (!(Math.abs(this.#clock.now() - Number(stamp) * 1_000) <= WINDOW_MS))
      return 'the timestamp is over five minutes off';
    const own = Buffer.from(this.#sign(id, stamp, body));
    const fits = given.some((one) => one.length === own.length && timingSafeEqual(Buffer.from(one), own));
    return fits ? undefined : 'the signature does not fit';
  }

  #sign(id: string, stamp: string, body: string): string {
    const { secret } = this.#settings;
    const key = secret.startsWith('whsec_')
      ? Buffer.from(secret.slice('whsec_'.length), 'base64')
      : Buffer.from(secret);
    return `v1,${createHmac('sha256', key).update(`${id}.${stamp}.${body}`).digest('base64')}`;
  }

  async *receive(signal: AbortSignal): AsyncGenerator<readonly Incoming[]> {
    signal.addEventListener('abort', () => this.#wake.resolve(), { once: true });
    while (!signal.aborted) {
      const batch = this.#queue.splice(0);
      if (batch.length > 0) yield batch.map((one) => one.said);
      for (const { kept } of batch) kept();
      if (this.#queue.length > 0) continue;
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
    }
  }

  pieces(markdown: string): readonly string[] {
    return [markdown];
  }

  async send({ chat, piece, answers = '' }: Outgoing, signal: AbortSignal): Promise<Sent> {
    const { callback } = this.#settings;
    if (callback) return this.#post(callback, JSON.stringify({ answers, chat, text: piece }), signal);
    const request = this.#requests.get(answers);
    if (!request?.waiting.size) return { state: 'refused', reason: 'nobody waits for it, and there is no callback' };
    request.isOver = true;
    for (const answer of request.waiting) answer(piece);
    return { state: 'sent', id: answers };
  }

  async #post(url: string, body: string, ends: AbortSignal): Promise<Sent> {
    const id = newId('msg');
    const stamp = String(Math.floor(this.#clock.now() / 1_000));
    const headers = { 'content-type': 'application/json', 'webhook-id': id, 'webhook-timestamp': stamp };
    const signed = { ...headers, 'webhook-signature': this.#sign(id, stamp, body) };
    const signal = AbortSignal.any([ends, AbortSignal.timeout(POST_MS)]);
    try {
      const { ok: isTaken, status } = await fetch(url, {
        method: 'POST',
        headers: signed,
        body,
        signal,
        redirect: 'error',
      });
      if (isTaken) return { state: 'sent', id };
      const reason = `${url} answered ${status}`;
      return status === 410 || status === 404 ? { state: 'refused', reason, isGone: true } : { state: 'retry', reason };
    } catch (error) {
      const isLost = !/ECONNREFUSED|ENOTFOUND/.test(`${errorText(error)} ${errorText((error as Error).cause)}`);
      return { state: 'retry', reason: `${url} did not answer`, isLost };
    }
  }

  async bytes({ ref }: IncomingFile): Promise<Result<Uint8Array, 'unreachable'>> {
    const bytes = this.#blobs.read(ref);
    return bytes ? ok(bytes) : refuse('unreachable', 'the picture is not there any more');
  }

  async typing(): Promise<void> {
    return undefined;
  }

  async note(): Promise<undefined> {
    return undefined;
  }

  async pressed(): Promise<void> {
    return undefined;
  }
}

function known(text: string): unknown {
  const read = parseJson(text);
  return read.ok ? read.value : undefined;
}

function said(status: number, message: string): Response {
  return Response.json({ error: { message } }, { status: status === 499 ? 503 : status });
}
