// Owns the reading of what a server gives: one event, ids of people (the protocol's `@name:server`, the opaque `name@server` above this layer),
// steps into foreign JSON, the text of a message, introduction lines. Knows no room and no encryption. Pure; what is none is undefined, never
// a throw. Invariants: an event has an id and a sender of the right form and a time that can be shown; text of somebody else is capped;
// `userIdOf(opaqueId(x)) === x` for every id that `isUserId` takes.
import { isIPv6 } from 'node:net';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { ellipsize, wellFormed } from '#base/text.ts';
import { aboutLine } from '../introductions.ts';
import type { PeerMessage } from '../peer.ts';

export interface RoomEvent {
  readonly id: string;
  readonly type: string;
  /** Empty in a membership alone, of somebody whose id is none: who is in a room counts, whatever its name. */
  readonly sender: string;
  /** Epoch ms as the sender's server says; 0 when it says nothing usable. */
  readonly at: number;
  readonly content: JsonObject;
  /** Present in events of state. */
  readonly stateKey?: string;
  readonly isRedacted: boolean;
}

const LAST_TIME = 8_640_000_000_000_000;

/** An event of a timeline. */
export function readEvent(value: JsonValue | undefined): RoomEvent | undefined {
  if (!isJsonObject(value)) return undefined;
  const id = textAt(value, 'event_id');
  const plain = readStripped(value);
  return plain === undefined || id === undefined || id === '' || id.length > 255 ? undefined : { ...plain, id };
}

/** An event of state; in an invitation it has no id and no time. */
export function readStripped(value: JsonValue | undefined): RoomEvent | undefined {
  if (!isJsonObject(value)) return undefined;
  const { type, sender, content } = value;
  if (typeof type !== 'string' || !isJsonObject(content)) return undefined;
  const stateKey = textAt(value, 'state_key');
  const isMembership = type === 'm.room.member' && stateKey !== undefined;
  if (!isUserId(sender) && !isMembership) return undefined;
  return {
    id: '',
    type,
    sender: isUserId(sender) ? sender : '',
    content,
    at: eventTime(value.origin_server_ts),
    isRedacted: isJsonObject(objectAt(value, 'unsigned').redacted_because),
    ...(stateKey === undefined ? {} : { stateKey }),
  };
}

function eventTime(value: JsonValue | undefined): number {
  return typeof value === 'number' && value > 0 && value <= LAST_TIME ? Math.floor(value) : 0;
}

const MAX_CHARACTERS = 255;
const MAX_PORT = 65_535;
const USER_ID = /^@[^:\s\p{Cc}]+:(?<host>[A-Za-z0-9.-]+|\[[^\s\]]+\])(?::(?<port>\d{1,5}))?$/u;

/**
 * `@name:server`; no blanks and no control characters, whatever a server may say. The server is what the protocol takes for one, and so the
 * encryption, which does nothing for a whole room when one of its members has another: a host name or an address, with or without a port.
 */
export function isUserId(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > MAX_CHARACTERS || !value.isWellFormed()) return false;
  const { host = '', port = '0' } = USER_ID.exec(value)?.groups ?? {};
  if (Number(port) > MAX_PORT) return false;
  return host.startsWith('[') ? isIPv6(host.slice(1, -1)) && !host.includes('%') : host !== '';
}

/** `@carol:localhost:8448` becomes `carol@localhost:8448`. */
export function opaqueId(userId: string): string {
  return userId.slice(1).replace(':', '@');
}

/** The reverse; undefined when `id` is no id of a person. */
export function userIdOf(id: string): string | undefined {
  const at = id.lastIndexOf('@');
  const userId = `@${id.slice(0, Math.max(0, at))}:${id.slice(at + 1)}`;
  return isUserId(userId) && opaqueId(userId) === id ? userId : undefined;
}

/** The part before the server. */
export function nameOf(userId: string): string {
  return userId.slice(1, userId.indexOf(':'));
}

type Somewhere = JsonValue | undefined;

/** The object below `keys`; an empty one when there is none. */
export function objectAt(value: Somewhere, ...keys: readonly string[]): JsonObject {
  let here: Somewhere = value;
  for (const key of keys) here = isJsonObject(here) && Object.hasOwn(here, key) ? here[key] : undefined;
  return isJsonObject(here) ? here : {};
}

export function listAt(value: JsonObject, key: string): readonly JsonValue[] {
  const list = value[key];
  return Array.isArray(list) ? list : [];
}

export function textAt(value: JsonObject, key: string): string | undefined {
  const text = value[key];
  return typeof text === 'string' ? text : undefined;
}

/** Texts of a list; everything else in it is left out. */
export function textsAt(value: JsonObject, key: string): readonly string[] {
  return listAt(value, key).filter((item) => typeof item === 'string');
}

export function objectsAt(value: JsonObject, key: string): readonly JsonObject[] {
  return listAt(value, key).filter(isJsonObject);
}

export interface ReadText {
  readonly state: PeerMessage['state'];
  readonly text: string;
}

export const REMOVED: ReadText = { state: 'removed', text: '(this message was removed)' };
export const UNREADABLE: ReadText = {
  state: 'unreadable',
  text: '(this message is protected with a key that we lack, so it cannot be read)',
};
export const CLEAR: ReadText = {
  state: 'clear',
  text: '(this message came unprotected where protection was promised, so its words are not shown)',
};

const MESSAGE_TEXT_MAX_CHARACTERS = 16_000;
const WORDS: ReadonlySet<string> = new Set(['m.text', 'm.notice', 'm.emote']);
const OTHERS: Readonly<Record<string, string>> = {
  'm.image': 'an image',
  'm.video': 'a video',
  'm.audio': 'a sound',
  'm.file': 'a file',
  'm.location': 'a place',
};

/** Content of an `m.room.message`. Undefined: not the content of any message. */
export function messageText(content: JsonObject): ReadText | undefined {
  const kind = textAt(content, 'msgtype');
  const body = textAt(content, 'body');
  if (kind === undefined || body === undefined) return Object.keys(content).length === 0 ? REMOVED : undefined;
  if (WORDS.has(kind)) return { state: 'text', text: wellFormed(ellipsize(body, MESSAGE_TEXT_MAX_CHARACTERS)) };
  const what = Object.hasOwn(OTHERS, kind) ? OTHERS[kind] : 'something';
  return { state: 'text', text: `(${what} was sent; only text can be read here)` };
}

/** The words of a message in clear; undefined when it is none or has no words. */
export function wordsOf(type: string, content: JsonObject): string | undefined {
  if (type !== 'm.room.message' || !WORDS.has(textAt(content, 'msgtype') ?? '')) return undefined;
  return textAt(content, 'body');
}

export function isIntroductionLine(text: string): boolean {
  return subjectOf(text) !== undefined || text.startsWith('Why: ');
}

/** The line with an opaque id; any other text as it is. */
export function translateLine(text: string): string {
  const subject = subjectOf(text);
  return subject === undefined
    ? text
    : aboutLine(opaqueId(subject), text.slice(aboutLine(subject, '').length - 1).trimStart());
}

/** Who the line is about. The id ends at the last colon before a blank: a server may have a port. */
function subjectOf(text: string): string | undefined {
  const id = /^About (@\S{1,255}):(?=\s|$)/.exec(text)?.[1];
  return isUserId(id) ? id : undefined;
}
