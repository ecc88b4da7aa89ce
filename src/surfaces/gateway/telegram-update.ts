// Owns what of Telegram's updates we read, and what of them becomes a message. Knows no request. Invariant: what has another shape than we know is as
// if it were not there, and the rest of the update is read.
import { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import { oneLine } from '#base/text.ts';
import type { Incoming } from '#core/agent/channel.ts';

/** Updates that we ask for. */
export const KINDS = ['message', 'edited_message', 'callback_query'];
const [MOST_TEXT_FILE, MOST_SEEN] = [1024 ** 2, 1_000];

const maybe = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined);
const [text, number] = [maybe(z.string()), maybe(z.number())];
const user = z.object({ id: z.number(), is_bot: maybe(z.boolean()), first_name: text, last_name: text });
const chat = z.object({ id: z.number(), type: z.string() });
const file = z.object({ file_id: z.string(), file_size: number, file_name: text, mime_type: text });
const entities = maybe(
  z.array(z.object({ type: z.string(), offset: z.number(), length: z.number(), user: maybe(user) })),
);
const message = z.looseObject({
  ...{ message_id: z.number(), date: z.number(), edit_date: number, chat, from: maybe(user), text, caption: text },
  ...{ entities, caption_entities: entities, photo: maybe(z.array(file)), document: maybe(file) },
  ...{ reply_to_message: maybe(z.object({ from: maybe(user) })), migrate_to_chat_id: number },
});
const press = z.object({ id: z.string(), from: user, data: text, message: z.object({ chat }) });
const update = z.object({
  ...{ update_id: z.number(), message: maybe(message), edited_message: maybe(message), callback_query: maybe(press) },
});
type Message = z.infer<typeof message>;

/** What came with a message and is not read, by the fields of the Bot API. */
const UNREAD: Readonly<Record<string, string>> = {
  ...{ voice: 'voice message', audio: 'piece of music', video: 'video', video_note: 'video message', poll: 'poll' },
  ...{ sticker: 'sticker', animation: 'animation', location: 'location', contact: 'contact', story: 'story' },
};

export class TelegramUpdates {
  readonly #clock: Clock;
  #me = { id: 0, username: '' };
  /** Texts of messages: Telegram calls it an edit, too, when something else of a message changed. */
  readonly #seen = new Map<string, string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Who is written to. */
  readBy(me: unknown): void {
    this.#me = { ...this.#me, ...(me as object) };
  }

  /** The offset that confirms these. */
  after(updates: readonly unknown[]): number | undefined {
    const last = update.safeParse(updates.at(-1));
    return last.success ? last.data.update_id + 1 : undefined;
  }

  read(one: unknown): readonly Incoming[] {
    const { data } = update.safeParse(one);
    const { update_id: id, callback_query: query, edited_message: edited, message: said = edited } = data ?? {};
    if (query) return [{ ...this.#placed(id, query.message.chat, query.from), ...this.#pressOf(query) }];
    if (!said || !this.#isNew(said, edited !== undefined)) return [];
    const placed = this.#placed(id, said.chat, said.from);
    if (said.migrate_to_chat_id !== undefined)
      return [
        { ...placed, kind: 'message', text: '', files: [], isMeant: false, movedTo: String(said.migrate_to_chat_id) },
      ];
    const content = contentOf(said);
    const isEmpty = content.text === '' && content.files.length === 0 && !content.unread;
    if (isEmpty || !said.from || said.from.is_bot) return [];
    const at = (said.edit_date ?? said.date) * 1_000;
    const isMeant = !placed.isGroup || this.#isMeant(said);
    return [{ ...placed, ...content, at, kind: edited ? 'edit' : 'message', isMeant }];
  }

  #placed(id: number | undefined, { id: chatId, type }: z.infer<typeof chat>, from: z.infer<typeof user> | undefined) {
    const name = oneLine(`${from?.first_name ?? ''} ${from?.last_name ?? ''}`, 64);
    const person = String(from?.id ?? '');
    return { id: String(id), chat: String(chatId), person, name, at: this.#clock.now(), isGroup: type !== 'private' };
  }

  #pressOf({ id, data = '' }: z.infer<typeof press>) {
    return { kind: 'press' as const, text: data, files: [], isMeant: true, press: id };
  }

  #isNew({ chat: { id }, message_id: number, text: said, caption = '' }: Message, isEdit: boolean): boolean {
    const [key, now] = [`${id}:${number}`, said ?? caption];
    if (isEdit && (now === '' || this.#seen.get(key) === now)) return false;
    this.#seen.set(key, now);
    for (const [oldest] of this.#seen) if (this.#seen.size > MOST_SEEN) this.#seen.delete(oldest);
    return true;
  }

  #isMeant({ text: said, caption = '', entities: of = [], caption_entities: more = [], ...rest }: Message): boolean {
    const own = `@${this.#me.username}`.toLowerCase();
    const isOwn = (at: number, length: number) =>
      (said ?? caption)
        .slice(at, at + length)
        .toLowerCase()
        .endsWith(own);
    if (rest.reply_to_message?.from?.id === this.#me.id) return true;
    return [...of, ...more].some((one) => one.user?.id === this.#me.id || isOwn(one.offset, one.length));
  }
}

/** Words, the largest of a picture's sizes, a picture or a text that came as a file; what else came is named. */
function contentOf(said: Message): Pick<Incoming, 'text' | 'files' | 'unread'> {
  const words = said.text ?? said.caption ?? '';
  const photo = said.photo?.toSorted((a, b) => (a.file_size ?? 0) - (b.file_size ?? 0)).at(-1);
  const sent = said.animation ? undefined : said.document;
  const isRead = sent?.mime_type?.startsWith('image/') || (sent?.file_size ?? 0) <= MOST_TEXT_FILE;
  const kind = sent && !isRead ? 'document' : Object.keys(said).find((key) => key in UNREAD);
  const files = [photo && { ...photo, mime_type: 'image/jpeg' }, isRead ? sent : undefined].flatMap((one) => {
    if (!one) return [];
    const { file_id: ref, file_size: bytes, file_name: name, mime_type: mediaType } = one;
    return [{ ref, ...(name ? { name } : {}), ...(mediaType ? { mediaType } : {}), ...(bytes ? { bytes } : {}) }];
  });
  const text = said.forward_origin && words ? `[forwarded]\n${words}` : words;
  return { text, files, ...(kind ? { unread: UNREAD[kind] ?? 'large file' } : {}) };
}
