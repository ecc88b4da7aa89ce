// Owns a Bot API on loopback that refuses what the real one refuses, and the people who write to its bot. Knows no client. Invariants: an update
// comes again until a later offset confirms it; what a person sees is what was sent, its marks read as Telegram reads them; each refusal cites its
// sentence of core.telegram.org/bots/api, or the server (github.com/tdlib/telegram-bot-api) where the page says nothing.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '#base/clock.ts';
import { type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import type { Teardown } from './temp-home.ts';

export interface TelegramWriter {
  readonly person?: number;
  readonly name?: string;
  /** Default: the person's own; a group's is below 0. */
  readonly chat?: number;
  readonly isBot?: boolean;
  /** The message that it answers. */
  readonly replyTo?: number;
  /** More of the message, as the Bot API spells it. */
  readonly fields?: JsonObject;
}

/** `lost`: it is done, and nobody hears of it. `hang`: neither. `reset`: no connection. `html`: a proxy's page. */
export type TelegramFault =
  | 'lost'
  | 'hang'
  | 'reset'
  | 'html'
  | { readonly code: number; readonly retryAfter?: number };

export interface TelegramShown {
  readonly id: number;
  readonly chat: number;
  /** As it is read, without marks. */
  readonly text: string;
  /** By the names of their tags. */
  readonly marks: readonly { readonly type: string; readonly text: string }[];
  /** Labels, a row each. */
  readonly buttons: readonly (readonly string[])[];
  readonly file?: { readonly name: string; readonly text: string };
}

type Marks = TelegramShown['marks'];
type Read = Pick<TelegramShown, 'text' | 'marks'>;
type Button = { readonly text: string; readonly callback_data?: string };
type Sent = TelegramShown & { readonly markup: JsonValue | undefined };
type Open = { readonly tag: string; readonly at: number };

class Refused extends Error {
  readonly answer: JsonObject;
  constructor(code: number, description: string, parameters?: JsonObject) {
    super(description);
    this.answer = { ok: false, error_code: code, description, ...(parameters ? { parameters } : {}) };
  }
}

const bad = (why: string, parameters?: JsonObject) => new Refused(400, `Bad Request: ${why}`, parameters);
const unparsed = (why: string) => bad(`can't parse entities: ${why}`);
const seconds = () => Math.floor(systemClock.now() / 1_000);
const place = (chat: number) => ({ id: chat, type: chat < 0 ? 'supergroup' : 'private' });
const from = ({ person = 1, name = 'Ada', isBot = false }: TelegramWriter) => ({
  ...{ id: person, is_bot: isBot, first_name: name },
});

// "Only the tags mentioned above are currently supported."
const TAGS = 'b strong i em u ins s strike del a code pre blockquote tg-spoiler'.split(' ');
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

/** "All <, > and & symbols that are not a part of a tag or an HTML entity must be replaced with the corresponding HTML entities." */
function readHtml(html: string): Read {
  let text = '';
  const open: Open[] = [];
  const marks: Marks[number][] = [];
  for (const part of html.matchAll(/<(\/?)([^\s<>]*)[^<>]*>|<|[^<]+/g)) {
    const [whole, end = '', tag = ''] = part;
    const where = `at byte offset ${Buffer.byteLength(html.slice(0, part.index))}`;
    if (!whole.startsWith('<')) text += unescaped(whole);
    else if (end === '') open.push({ tag: opened(tag, open, where), at: text.length });
    else marks.push({ type: tag, text: text.slice(closed(tag, open.pop(), where)) });
  }
  const [left] = open;
  if (left) throw unparsed(`Can't find end tag corresponding to start tag "${left.tag}"`);
  return { text, marks };
}

/**
 * "bold, italic, underline, strikethrough, and spoiler entities can contain and can be part of any other entities, except pre and code." "blockquote
 * and expandable_blockquote entities can't be nested." "All other entities can't contain each other." The server drops such marks without a word.
 */
function opened(tag: string, open: readonly Open[], where: string): string {
  if (!TAGS.includes(tag)) throw unparsed(`Unsupported start tag "${tag}" ${where}`);
  const outer = open
    .map((one) => one.tag)
    .filter((one, i, all) => !(tag === 'code' && one === 'pre' && i === all.length - 1));
  const isCode = tag === 'code' || tag === 'pre';
  const isWrong = outer.some((one) => /^(?:code|pre)$/.test(one) || (isCode ? one !== 'blockquote' : one === tag));
  if (isWrong) throw unparsed(`Tag "${tag}" cannot stand within "${outer.join(' ')}" ${where}`);
  return tag;
}

function closed(tag: string, last: Open | undefined, where: string): number {
  if (!last) throw unparsed(`Unexpected end tag ${where}`);
  if (last.tag !== tag) throw unparsed(`Unmatched end tag ${where}, expected "</${last.tag}>", found "</${tag}>"`);
  return last.at;
}

/** "The API currently supports only the following named HTML entities: &lt;, &gt;, &amp; and &quot;." */
function unescaped(text: string): string {
  return text.replace(/&(lt|gt|amp|quot);/g, (_, name) => ENTITIES[name] ?? '');
}

/** "In all other places characters '_', '*', '[', ']', … must be escaped with the preceding character '\'." */
function readMarkdown(markdown: string): Read {
  const [sign] = /[\]()>#+\-=|{}.!]/.exec(markdown.replace(/\\.|\[[^\]]*\]\([^)]*\)/g, '')) ?? [];
  if (sign) throw unparsed(`Character '${sign}' is reserved and must be escaped with the preceding '\\'`);
  return { text: markdown.replace(/\\(.)|[*_~`]/g, '$1'), marks: [] };
}

/** "1-4096 characters after entities parsing", which are UTF-16 code units; blanks at both ends are not shown. */
function readText({ text, parse_mode: mode }: JsonObject): Read {
  const said = String(text ?? '');
  // "All queries must be made using UTF-8."
  if (!said.isWellFormed()) throw bad('strings must be encoded in UTF-8');
  const plain = { text: said.trimStart(), marks: [] };
  const read = mode === 'HTML' ? readHtml(said) : mode === 'MarkdownV2' ? readMarkdown(said) : plain;
  if (/^[\s\p{Cf}\u2800\uFFFC]*$/u.test(read.text)) throw bad('message text is empty');
  if (read.text.trim().length > 4_096) throw bad('message is too long');
  return { ...read, text: read.text.trimEnd() };
}

function buttonsOf(markup: JsonValue | undefined): readonly (readonly Button[])[] {
  const rows = ((markup as JsonObject | undefined)?.inline_keyboard ?? []) as unknown as readonly (readonly Button[])[];
  // "Data to be sent in a callback query to the bot when the button is pressed, 1-64 bytes."
  const isWrong = ({ text, callback_data: data = '' }: Button) => !text || !data || Buffer.byteLength(data) > 64;
  if (rows.flat().some(isWrong)) throw bad('BUTTON_DATA_INVALID');
  return rows;
}

export interface FakeTelegramOptions {
  /** Takes what a webhook is called with; default: nobody answers. */
  readonly reach?: (request: Request) => Promise<Response>;
  readonly context?: Teardown;
}

export async function startFakeTelegram(options: FakeTelegramOptions = {}): Promise<FakeTelegram> {
  const fake = new FakeTelegram(options);
  await fake.listen();
  options.context?.after(() => fake.close());
  return fake;
}

export class FakeTelegram {
  readonly token = '4839574812:AAFD39kkdpWt3ywyRZergyOLMaJhac60qcK';
  readonly me = { id: 4_839_574_812, is_bot: true, first_name: 'Talaria', username: 'talaria_bot' };
  apiRoot = '';
  /** Oldest first, by the names of the Bot API. */
  readonly calls: { readonly method: string; readonly params: JsonObject }[] = [];
  /** What presses of buttons were told. */
  readonly told: string[] = [];
  /** Chats whose person blocked the bot. */
  readonly blocked = new Set<number>();
  commands: JsonValue = [];
  isRevoked = false;
  /** Updates that the bot threw away unread. */
  dropped = 0;
  #updates: JsonObject[] = [];
  #allowed: readonly JsonValue[] = [];
  #webhook: JsonObject = {};
  #isDelivering = false;
  #poll: ((end?: Refused) => void) | undefined;
  #ids = 1_000;
  readonly #faults: { readonly method: string; readonly fault: TelegramFault; left: number }[] = [];
  readonly #chats = new Map<number, { readonly movedTo?: number }>();
  readonly #said = new Map<number, JsonObject>();
  readonly #sent = new Map<number, Sent>();
  readonly #files = new Map<string, { readonly bytes: Uint8Array; readonly size: number }>();
  readonly #queries = new Set<string>();
  readonly #reach: FakeTelegramOptions['reach'];
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch((error) => response.destroy(error));
  });

  constructor({ reach }: FakeTelegramOptions) {
    this.#reach = reach;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.apiRoot = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#webhook = {};
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The next calls of a method, or of any (`*`), come to this. */
  fault(method: string, fault: TelegramFault, times = 1): void {
    this.#faults.push({ method, fault, left: times });
  }

  /** Ids of updates that nobody confirmed yet. */
  get pending(): readonly number[] {
    return this.#updates.map((update) => Number(update.update_id));
  }

  /** What a person sees of the bot in a chat, oldest first. */
  shown(chat?: number): readonly TelegramShown[] {
    return this.#sentTo(chat);
  }

  #sentTo(chat: number | undefined): readonly Sent[] {
    return [...this.#sent.values()].filter((one) => chat === undefined || one.chat === chat);
  }

  // What people do; what they write gives the id of the message.

  say(text: string, by: TelegramWriter = {}): number {
    const found = [...text.matchAll(/@\w+|(?<!\S)\/\w+(?:@\w+)?/g)];
    const entities = found.map(({ 0: { length, 0: sign }, index: offset }) => {
      return { type: sign === '@' ? 'mention' : 'bot_command', offset, length };
    });
    return this.#write({ text, entities }, by);
  }

  edit(id: number, text: string): void {
    this.update({ edited_message: { ...this.#said.get(id), text, edit_date: seconds() } });
  }

  photo(bytes: Uint8Array, caption: string, by: TelegramWriter = {}): number {
    const [small, large] = [this.#file(bytes.slice(0, 8)), this.#file(bytes)];
    const photo = [
      { ...small, width: 90, height: 90 },
      { ...large, width: 1_280, height: 1_280 },
    ];
    return this.#write({ photo, caption }, by);
  }

  /** `size`: what Telegram says of it. */
  document(name: string, bytes: Uint8Array, { mediaType = 'text/plain', size = bytes.length } = {}): number {
    return this.#write({ document: { ...this.#file(bytes, size), file_name: name, mime_type: mediaType } }, {});
  }

  voice(by: TelegramWriter = {}): number {
    return this.#write({ voice: { ...this.#file(new Uint8Array(9)), duration: 2 } }, by);
  }

  /** Presses the newest button with this label, of a chat when it is named. */
  press(label: string, by: TelegramWriter = {}): void {
    const all = this.#sentTo(by.chat).flatMap((sent) =>
      buttonsOf(sent.markup)
        .flat()
        .map((one) => ({ sent, one })),
    );
    const found = all.findLast(({ one }) => one.text === label);
    if (!found) throw new Error(`no button ${label} is shown`);
    const id = `Q${this.#id()}`;
    this.#queries.add(id);
    const message = { message_id: found.sent.id, chat: place(found.sent.chat), date: seconds() };
    this.update({ callback_query: { id, from: from(by), message, data: found.one.callback_data ?? '' } });
  }

  /** A group becomes a supergroup with another id. */
  migrate(chat: number, movedTo: number): void {
    this.#write({ migrate_to_chat_id: movedTo }, { chat });
    this.#chats.set(chat, { movedTo }).set(movedTo, {});
  }

  /** Any update, also one of a kind that nobody knows. */
  update(body: JsonObject): void {
    // "List the types of updates you want your bot to receive." "This parameter doesn't affect updates created before the call."
    if (this.#allowed.length > 0 && !Object.keys(body).some((kind) => this.#allowed.includes(kind))) return;
    this.#updates.push({ update_id: this.#id(), ...body });
    this.#poll?.();
    void this.#deliver();
  }

  #write(content: JsonObject, by: TelegramWriter): number {
    const { chat = by.person ?? 1, fields = {}, replyTo = 0 } = by;
    const id = this.#id();
    this.#chats.set(chat, this.#chats.get(chat) ?? {});
    const answered = this.#sent.has(replyTo) ? { message_id: replyTo, from: this.me } : this.#said.get(replyTo);
    const reply = answered ? { reply_to_message: answered } : {};
    const message = {
      message_id: id,
      date: seconds(),
      chat: place(chat),
      from: from(by),
      ...reply,
      ...content,
      ...fields,
    };
    this.#said.set(id, message);
    this.update({ message });
    return id;
  }

  #file(bytes: Uint8Array, size = bytes.length): JsonObject {
    const id = `F${this.#id()}`;
    this.#files.set(id, { bytes, size });
    return { file_id: id, file_unique_id: id, file_size: size };
  }

  #id(): number {
    this.#ids += 1;
    return this.#ids;
  }

  /** "In case of an unsuccessful request […], we will repeat the request and give up after a reasonable amount of attempts." */
  async #deliver(): Promise<void> {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    for (let tries = 0; this.#webhook.url && this.#updates[0] && tries < 100; tries += 1) {
      // "The request will contain a header 'X-Telegram-Bot-Api-Secret-Token' with the secret token as content."
      const headers = { 'x-telegram-bot-api-secret-token': String(this.#webhook.secret_token ?? '') };
      const call = { method: 'POST', headers, body: JSON.stringify(this.#updates[0]) };
      const response = await this.#reach?.(new Request(String(this.#webhook.url), call));
      if (response?.ok) this.#updates.shift();
      else await systemClock.sleep(20);
    }
    this.#isDelivering = false;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, isFile, token, rest = ''] = /^\/(file\/)?bot([^/]+)\/([^?]+)/.exec(request.url ?? '') ?? [];
    const params = await paramsOf(request);
    if (isFile) return void response.end(this.#isOwn(token) ? this.#files.get(rest)?.bytes : '');
    this.calls.push({ method: rest, params });
    const fault = this.#nextFault(rest);
    if (fault === 'hang') return;
    if (fault === 'html') return void response.writeHead(502).end('<html><h1>502 Bad Gateway</h1></html>');
    if (fault === 'reset') return void response.destroy();
    const answer = await this.#called(rest, this.#isOwn(token) ? params : undefined, response, fault);
    if (fault === 'lost') response.destroy();
    else response.writeHead(Number(answer.error_code ?? 200)).end(JSON.stringify(answer));
  }

  #isOwn(token: string | undefined): boolean {
    return token === this.token && !this.isRevoked;
  }

  #nextFault(called: string): TelegramFault | undefined {
    const next = this.#faults.find(({ method, left }) => left > 0 && (method === '*' || method === called));
    if (next) next.left -= 1;
    return next?.fault;
  }

  async #called(method: string, params: JsonObject | undefined, response: ServerResponse, fault?: TelegramFault) {
    try {
      if (!params) throw new Refused(401, 'Unauthorized');
      // "In case of exceeding flood control, the number of seconds left to wait before the request can be repeated."
      if (typeof fault === 'object')
        throw new Refused(fault.code, 'injected', fault.retryAfter ? { retry_after: fault.retryAfter } : undefined);
      const result = await this.#methods[method]?.(params, response);
      if (result === undefined) throw new Refused(404, 'Not Found');
      return { ok: true, result } as JsonObject;
    } catch (error) {
      if (error instanceof Refused) return error.answer;
      throw error;
    }
  }

  readonly #methods: Readonly<Record<string, (params: JsonObject, response: ServerResponse) => unknown>> = {
    getMe: () => this.me,
    getUpdates: (params, response) => this.#getUpdates(params, response),
    setWebhook: (params) => {
      // "HTTPS URL to send updates to." "1-256 characters. Only characters A-Z, a-z, 0-9, _ and - are allowed."
      if (!String(params.url).startsWith('https:')) throw bad('bad webhook: An HTTPS URL must be provided for webhook');
      if (!/^[\w-]{0,256}$/.test(String(params.secret_token ?? '')))
        throw bad('secret token contains unallowed characters');
      return this.#hooked(params, params);
    },
    deleteWebhook: (params) => this.#hooked({}, params),
    sendMessage: (params) => this.#show(params, readText(params)),
    sendDocument: (params) => this.#show(params, { text: String(params.caption ?? ''), marks: [] }),
    editMessageText: (params) => this.#edit(params, readText(params)),
    deleteMessage: ({ message_id: id }) => this.#is(this.#sent.delete(Number(id)), 'message to delete not found'),
    sendChatAction: (params) => this.#is(this.#chat(params) !== 0, ''),
    answerCallbackQuery: ({ callback_query_id: id, text = '' }) => {
      // "Text of the notification. If not specified, nothing will be shown to the user, 0-200 characters."
      this.#is(String(text).length <= 200, 'MESSAGE_TOO_LONG');
      this.told.push(String(text));
      return this.#is(this.#queries.delete(String(id)), 'query is too old or query ID is invalid');
    },
    setMyCommands: ({ commands = [] }) => {
      // "1-32 characters. Can contain only lowercase English letters, digits and underscores." "Description of the command; 1-256 characters."
      const all = commands as unknown as readonly { readonly command: string; readonly description: string }[];
      this.commands = commands;
      const isRight = all.every((one) => /^[a-z0-9_]{1,32}$/.test(one.command) && /^.{1,256}$/.test(one.description));
      return this.#is(isRight, 'BOT_COMMAND_INVALID');
    },
    getFile: ({ file_id: id }) => {
      const size = this.#files.get(String(id))?.size;
      // "For the moment, bots can download files of up to 20MB in size."
      this.#is(size !== undefined && size <= 20 * 1024 ** 2, size ? 'file is too big' : 'invalid file_id');
      return { file_id: id, file_unique_id: id, file_size: size, file_path: id };
    },
  };

  #is(holds: boolean, why: string): true {
    if (!holds) throw bad(why);
    return true;
  }

  #hooked(webhook: JsonObject, params: JsonObject): true {
    this.#webhook = webhook;
    this.#allows(params);
    // "Pass True to drop all pending updates."
    if (params.drop_pending_updates) this.dropped += this.#updates.splice(0).length;
    void this.#deliver();
    return true;
  }

  #allows({ allowed_updates: allowed }: JsonObject): void {
    // "If not specified, the previous setting will be used."
    if (Array.isArray(allowed)) this.#allowed = allowed;
  }

  async #getUpdates(params: JsonObject, response: ServerResponse): Promise<readonly JsonObject[]> {
    // "This method will not work if an outgoing webhook is set up."
    if (this.#webhook.url) throw new Refused(409, "Conflict: can't use getUpdates method while webhook is active");
    // The server ends the older of two (`Client::abort_long_poll`).
    this.#poll?.(new Refused(409, 'Conflict: terminated by other getUpdates request'));
    const offset = Number(params.offset ?? 0);
    // "An update is considered confirmed as soon as getUpdates is called with an offset higher than its update_id."
    this.#updates = this.#updates.filter(({ update_id: id }) => Number(id) >= offset);
    // "The negative offset can be specified […]. All previous updates will be forgotten."
    if (offset < 0) this.dropped += this.#updates.splice(0, Math.max(0, this.#updates.length + offset)).length;
    this.#allows(params);
    if (this.#updates.length === 0) await this.#nextUpdate(Number(params.timeout ?? 0), response);
    // "Values between 1-100 are accepted. Defaults to 100."
    return this.#updates.slice(0, Math.min(100, Number(params.limit ?? 100)));
  }

  #nextUpdate(timeout: number, response: ServerResponse): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const end = (refused?: Refused) => (refused ? reject(refused) : resolve());
    const cancel = systemClock.after(timeout * 1_000, end);
    response.once('close', () => end());
    this.#poll = end;
    return promise.finally(() => {
      cancel();
      if (this.#poll === end) this.#poll = undefined;
    });
  }

  #chat({ chat_id: id }: JsonObject): number {
    const chat = this.#chats.get(Number(id));
    if (!chat) throw bad('chat not found');
    // "The group has been migrated to a supergroup with the specified identifier."
    if (chat.movedTo) throw bad('group chat was upgraded to a supergroup chat', { migrate_to_chat_id: chat.movedTo });
    if (this.blocked.has(Number(id))) throw new Refused(403, 'Forbidden: bot was blocked by the user');
    return Number(id);
  }

  #show(params: JsonObject, read: Read): JsonObject {
    const chat = this.#chat(params);
    const buttons = buttonsOf(params.reply_markup).map((row) => row.map(({ text }) => text));
    const file = params.document ? { file: params.document as unknown as { name: string; text: string } } : {};
    const id = this.#id();
    this.#sent.set(id, { id, chat, ...read, buttons, ...file, markup: params.reply_markup });
    return { message_id: id, date: seconds(), chat: place(chat), from: this.me, text: read.text };
  }

  #edit(params: JsonObject, { text, marks }: Read): JsonObject {
    const before = this.#sent.get(Number(params.message_id));
    if (!before || before.chat !== this.#chat(params)) throw bad('message to edit not found');
    // The server: "specified new message content and reply markup are exactly the same as a current content and reply markup".
    this.#is(text !== before.text || params.reply_markup !== before.markup, 'message is not modified');
    this.#sent.set(before.id, { ...before, text, marks, markup: params.reply_markup });
    return { message_id: before.id, date: seconds(), chat: place(before.chat), from: this.me, text };
  }
}

/** JSON, or the parts of a form; a file is its name and text. */
async function paramsOf(request: IncomingMessage): Promise<JsonObject> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  const text = Buffer.concat(chunks).toString('utf8');
  const read = parseJsonObject(text === '' ? '{}' : text);
  if (read.ok) return read.value;
  const parts = text.matchAll(/name="(.+?)"(?:;filename=(\S+))?(?:\r\n\S+)*?\r\n\r\n([\s\S]*?)\r\n--/g);
  const fields = [...parts].map(([, name = '', file, value = '']) => ({
    name,
    value: file ? { name: file, text: value } : value,
  }));
  const attached = (value: JsonValue) => fields.find(({ name }) => `attach://${name}` === value)?.value ?? value;
  return Object.fromEntries(fields.map(({ name, value }) => [name, attached(value)]));
}
