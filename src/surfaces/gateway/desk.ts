// Owns the way of a message: kept, given to its lane, turned into a turn, a command or a code, answered, sent. Knows no platform's form.
// Invariants: nothing happens for a message before its row is on disk; per lane in order; what a start finds half done is gone on with, once;
// a button counts once, for the person whom it was shown.
import { deadline } from '#base/abort.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { findSecrets, redactSecrets } from '#base/secrets.ts';
import { type Approver, type Asker, absentAsker, denyingApprover } from '#core/agent/approver.ts';
import type { Button, Channel, Incoming } from '#core/agent/channel.ts';
import { type Conversation, stopRequest } from '#core/agent/conversation.ts';
import type { App } from '#surfaces/app/app.ts';
import { type ChannelSeat, Lines, laneOf, seatIn } from './lanes.ts';
import type { Mailbox, OpenBefore, Piece, Received } from './mailbox.ts';
import type { People, Seat } from './people.ts';
import { type Answer, GatewayEnds, runMessage, type TurnPlace } from './turn.ts';
import { runWords, wordsOf } from './words.ts';

export interface GatewayMeans {
  readonly app: App;
  readonly mailbox: Mailbox;
  readonly people: People;
  readonly channels: readonly ChannelSeat[];
  readonly guestToolsets: readonly string[];
  readonly sessionIdleMs: number;
}

interface Running {
  readonly row: Received;
  readonly at: number;
  readonly stop: AbortController;
  /** Keys of what was really said into it. */
  readonly steered: Set<number>;
  talk?: Conversation;
}

interface Question {
  readonly text: string;
  readonly labels: readonly string[];
}

interface Asking {
  readonly person: string;
  readonly labels: readonly string[];
  readonly answer: (at: number) => void;
}

const SIDE_BY_SIDE = 8;
const ANSWER_MS = 600_000;
const ELSEWHERE_MS = 5_000;
const LOOK_MS = 2_000;
const MINUTE_MS = 60_000;
const PATIENCE_MS = 5_000;
const DELIVER_MS = 5_000;
const AGAIN_MS = 5_000;

export class Gateway {
  readonly #means: GatewayMeans;
  readonly #lines = new Lines(SIDE_BY_SIDE);
  readonly #running = new Map<string, Running>();
  readonly #asking = new Map<string, Asking>();
  /** Keys of what stands in a line. */
  readonly #inLine = new Set<number>();
  readonly #ends = new AbortController();
  /** Of those who wait for pieces, one a channel. */
  readonly #nudges = new Set<() => void>();

  constructor(means: GatewayMeans) {
    this.#means = means;
  }

  /** Refusal names the process that has a channel. */
  async take(): Promise<Result<true, 'held-elsewhere'>> {
    const { channels, mailbox, people } = this.#means;
    for (const { channel, allow } of channels) {
      const held = await mailbox.hold(channel.name);
      if (!held.ok) return held;
      for (const person of allow) await people.allow(channel.name, person);
    }
    return ok(true);
  }

