// Owns what an agent reads of one message event in clear: its text, or one of our own short sentences. Knows no encryption and no peer.
// Pure. Invariant: text of somebody else is capped, and an event that is no message gives nothing.
import type { JsonObject } from '#base/json.ts';
import { ellipsize, wellFormed } from '#base/text.ts';
import type { PeerMessage } from '../../peers/peer.ts';
import { textAt } from './json-access.ts';

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

const MAX_CHARACTERS = 16_000;
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
  if (WORDS.has(kind)) return { state: 'text', text: wellFormed(ellipsize(body, MAX_CHARACTERS)) };
  const what = Object.hasOwn(OTHERS, kind) ? OTHERS[kind] : 'something';
  return { state: 'text', text: `(${what} was sent; only text can be read here)` };
}

/** The words of a message in clear; undefined when it is none or has no words. */
export function wordsOf(type: string, content: JsonObject): string | undefined {
  if (type !== 'm.room.message' || !WORDS.has(textAt(content, 'msgtype') ?? '')) return undefined;
  return textAt(content, 'body');
}
