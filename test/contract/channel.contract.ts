/** What every place keeps in which people write and are answered. */
import assert from 'node:assert/strict';
import type { Channel, Incoming } from '#core/agent/channel.ts';
import { verifies } from '../verifies.ts';

export interface ChannelHarness {
  readonly channel: Channel;
  /** The person 1 writes in the chat 1. */
  say(text: string): void;
  /** The same one sends a file. */
  sendFile(bytes: Uint8Array): void;
  /** The same one presses the button that was shown last. */
  press(label: string): void;
  /** What he sees, and what his presses were told. */
  shown(): readonly { readonly text: string; readonly buttons: readonly string[] }[];
  told(): readonly string[];
  /** Whether the platform has forgotten what it gave. */
  isConfirmed(): boolean;
  readonly close?: () => Promise<void>;
}

const signal = new AbortController().signal;

/** Reads until `count` came; `keeps`: comes back to the channel afterwards. */
export async function take(harness: ChannelHarness, count: number, keeps: boolean): Promise<readonly Incoming[]> {
  const ends = new AbortController();
  const batches = harness.channel.receive(ends.signal)[Symbol.asyncIterator]();
  const all: Incoming[] = [];
  while (all.length < count) all.push(...((await batches.next()).value ?? []));
  if (keeps) {
    const rest = batches.next();
    while (!harness.isConfirmed()) await new Promise((resolve) => setTimeout(resolve, 2));
    ends.abort();
    assert.equal((await rest).done, true, 'it ends with the signal');
  } else await batches.return?.();
  return all;
}

export function channelContract(name: string, make: () => Promise<ChannelHarness>): void {
  const keeps = (what: string, use: (harness: ChannelHarness) => Promise<void>) =>
    verifies(['R5.100'], `channel contract: ${name}: ${what}`, async (t) => {
      const harness = await make();
      t.after(() => harness.close?.());
      await use(harness);
    });

  keeps('gives what came in order, again until it was kept, and then no more', async (harness) => {
    for (const text of ['one', 'two', 'three']) harness.say(text);
    const texts = async (count: number, isKept: boolean) =>
      (await take(harness, count, isKept)).map(({ text, chat, person, isMeant }) => [text, chat, person, isMeant]);
    const all = ['one', 'two', 'three'].map((text) => [text, '1', '1', true]);
    assert.deepEqual(await texts(3, false), all);
    assert.deepEqual(await texts(3, true), all);
    harness.say('four');
    assert.deepEqual(await texts(1, true), [['four', '1', '1', true]]);
  });

  keeps('shows pieces in the order in which they were sent, with buttons', async (harness) => {
    harness.say('hello');
    const [said] = await take(harness, 1, true);
    const pieces = harness.channel.pieces(`${'word '.repeat(1_500)}\n\nend`);
    const ids = new Set<string>();
    for (const [i, piece] of pieces.entries()) {
      const buttons = i === pieces.length - 1 ? [{ text: 'Yes', data: 'a:1' }] : [];
      const sent = await harness.channel.send({ chat: said?.chat ?? '', piece, buttons }, signal);
      assert.equal(sent.state, 'sent');
      if (sent.state === 'sent') ids.add(sent.id);
    }
    assert.ok(pieces.length > 1);
    assert.equal(ids.size, pieces.length);
    const seen = harness.shown();
    const words = seen.flatMap(({ text }) => text.split(/\s+/)).filter((word) => word !== '');
    assert.ok(words.length >= 1_501 && words.at(-1) === 'end');
    assert.deepEqual(seen.at(-1)?.buttons, ['Yes']);
    harness.press('Yes');
    const [press] = await take(harness, 1, true);
    assert.deepEqual([press?.kind, press?.text, press?.person], ['press', 'a:1', '1']);
    await harness.channel.pressed(press?.press ?? '', 'done', signal);
    assert.deepEqual(harness.told(), ['done']);
  });

  keeps('gives the bytes of a file, and says when there are none', async (harness) => {
    const bytes = new TextEncoder().encode('name,age\n');
    harness.sendFile(bytes);
    const [said] = await take(harness, 1, true);
    const [file] = said?.files ?? [];
    const got = file && (await harness.channel.bytes(file, signal));
    assert.deepEqual(got?.ok && [...got.value], [...bytes]);
    const none = await harness.channel.bytes({ ref: 'nowhere' }, signal);
    assert.equal(!none.ok && none.reason, 'unreachable');
  });

  keeps('shows that it works, and resolves whatever becomes of it', async (harness) => {
    harness.say('hello');
    await take(harness, 1, true);
    await harness.channel.typing('1', signal);
    const first = await harness.channel.note('1', 'reading', undefined, signal);
    assert.notEqual(first, undefined);
    assert.notEqual(await harness.channel.note('1', 'writing', first, signal), undefined);
    assert.equal(await harness.channel.note('1', undefined, first, signal), undefined);
    for (const stopped of [AbortSignal.abort(), signal]) {
      await harness.channel.typing('404', stopped);
      await harness.channel.pressed('nothing', 'text', stopped);
      assert.ok((await harness.channel.send({ chat: '404', piece: 'x' }, stopped)).state);
    }
  });
}
