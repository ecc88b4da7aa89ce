// Owns one message's turn: its session is opened, what was said becomes a turn or goes on as the one that was cut off, what runs is shown,
// and its words are gathered. Knows no platform and writes no answer. Invariants: no command runs twice; a guest's turn has a guest's seat.
import { errorText } from '#base/errors.ts';
import { ellipsize, oneLine } from '#base/text.ts';
import { type Approver, type Asker, absentAsker, denyingApprover } from '#core/agent/approver.ts';
import type { Channel, IncomingFile } from '#core/agent/channel.ts';
import type { Conversation } from '#core/agent/conversation.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import { isText, type Message, type TextPart, type UserPart } from '#core/model/message.ts';
import type { App } from '#surfaces/app/app.ts';
import type { Mailbox, Received } from './mailbox.ts';
import type { Seat } from './people.ts';

export interface TurnPlace {
  readonly app: App;
  readonly mailbox: Mailbox;
  readonly channel: Channel;
  readonly row: Received;
  readonly seat: Seat;
  /** Toolsets that a guest has. */
  readonly guestToolsets: readonly string[];
  /** Tell by a line which tools run. */
  readonly showsTools: boolean;
  readonly person: { readonly approver: Approver; readonly asker: Asker };
  /** Hears of the turn that runs, so that it can be steered. */
  readonly running: (talk: Conversation) => void;
  readonly signal: AbortSignal;
}

export type Answer =
  | { readonly state: 'answered'; readonly texts: readonly string[] }
  /** The session is open elsewhere, or the program ends: it is for later. */
  | { readonly state: 'later'; readonly why: 'owned-elsewhere' | 'ending' }
  /** It was cut off a second time. */
  | { readonly state: 'asked' };

const MOST_BEGINS = 2;

export async function runMessage(place: TurnPlace): Promise<Answer> {
  const opened = await openTalk(place);
  if (!opened.ok && opened.reason === 'owned-elsewhere') return { state: 'later', why: 'owned-elsewhere' };
  if (!opened.ok) return { state: 'answered', texts: [opened.detail] };
  const answer = await runIn(place, opened.value).finally(() => opened.value.leave());
  return answer ?? runMessage(place);
}

/** Undefined: the session was mended, and is to be opened anew. */
async function runIn(place: TurnPlace, talk: Conversation): Promise<Answer | undefined> {
  const { app, mailbox, row } = place;
  const { id } = talk.session;
  await mailbox.talksIn(row.lane, id, { channel: row.channel, chat: row.said.chat });
  const past = await app.doors.sessions.messages(id);
  const after = row.state === 'running' && row.session === id ? past.filter((one) => one.id > row.mark) : [];
  const since = turnOf(after, row.said.text);
  const last = since.at(-1);
  if (last?.message.role === 'assistant' && last.message.cut === 'aborted') {
    // What had arrived of an answer when the program ended is asked for again, whole.
    await app.doors.sessions.rewind(id, last.id);
    return undefined;
  }
  const answer = answerIn(since);
  if (answer !== undefined) return { state: 'answered', texts: [answer] };
  if (since.length > 0 && row.attempts >= MOST_BEGINS) return { state: 'asked' };
  await mailbox.begin(row, id, since.length > 0 ? row.mark : (past.at(-1)?.id ?? 0));
  return speak(place, talk, since.length > 0);
}

async function openTalk({ app, mailbox, row, seat, guestToolsets, person }: TurnPlace) {
  const resume = row.state === 'running' && row.session !== null ? row.session : mailbox.sessionOf(row.lane);
  const isGuest = seat === 'guest';
  const start = {
    source: row.channel.replace(/:.*/, ''),
    cwd: app.environment.cwd,
    userId: row.said.person,
    chatId: row.said.chat,
    seat,
    ...(isGuest ? { approver: denyingApprover, asker: absentAsker } : person),
    ...(isGuest ? { toolsets: ['guest', ...guestToolsets] } : {}),
  };
  const opened = await app.openConversation(resume === undefined ? start : { ...start, resume });
  return opened.ok || opened.reason !== 'no-such-session' ? opened : app.openConversation(start);
}

