// Owns Telegram as a Channel: its Bot API through grammY, polled or called by a webhook. Knows no seat, no session and no row. Invariants: an update
// is confirmed only when its reader came back; nothing that waits at Telegram is dropped; the token is in no error, fault or reason; an answer that
// did not come is told as one that may have arrived.
import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { deadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { errorCode, rootCause, TalariaError } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { parseJson } from '#base/json.ts';
import { ok, refuse } from '#base/result.ts';
import { sliceText } from '#base/text.ts';
import type { Button, Channel, Incoming, IncomingFile, Outgoing, Sent } from '#core/agent/channel.ts';
import { fileIn, piecesOf, plainOf } from './telegram-text.ts';
import { KINDS, TelegramUpdates } from './telegram-update.ts';
import { WORDS } from './words.ts';

export interface TelegramOptions {
  readonly token: string;
  readonly clock: Clock;
  readonly apiRoot?: string;
  /** Telegram calls this address, and whoever serves it gives the request to `called`; without it we ask. */
  readonly webhook?: { readonly url: string; readonly secret: string };
  /** Seconds for which a poll waits. */
  readonly pollSeconds?: number;
  /** How long an answer may take. */
  readonly answerMs?: number;
}

const [MOST_FILE, LONGEST_WAIT_MS] = [20 * 1024 ** 2, 60_000];
/** Nothing of a request with these had left us. */
const UNSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH']);

const refusal = z.object({
  ...{ error_code: z.number(), description: z.string() },
  parameters: z.object({ retry_after: z.number().optional(), migrate_to_chat_id: z.number().optional() }).optional(),
});

/** `code`: of HTTP; none: no answer came that is Telegram's. */
interface Failure {
  readonly code?: number;
  readonly reason: string;
  readonly afterMs?: number | undefined;
  readonly movedTo?: number | undefined;
  readonly isLost?: boolean;
}
type Called = { readonly ok: true; readonly value: unknown } | ({ readonly ok: false } & Failure);
type Raw = Readonly<Record<string, (...values: readonly unknown[]) => Promise<unknown>>>;
interface Means {
  readonly raw: Raw;
  readonly upload: (name: string, text: string) => unknown;
  readonly lexer: Parameters<typeof piecesOf>[1];
}

export async function openTelegram({ apiRoot = 'https://api.telegram.org', ...options }: TelegramOptions) {
  // biome-ignore lint/correctness/noUndeclaredDependencies: the bundle has it, and nobody installs it
  const [{ Api, InputFile }, { lexer }] = await Promise.all([import('grammy/web'), import('marked')]);
  const root = apiRoot.replace(/\/+$/, '');
  const upload = (name: string, content: string) => new InputFile(Buffer.from(content), name);
  const raw = new Api(options.token, { apiRoot: root }).raw as unknown as Raw;
  return new TelegramChannel({ ...options, apiRoot: root }, { raw, upload, lexer });
}

class TelegramChannel implements Channel {
  readonly name = 'telegram';
  readonly canAsk = true;
  fault: string | undefined;
  readonly #options: TelegramOptions;
  readonly #means: Means;
  readonly #updates: TelegramUpdates;
  #offset: number | undefined;
  /** What Telegram called with, and who waits for its end. */
  readonly #queue: { readonly body: unknown; readonly kept: (isKept: boolean) => void }[] = [];
  #wake = Promise.withResolvers<void>();
  #isRead = false;
  #waitMs = 500;

  constructor(options: TelegramOptions, means: Means) {
    this.#options = options;
    this.#means = means;
    this.#updates = new TelegramUpdates(options.clock);
  }

  async *receive(signal: AbortSignal): AsyncGenerator<readonly Incoming[]> {
    signal.addEventListener('abort', () => this.#wake.resolve(), { once: true });
    try {
      while (!signal.aborted) {
        const told = this.fault;
        const updates = await this.#take(signal);
        const batch = updates.flatMap((one) => this.#updates.read(one));
        // An empty one tells that the fault is another.
        if (batch.length > 0 || this.fault !== told) yield batch;
        this.#confirm(updates);
        if (this.fault !== undefined) await this.#options.clock.sleep(this.#waitMs, signal).catch(() => undefined);
      }
    } finally {
      this.#isRead = false;
      for (const { kept } of this.#queue.splice(0)) kept(false);
    }
  }

  /** What is there; nothing with a fault. */
  async #take(signal: AbortSignal): Promise<readonly unknown[]> {
    const got = this.#isRead ? await this.#next(signal) : await this.#begin(signal);
    if (signal.aborted && !got.ok) return [];
    this.fault = got.ok ? undefined : this.#faultOf(got);
    if (got.ok) this.#waitMs = 500;
    else this.#waitMs = got.afterMs ?? Math.min(LONGEST_WAIT_MS, 2 * this.#waitMs);
    return got.ok && Array.isArray(got.value) ? got.value : [];
  }

  /** Who we are, how updates come, what can be typed. */
  async #begin(signal: AbortSignal): Promise<Called> {
    const { webhook } = this.#options;
    const me = await this.#ask('getMe', {}, signal);
    if (!me.ok) return me;
    this.#updates.readBy(me.value);
    const hook = { url: webhook?.url, secret_token: webhook?.secret, allowed_updates: KINDS };
    const way = await (webhook ? this.#ask('setWebhook', hook, signal) : this.#ask('deleteWebhook', {}, signal));
    if (!way.ok) return way;
    const commands = Object.entries(WORDS).map(([command, description]) => ({ command, description }));
    const menu = await this.#ask('setMyCommands', { commands }, signal);
    this.#isRead = menu.ok;
    return menu;
  }

  async #next(signal: AbortSignal): Promise<Called> {
    const { webhook, pollSeconds = 50, answerMs = 20_000 } = this.#options;
    if (!webhook) {
      const asked = { offset: this.#offset, timeout: pollSeconds, allowed_updates: KINDS };
      return this.#ask('getUpdates', asked, signal, pollSeconds * 1_000 + answerMs);
    }
    if (this.#queue.length === 0) await this.#wake.promise;
    this.#wake = Promise.withResolvers();
    return ok(this.#queue.map(({ body }) => body));
  }

  /** The reader has come back: it keeps them. */
  #confirm(updates: readonly unknown[]): void {
    for (const { kept } of this.#queue.splice(0, updates.length)) kept(true);
    // Behind an empty list nothing is left to confirm, and ids may begin anew after a quiet week.
    this.#offset = this.#updates.after(updates);
  }

  /** What Telegram calls: answered when the update is kept, so that it comes again otherwise. */
  readonly called = async (request: Request): Promise<Response> => {
    const answer = (status: number) => new Response(null, { status });
    const given = sha256(request.headers.get('x-telegram-bot-api-secret-token') ?? '');
    const { secret = '' } = this.#options.webhook ?? {};
    if (!timingSafeEqual(Buffer.from(given), Buffer.from(sha256(secret))) || secret === '') return answer(401);
    const body = parseJson(await request.text());
    if (!body.ok) return answer(400);
    if (!this.#isRead) return answer(503);
    const { promise, resolve: kept } = Promise.withResolvers<boolean>();
    this.#queue.push({ body: body.value, kept });
    this.#wake.resolve();
    return answer((await promise) ? 200 : 503);
  };

  #faultOf({ code, reason }: Failure): string {
    // A token of another form is no address at Telegram.
    if (code === 401 || (code === 404 && !this.#isRead))
      throw new TalariaError(`Telegram does not take the token (${reason})`, {
        code: 'telegram-token',
        fix: 'Put the token that @BotFather gives into TELEGRAM_BOT_TOKEN of .env.',
      });
    return code === 409 ? `another program reads this bot's messages (${reason})` : reason;
  }

  async #ask(
    method: string,
    given: object,
    signal: AbortSignal,
    ms = this.#options.answerMs ?? 20_000,
  ): Promise<Called> {
    const limit = deadline(this.#options.clock, signal, ms, () => new Error('no answer in time'));
    try {
      return ok(await this.#means.raw[method]?.(...(method === 'getMe' ? [] : [given]), limit.signal));
    } catch (error) {
      return { ok: false, ...this.#failureOf(error, method) };
    } finally {
      limit.clear();
    }
  }

  #failureOf(error: unknown, method: string): Failure {
    const read = refusal.safeParse(error);
    if (!read.success) {
      // Its text names the address, and that the token.
      const code = errorCode(rootCause((error as { readonly error?: unknown }).error));
      return { reason: `Telegram does not answer (${code ?? method})`, isLost: !UNSENT.has(code ?? '') };
    }
    const {
      error_code: code,
      description,
      parameters: { retry_after: wait, migrate_to_chat_id: movedTo } = {},
    } = read.data;
    const reason = `${code}: ${description.replaceAll(this.#options.token, '***')}`;
    return { code, reason, afterMs: wait === undefined ? undefined : wait * 1_000, movedTo };
  }

  async #tell(method: string, to: string, given: object, signal: AbortSignal): Promise<Called> {
    const told = await this.#ask(method, { chat_id: to, ...given }, signal);
    if (told.ok || told.movedTo === undefined) return told;
    return this.#ask(method, { chat_id: told.movedTo, ...given }, signal);
  }

  pieces(markdown: string): readonly string[] {
    return piecesOf(markdown, this.#means.lexer);
  }

  async send({ chat: to, piece, buttons = [] }: Outgoing, signal: AbortSignal): Promise<Sent> {
    const content = fileIn(piece);
    const more = { link_preview_options: { is_disabled: true }, ...(buttons.length > 0 ? keyboard(buttons) : {}) };
    const marked = { text: piece, parse_mode: 'HTML', ...more };
    let sent = content
      ? await this.#tell('sendDocument', to, { document: this.#means.upload(content.name, content.text) }, signal)
      : await this.#tell('sendMessage', to, marked, signal);
    if (!sent.ok && sent.code === 400 && !content)
      sent = await this.#tell('sendMessage', to, { text: plainOf(piece), ...more }, signal);
    if (sent.ok) return { state: 'sent', id: idIn(sent.value) };
    const { code = 0, reason, afterMs, isLost = false } = sent;
    if (code === 403 || code === 404) return { state: 'refused', reason, isGone: true };
    if (code >= 400 && code < 500 && ![401, 409, 429].includes(code)) return { state: 'refused', reason };
    return { state: 'retry', reason, isLost, ...(afterMs === undefined ? {} : { afterMs }) };
  }

  async bytes({ ref, bytes = 0 }: IncomingFile, signal: AbortSignal) {
    const { apiRoot, token, clock, answerMs = 60_000 } = this.#options;
    const isTooLarge = refuse('too-large', 'Telegram gives files of 20 MB at most.');
    if (bytes > MOST_FILE) return isTooLarge;
    const got = await this.#ask('getFile', { file_id: ref }, signal);
    const { file_path: path } = (got.ok ? got.value : {}) as { readonly file_path?: string };
    const limit = deadline(clock, signal, answerMs, () => new Error('no answer in time'));
    try {
      if (!got.ok || !path)
        return refuse('unreachable', `Telegram did not give it (${got.ok ? 'no path' : got.reason}).`);
      const response = await fetch(`${apiRoot}/file/bot${token}/${path}`, { signal: limit.signal });
      const content = new Uint8Array(response.ok ? await response.arrayBuffer() : []);
      if (content.length > MOST_FILE) return isTooLarge;
      return response.ok ? ok(content) : refuse('unreachable', `Telegram did not give it (${response.status}).`);
    } catch (error) {
      return refuse('unreachable', `Telegram did not give it (${errorCode(error) ?? 'no answer'}).`);
    } finally {
      limit.clear();
    }
  }

  async typing(to: string, signal: AbortSignal): Promise<void> {
    await this.#tell('sendChatAction', to, { action: 'typing' }, signal);
  }

  async note(to: string, said: string | undefined, before: string | undefined, signal: AbortSignal) {
    const old = { message_id: Number(before) };
    if (said !== undefined && before === undefined) {
      const sent = await this.#tell('sendMessage', to, { text: said, disable_notification: true }, signal);
      return sent.ok ? idIn(sent.value) : undefined;
    }
    if (said !== undefined) await this.#tell('editMessageText', to, { ...old, text: said }, signal);
    else if (before !== undefined) await this.#tell('deleteMessage', to, old, signal);
    return said === undefined ? undefined : before;
  }

  async pressed(id: string, said: string, signal: AbortSignal): Promise<void> {
    await this.#ask('answerCallbackQuery', { callback_query_id: id, text: sliceText(said, 200) }, signal);
  }
}

function idIn(sent: unknown): string {
  return String((sent as { readonly message_id?: number } | undefined)?.message_id ?? '');
}

/** Short labels side by side, else a row each. */
function keyboard(buttons: readonly Button[]) {
  const row = buttons.map(({ text: label, data }) => ({ text: label, callback_data: data }));
  const isShort = row.map((one) => one.text).join('').length <= 32;
  return { reply_markup: { inline_keyboard: isShort ? [row] : row.map((one) => [one]) } };
}