  /** Until the signal aborts; turns that run then have a moment to end, and go on at the next start otherwise. Throws what `receive` throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { channels, mailbox, app } = this.#means;
    for (const seat of channels) await this.#recover(seat);
    const failed = new AbortController();
    const until = AbortSignal.any([signal, failed.signal]);
    const works = [
      ...channels.map((seat) => () => this.#receive(seat, until)),
      ...channels.map((seat) => () => this.#send(seat.channel, until)),
      ...channels.map((seat) => () => this.#deliver(seat.channel, until)),
      () => this.#endIdle(until),
    ];
    await Promise.all(
      works.map((work) => this.#again(work, until).catch((error: unknown) => until.aborted || failed.abort(error))),
    );
    const cancel = app.clock.after(PATIENCE_MS, () => this.#ends.abort(new GatewayEnds()));
    await this.#lines.drained();
    cancel();
    for (const { channel } of channels) await mailbox.letGo(channel.name);
    if (!signal.aborted) throw failed.signal.reason;
  }

  /** A full disk, or a locked file, is waited for: what came stays unconfirmed meanwhile. What else fails ends the gateway. */
  async #again(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const { app } = this.#means;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (signal.aborted || !isOfDisk(error)) throw error;
        app.background('gateway', Promise.reject(error));
        await app.clock.sleep(AGAIN_MS, signal);
      }
    }
  }

  async #receive(seat: ChannelSeat, signal: AbortSignal): Promise<void> {
    const { mailbox } = this.#means;
    // Also what was kept when its way could not be written.
    for (const row of mailbox.received("channel = ? AND state = 'received'", seat.channel.name))
      await this.#route(seat, row);
    for await (const batch of seat.channel.receive(signal)) {
      await mailbox.faulted(seat.channel.name, seat.channel.fault);
      const rows = await mailbox.keep(
        seat.channel.name,
        batch.map((said) => [withoutSecrets(said), laneOf(this.#means.people, seat, said)]),
      );
      for (const row of rows)
        await this.#route(seat, row, findSecrets(batch.find(({ id }) => id === row.said.id)?.text ?? '').length > 0);
    }
  }

  async #route(seat: ChannelSeat, row: Received, isSecret = false): Promise<void> {
    const { mailbox, people } = this.#means;
    const { said } = row;
    if (said.movedTo !== undefined) return mailbox.moved(row.channel, said.chat, said.movedTo, row.key);
    if (said.kind === 'press') return this.#pressed(seat, row);
    const who = seatIn(people, seat, said);
    if (who === undefined) return mailbox.become(row.key, 'done');
    if (who === 'stranger') return this.#greet(seat, row);
    if (isSecret) return this.#say(seat, row, [SECRET]);
    const running = this.#running.get(row.lane);
    if (wordsOf(said.text)?.[0] === 'stop') return this.#stop(seat, row, running);
    if (running?.talk && isSteer(running, row) && this.#isNext(row)) return this.#steer(running, row);
    this.#put(row);
  }

  /** Nothing waits before it in its lane. */
  #isNext({ lane, key }: Received): boolean {
    const before = this.#means.mailbox.received("lane = ? AND state = 'received' AND key < ?", lane, key);
    return before.every(({ said }) => said.kind === 'press');
  }

  #put({ lane, key }: Received): void {
    this.#inLine.add(key);
    this.#lines.put(lane, () => this.#work(lane, key));
  }

  /** One code for a stranger, and no turn. */
  async #greet(seat: ChannelSeat, row: Received): Promise<void> {
    const { person, name, chat } = row.said;
    const code = await this.#means.people.begin({ channel: row.channel, person, name: name.slice(0, 64), chat });
    if (code === undefined) return this.#means.mailbox.become(row.key, 'done');
    await this.#say(seat, row, [`I do not know you yet. My owner can let you in: talaria gateway pair ${code}`]);
  }

  async #stop(seat: ChannelSeat, row: Received, running: Running | undefined): Promise<void> {
    running?.stop.abort(stopRequest());
    if (running) return this.#means.mailbox.become(row.key, 'done');
    await this.#say(seat, row, ['Nothing runs here.']);
  }

  /** The turn may end while its row is written: then it is a message of its own. */
  async #steer(running: Running, row: Received): Promise<void> {
    await this.#means.mailbox.steers(row.key, running.row.key);
    if (this.#running.get(row.lane) !== running) return this.#unsteer(row);
    running.steered.add(row.key);
    running.talk?.steer(row.said.text);
  }

  async #unsteer(row: Received): Promise<void> {
    await this.#means.mailbox.unsteer(row.key);
    this.#put(row);
  }

  /** What stands in the line of its lane up to this one, the oldest first. Never rejects: what fails is said, or waits for the next start. */
  async #work(lane: string, key: number): Promise<void> {
    const { app, mailbox } = this.#means;
    for (const row of mailbox.received("lane = ? AND key <= ? AND state IN ('received', 'running')", lane, key)) {
      if (!this.#inLine.delete(row.key)) continue;
      const work = this.#again(() => this.#workOnce(row.key), this.#ends.signal);
      await work.catch((error: unknown) => app.background('gateway', Promise.reject(error)));
    }
  }

  async #workOnce(key: number): Promise<void> {
    const { mailbox, people, app, channels } = this.#means;
    const [row] = mailbox.received("key = ? AND state IN ('received', 'running')", key);
    const seat = channels.find(({ channel }) => channel.name === row?.channel);
    if (!row || !seat || this.#ends.signal.aborted) return;
    const who = seatIn(people, seat, row.said);
    // Of somebody who is a guest by now nothing is said in a session of the owner.
    const isMoved = laneOf(people, seat, row.said) !== row.lane;
    if ((who !== 'owner' && who !== 'guest') || isMoved) return mailbox.become(key, 'done');
    try {
      await this.#begin(seat, row, who);
    } catch (error) {
      if (this.#ends.signal.aborted) return;
      if (isOfDisk(error)) throw error;
      app.background('gateway', Promise.reject(error));
      await this.#say(seat, row, [`It failed: ${app.redact(errorText(error))}`], 'failed');
    }
  }

  #begin(seat: ChannelSeat, row: Received, who: Seat): Promise<void> {
    const words = wordsOf(row.said.text);
    if (words) return this.#command(seat, row, words, who);
    const before = this.#means.mailbox.openBefore(row);
    return before ? this.#held(row, before) : this.#turn(seat, row, who);
  }

  /**
   * What was said before a question waits for its answer; what is said after it is one: that turn is left. One that was just told to go on
   * stands in the line, and this one again behind it.
   */
  async #held({ lane, said }: Received, { key, state, since }: OpenBefore): Promise<void> {
    if (state === 'running' || said.at < since) return;
    await this.#means.mailbox.become(key, 'failed');
    this.#goOn(lane);
  }

  #goOn(lane: string): void {
    const open = this.#means.mailbox.received("lane = ? AND state IN ('received', 'running')", lane);
    for (const row of open) if (row.said.kind !== 'press') this.#put(row);
  }

  async #command(seat: ChannelSeat, row: Received, words: readonly string[], who: Seat): Promise<void> {
    // A command may have done its work when the program ended.
    if (row.state === 'running') return this.#say(seat, row, ['It was cut off; send it again if it is still wanted.']);
    const { app, mailbox } = this.#means;
    await mailbox.begin(row, '', 0);
    const lines = await runWords(words, { app, mailbox, row, seat: who, signal: this.#ends.signal });
    await this.#say(seat, row, [lines.join('\n')]);
  }

  async #turn(seat: ChannelSeat, row: Received, who: Seat): Promise<void> {
    const { app, mailbox, guestToolsets } = this.#means;
    const running: Running = { row, at: app.clock.now(), stop: new AbortController(), steered: new Set() };
    this.#running.set(row.lane, running);
    const place: TurnPlace = {
      ...{ app, mailbox, channel: seat.channel, row, seat: who, guestToolsets },
      showsTools: seat.progress === 'tools',
      person: this.#person(seat, row),
      running: (talk) => {
        running.talk = talk;
      },
      signal: AbortSignal.any([running.stop.signal, this.#ends.signal]),
    };
    const answer = await this.#whenFree(place).finally(() => this.#running.delete(row.lane));
    const left = new Set(running.talk?.takeBack() ?? []);
    if (answer.state === 'later') return;
    if (answer.state === 'asked') {
      const buttons = ['Go on', 'Leave it'].map((text, i) => ({ text, data: `g:${row.key}:${i}` }));
      await mailbox.answer(this.#chat(row), seat.channel.pieces(CUT_TWICE), { state: 'asked', buttons });
      return this.#wake();
    }
    await this.#say(seat, row, answer.texts);
    for (const one of mailbox.received("state = 'steering' AND mark = ?", row.key)) {
      if (left.has(one.said.text) || !running.steered.has(one.key)) await this.#unsteer(one);
      else await mailbox.become(one.key, 'done');
    }
  }

  /** The session may be open at a terminal: that is told, and waited for. */
  async #whenFree(place: TurnPlace): Promise<Answer> {
    const { app, mailbox } = this.#means;
    for (let isTold = false; ; isTold = true) {
      const answer = await runMessage(place);
      if (answer.state !== 'later' || answer.why !== 'owned-elsewhere') return answer;
      if (!isTold)
        await mailbox.answer({ ...place.row, chat: place.row.said.chat }, place.channel.pieces(ELSEWHERE), {});
      this.#wake();
      await app.clock.sleep(ELSEWHERE_MS, place.signal).catch(() => undefined);
      if (place.signal.aborted) return { state: 'later', why: 'ending' };
    }
  }

  #person(seat: ChannelSeat, row: Received): { readonly approver: Approver; readonly asker: Asker } {
    if (!seat.channel.canAsk) return { approver: denyingApprover, asker: absentAsker };
    return {
      approver: {
        approve: async ({ preview, reason, key }, signal) => {
          const labels = key === '' ? ['Once', 'No'] : ['Once', 'Session', 'Always', 'No'];
          const text = `May this run?\n\n\`\`\`\n${preview}\n\`\`\`\n${reason}`;
          const at = await this.#ask(seat, row, { text, labels }, signal);
          const decision = ({ Once: 'once', Session: 'session', Always: 'always' } as const)[labels[at ?? -1] ?? ''];
          return decision
            ? { decision }
            : { decision: 'deny', reason: at === undefined ? 'nobody answered in 10 minutes' : 'the owner said no' };
        },
      },
      asker: {
        ask: async ({ question, choices }, signal) => {
          if (choices.length === 0) return refuse('nobody-there', 'Ask it in your answer; the person will write back.');
          const chosen = choices[(await this.#ask(seat, row, { text: question, labels: choices }, signal)) ?? -1];
          return chosen === undefined ? refuse('nobody-there', 'Nobody chose within 10 minutes.') : ok(chosen);
        },
      },
    };
  }

  /** Which button was pressed; undefined: none in time. */
  async #ask(seat: ChannelSeat, row: Received, { text, labels }: Question, signal: AbortSignal) {
    const { app, mailbox } = this.#means;
    const id = randomHex(6);
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    this.#asking.set(id, { person: row.said.person, labels, answer: resolve });
    const late = deadline(app.clock, signal, ANSWER_MS, () => new TalariaError('no answer', { code: 'late' }));
    late.signal.addEventListener('abort', () => resolve(undefined), { once: true });
    const buttons: readonly Button[] = labels.map((label, i) => ({ text: label, data: `a:${id}:${i}` }));
    await mailbox.answer(this.#chat(row), seat.channel.pieces(text), { kind: 'ask', buttons });
    this.#wake();
    const at = await promise.finally(() => this.#asking.delete(id));
    late.clear();
    signal.throwIfAborted();
    return at;
  }

  async #pressed(seat: ChannelSeat, row: Received): Promise<void> {
    const { said } = row;
    const [kind, id = '', at = ''] = said.text.split(':');
    const told =
      kind === 'g' ? await this.#decided(said, Number(id), at === '0') : this.#answered(said, id, Number(at));
    await this.#means.mailbox.become(row.key, 'done');
    await seat.channel.pressed(said.press ?? '', told, this.#ends.signal);
  }

  #answered({ person }: Incoming, id: string, at: number): string {
    const asking = this.#asking.get(id);
    const label = asking?.labels[at];
    if (!asking || label === undefined) return 'This question is over.';
    if (asking.person !== person) return 'This was not asked of you.';
    this.#asking.delete(id);
    asking.answer(at);
    return label;
  }

  async #decided({ person }: Incoming, key: number, goesOn: boolean): Promise<string> {
    const { mailbox } = this.#means;
    const [row] = mailbox.received("key = ? AND state = 'asked'", key);
    if (!row) return 'This question is over.';
    if (row.said.person !== person) return 'This was not asked of you.';
    await mailbox.become(key, goesOn ? 'running' : 'failed', 0);
    this.#goOn(row.lane);
    return goesOn ? 'It goes on.' : 'Left.';
  }

  async #say(
    seat: ChannelSeat,
    row: Received,
    texts: readonly string[],
    state: 'answered' | 'failed' = 'answered',
  ): Promise<void> {
    const pieces = texts.flatMap((text) => seat.channel.pieces(text));
    await this.#means.mailbox.answer(this.#chat(row), pieces, { state });
    this.#wake();
  }

  #chat({ channel, key, said }: Received) {
    return { channel, key, chat: said.chat };
  }

  #wake(): void {
    for (const nudge of this.#nudges) nudge();
  }

  /** Pieces of one chat in their order, chats side by side. */
  async #send(channel: Channel, signal: AbortSignal): Promise<void> {
    const { mailbox, app } = this.#means;
    const sending = new Map<string, Promise<void>>();
    while (!signal.aborted) {
      for (const piece of mailbox.due(channel.name)) {
        if (sending.has(piece.chat)) continue;
        const sent = this.#sendPiece(channel, piece, signal).finally(() => {
          sending.delete(piece.chat);
          this.#wake();
        });
        sending.set(piece.chat, sent);
        app.background('gateway', sent);
      }
      const wait = Math.max(10, (mailbox.nextAt(channel.name) ?? Number.POSITIVE_INFINITY) - app.clock.now());
      const waking = new AbortController();
      const nudge = () => waking.abort();
      this.#nudges.add(nudge);
      const sleep = app.clock.sleep(Math.min(LOOK_MS, wait), AbortSignal.any([signal, waking.signal]));
      await sleep.catch(() => undefined);
      this.#nudges.delete(nudge);
    }
    await Promise.allSettled(sending.values());
  }

  /** What was sent is not sent again because its row cannot be written: that is waited for. */
  async #sendPiece(channel: Channel, piece: Piece, signal: AbortSignal): Promise<void> {
    const { mailbox } = this.#means;
    await this.#again(() => mailbox.sending(piece), signal);
    const sent = await channel.send(piece, this.#ends.signal);
    await this.#again(() => mailbox.sent(piece, sent), signal);
  }

  /** What the last start left. */
  async #recover(seat: ChannelSeat): Promise<void> {
    const { mailbox, app } = this.#means;
    const { name } = seat.channel;
    await mailbox.recover(name);
    for (const row of mailbox.received("channel = ? AND state IN ('running', 'steering')", name)) {
      if (row.state !== 'steering') {
        await this.#route(seat, row);
        continue;
      }
      const [turn] = mailbox.received('key = ?', row.mark);
      const since = turn?.session ? await app.doors.sessions.messages(turn.session) : [];
      const isSaid = since.some(
        ({ id, message }) =>
          id > (turn?.mark ?? 0) &&
          message.parts.some((part) => 'label' in part && part.label === 'steer' && part.text === row.said.text),
      );
      // What was not is given its way with all that was kept, in order.
      await mailbox.become(row.key, isSaid ? 'done' : 'received');
    }
  }

  /** What rooms have for this channel: answers of the schedule. */
  async #deliver(channel: Channel, signal: AbortSignal): Promise<void> {
    const { mailbox, app } = this.#means;
    const head = `${channel.name}:`;
    for (;;) {
      const target = channel.name.startsWith('webhook:') ? channel.name : `${head}*`;
      await app.deliveries(target, (all) => {
        const chatOf = (to: string) => (to === channel.name ? 'schedule' : to.slice(head.length));
        const rows = all.map(({ ref, to, text }) => ({ ref, chat: chatOf(to), pieces: channel.pieces(text) }));
        return mailbox.deliver(channel.name, rows);
      });
      await app.clock.sleep(DELIVER_MS, signal);
    }
  }

  /** The end of a session that nobody speaks in any more is told to learning; the next message goes on in it. */
  async #endIdle(signal: AbortSignal): Promise<void> {
    const { mailbox, app, sessionIdleMs } = this.#means;
    for (;;) {
      for (const resume of await mailbox.idle(sessionIdleMs)) {
        const options = {
          source: 'gateway',
          cwd: app.environment.cwd,
          approver: denyingApprover,
          asker: absentAsker,
          resume,
        };
        const opened = await app.openConversation(options);
        if (opened.ok) await opened.value.close();
      }
      await app.clock.sleep(MINUTE_MS, signal);
    }
  }
}

const SECRET = 'That looks like a secret key: it was neither kept nor read. Keys belong in .env of the home.';
const CUT_TWICE = 'I was cut off twice while I worked on this. Shall I go on?';
const ELSEWHERE = 'This session is open at a terminal just now; I answer when it is closed there.';

function isOfDisk(error: unknown): boolean {
  return /^(?:database|disk)-/.test(errorCode(error) ?? '');
}

/** A key that was typed is on no disk. */
function withoutSecrets(said: Incoming): Incoming {
  return findSecrets(said.text).length === 0 ? said : { ...said, text: redactSecrets(said.text) };
}

function isSteer({ row, at }: Running, { said }: Received): boolean {
  return (
    said.kind === 'message' &&
    said.chat === row.said.chat &&
    said.person === row.said.person &&
    said.at >= at &&
    said.files.length === 0 &&
    !said.text.startsWith('/')
  );
}