/** What came since, when it ends with an answer. */
function answerIn(since: readonly StoredMessage[]): string | undefined {
  const last = since.at(-1)?.message;
  return last?.role === 'assistant' && !hasCalls(last) ? textOf(last) : undefined;
}

function beginsTurn({ message: { role, parts } }: StoredMessage): boolean {
  return role === 'user' && !parts.some((part) => 'label' in part && part.label === 'steer');
}

/** Of what was said since it began: its own turn, as far as it came. Empty: it was not said yet, or others spoke before it had an answer. */
function turnOf(after: readonly StoredMessage[], text: string): readonly StoredMessage[] {
  const begin = after.findIndex((one) => beginsTurn(one) && says(one, text));
  if (begin < 0) return after.some(beginsTurn) ? [] : after;
  const next = after.findIndex((one, at) => at > begin && beginsTurn(one));
  const own = after.slice(begin, next < 0 ? undefined : next);
  return next < 0 || answerIn(own) !== undefined ? own : [];
}

/** Without words it came with files: whatever began is taken for it. */
function says({ message: { parts } }: StoredMessage, text: string): boolean {
  return text === '' || parts.some((part) => part.type === 'text' && part.text.trim() === text.trim());
}

function hasCalls({ parts }: Message): boolean {
  return (parts as readonly { readonly type: string }[]).some(({ type }) => type === 'tool-call');
}

function textOf({ parts }: Message): string {
  return [...parts].flatMap((part) => (isText(part) ? [part.text] : [])).join('\n');
}

async function speak(place: TurnPlace, talk: Conversation, goesOn: boolean): Promise<Answer> {
  const { row, seat, signal } = place;
  const origin = seat === 'guest' ? ('foreign' as const) : ('owner' as const);
  const extra = goesOn ? [] : await partsOf(place);
  place.running(talk);
  const ended = new AbortController();
  const shown = new Progress(place, AbortSignal.any([signal, ended.signal]));
  try {
    return await collect(
      shown,
      goesOn ? talk.goOn({ signal }) : talk.send(row.said.text, { signal, extra, origin }),
      signal,
    );
  } finally {
    ended.abort();
    await shown.gone();
  }
}

async function collect(shown: Progress, events: AsyncIterable<TurnEvent>, signal: AbortSignal): Promise<Answer> {
  const texts: string[] = [];
  let end: Extract<TurnEvent, { type: 'turn-end' }> | undefined;
  for await (const event of events) {
    if (event.type === 'tool-start') shown.runs(event.name);
    if (event.type === 'turn-end') end = event;
    // An answer that was finished before a line steered the turn is one, too.
    if (event.type === 'message' && event.message.role === 'assistant' && !hasCalls(event.message))
      texts.push(textOf(event.message));
  }
  if (end?.outcome === 'aborted') {
    if (signal.reason instanceof GatewayEnds) return { state: 'later', why: 'ending' };
    return { state: 'answered', texts: ['Stopped.'] };
  }
  const said = texts.filter((text) => text.trim() !== '');
  return { state: 'answered', texts: [...said, ...faultOf(end, said.length > 0)] };
}

/** The reason with which a gateway that ends stops its turns: they go on at its next start. */
export class GatewayEnds extends Error {}

function faultOf(end: Extract<TurnEvent, { type: 'turn-end' }> | undefined, hasSaid: boolean): readonly string[] {
  if (end?.outcome === 'failed' || !end) {
    const { message, fix } = end?.error ?? { message: 'the turn did not end' };
    return [`It failed: ${[message, fix].filter(Boolean).join(' ')}`];
  }
  if (end.outcome === 'stopped') return [`It was stopped: ${end.stopped ?? 'a limit was reached'}.`];
  return hasSaid ? [] : ['(There was no answer.)'];
}

const TYPING_MS = 4_000;
const [NOTE_AFTER_MS, NOTE_EVERY_MS] = [10_000, 3_000];

/** Typing, and after a while one line that names the tools. What of it fails is no fault of the turn. */
class Progress {
  readonly #place: TurnPlace;
  readonly #signal: AbortSignal;
  readonly #tools: string[] = [];
  #note: string | undefined;
  #told = 0;
  readonly #works: Promise<unknown>;

  constructor(place: TurnPlace, signal: AbortSignal) {
    this.#place = place;
    this.#signal = signal;
    const works = [this.#repeat(0, TYPING_MS, () => place.channel.typing(place.row.said.chat, signal))];
    if (place.showsTools) works.push(this.#repeat(NOTE_AFTER_MS, NOTE_EVERY_MS, () => this.#tell()));
    this.#works = Promise.allSettled(works);
  }

  runs(tool: string): void {
    this.#tools.push(tool);
  }

  async gone(): Promise<void> {
    await this.#works;
    const { app, channel, row } = this.#place;
    if (this.#note === undefined) return;
    const limit = AbortSignal.any([this.#place.signal]);
    await channel
      .note(row.said.chat, undefined, this.#note, limit)
      .catch((error) => app.background('note', Promise.reject(error)));
  }

  async #repeat(first: number, every: number, work: () => Promise<unknown>): Promise<void> {
    const { clock } = this.#place.app;
    if (first > 0) await clock.sleep(first, this.#signal);
    for (;;) {
      await work();
      await clock.sleep(every, this.#signal);
    }
  }

  async #tell(): Promise<void> {
    if (this.#tools.length === this.#told && this.#note !== undefined) return;
    this.#told = this.#tools.length;
    const names = this.#tools.slice(-5).join(', ');
    const text = names === '' ? 'Thinking…' : `${this.#tools.length} tools so far: … ${names}`;
    const { channel, row } = this.#place;
    this.#note = await channel.note(row.said.chat, text, this.#note, this.#signal);
  }
}

const MOST_TEXT = 1024 ** 2;

/** What came with the words: pictures, texts, and a line for what is not read. */
async function partsOf({ app, channel, row, signal }: TurnPlace): Promise<readonly UserPart[]> {
  const { files, kind, unread } = row.said;
  const note = (text: string): TextPart => ({ type: 'text', text, origin: 'observed', label: 'notice' });
  const parts: UserPart[] = [];
  if (kind === 'edit') parts.push(note('The person changed an earlier message; this is what it says now.'));
  if (unread) parts.push(note(`A ${unread} came with it, which is not read here; text, pictures and text files are.`));
  for (const file of files) parts.push((await partOf(file)) ?? note(`${nameOf(file)} could not be read.`));
  return parts;

  async function partOf(file: IncomingFile): Promise<UserPart | undefined> {
    const bytes = await channel.bytes(file, signal);
    if (!bytes.ok) return note(`${nameOf(file)}: ${bytes.detail}`);
    const kept = app.keepImage(bytes.value, { ...(file.name ? { name: file.name } : {}), origin: 'foreign' });
    if (kept.ok) return kept.value;
    const text = textIn(bytes.value);
    if (text === undefined) return note(`${nameOf(file)} is neither a picture nor a text under 1 MB.`);
    return { type: 'text', text: `${nameOf(file)}:\n${text}`, origin: 'foreign', label: 'file' };
  }
}

function nameOf({ name = 'a file' }: IncomingFile): string {
  return ellipsize(oneLine(name), 100);
}

function textIn(bytes: Uint8Array): string | undefined {
  if (bytes.length > MOST_TEXT || bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (errorText(error) === '') throw error;
    return undefined;
  }
}
