/** Telegram as a channel, against a Bot API that refuses what the real one refuses. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import type { Incoming } from '#core/agent/channel.ts';
import { openTelegram, type TelegramOptions } from '#surfaces/gateway/telegram.ts';
import { type FakeTelegram, type FakeTelegramOptions, startFakeTelegram } from '#testing/fake-telegram.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import type { ScriptedStep } from '#testing/scripted-model.ts';
import { verifies } from '../../verifies.ts';
import { startGateway } from './gateway-stage.ts';

const signal = new AbortController().signal;

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
}

const open = (fake: FakeTelegram, options: Partial<TelegramOptions> = {}) =>
  openTelegram({ token: fake.token, apiRoot: fake.apiRoot, clock: systemClock, ...options });
type Telegram = Awaited<ReturnType<typeof open>>;

/** Reads on, keeping everything, until the test ends. */
function reader(t: TestContext, channel: Telegram) {
  const [all, faults, ends] = [[] as Incoming[], [] as string[], new AbortController()];
  const run = (async () => {
    for await (const batch of channel.receive(ends.signal)) {
      all.push(...batch);
      if (channel.fault !== undefined) faults.push(channel.fault);
    }
  })();
  run.catch(() => undefined);
  const stop = async () => {
    ends.abort();
    await run.catch(() => undefined);
  };
  t.after(stop);
  return { all, faults, run, stop, texts: () => all.map(({ text }) => text) };
}

async function stage(t: TestContext, options: FakeTelegramOptions & Partial<TelegramOptions> = {}) {
  const { reach, ...rest } = options;
  const fake = await startFakeTelegram({ context: t, ...(reach ? { reach } : {}) });
  const channel = await open(fake, rest);
  return { fake, channel };
}

verifies(['R5.101'], 'an offset is confirmed only for what was kept, and nothing that waited is dropped', async (t) => {
  const { fake, channel } = await stage(t);
  for (let i = 0; i < 120; i += 1) fake.say(`m${i}`);
  const batches = channel.receive(signal);
  const first = (await batches.next()).value ?? [];
  assert.equal(first.length, 100);
  assert.equal(fake.pending.length, 120, 'the reader did not come back');
  await batches.return(undefined);
  const again = reader(t, await open(fake));
  await until(() => again.all.length === 120 && fake.pending.length === 0);
  assert.deepEqual(
    again.texts(),
    Array.from({ length: 120 }, (_, i) => `m${i}`),
  );
  assert.equal(fake.dropped, 0);
  const asked = fake.calls.find(({ method }) => method === 'getUpdates')?.params;
  assert.deepEqual(asked?.allowed_updates, ['message', 'edited_message', 'callback_query']);
});

verifies(['R5.101'], 'another poller is told once, and both go on', async (t) => {
  const { fake, channel } = await stage(t, { clock: createManualClock({ auto: true }) });
  const one = reader(t, channel);
  await until(() => fake.calls.some(({ method }) => method === 'getUpdates'));
  fake.fault('getUpdates', { code: 409 }, 5);
  const asked = fake.calls.length;
  fake.say('wakes');
  await until(() => one.texts().includes('wakes') && fake.calls.length > asked + 6);
  assert.equal(one.faults.length, 1);
  assert.match(one.faults[0] ?? '', /another program reads/);
  assert.equal(channel.fault, undefined);
});

verifies(['R5.101', 'R5.120'], 'a token that is wrong or revoked ends the channel with the way out', async (t) => {
  const { fake, channel } = await stage(t, { token: '12:wrong' });
  const isTold = (error: unknown) =>
    error instanceof TalariaError &&
    error.code === 'telegram-token' &&
    !`${error.stack}${error.fix}`.includes(fake.token);
  await assert.rejects(channel.receive(signal).next(), isTold);
  const running = reader(t, await open(fake));
  await until(() => fake.calls.some(({ method }) => method === 'getUpdates'));
  fake.isRevoked = true;
  fake.update({ message: {} });
  await assert.rejects(running.run, isTold);
});

verifies(
  ['R5.101', 'R5.120'],
  'a day without Telegram is waited for, never longer than a minute at once',
  async (t) => {
    const clock = createManualClock({ auto: true });
    const { fake, channel } = await stage(t, { clock });
    fake.say('still there');
    for (const fault of ['reset', 'html', { code: 502 }, 'lost'] as const) fake.fault('*', fault, 10);
    const one = reader(t, channel);
    await until(() => one.all.length === 1);
    assert.deepEqual(
      clock.slept.slice(0, 8),
      [1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * 1_000),
    );
    assert.equal(channel.fault, undefined);
    assert.ok(
      one.faults.length >= 2 && one.faults.every((fault) => !fault.includes(fake.token.slice(-20))),
      one.faults.join(),
    );
  },
);

verifies(
  ['R5.101'],
  'Telegram calls in: a wrong secret is turned away, and the answer waits until it is kept',
  async (t) => {
    const called: { take?: (request: Request) => Promise<Response> } = {};
    const webhook = { url: 'https://bot.example/hooks/telegram', secret: 'S3cret_' };
    const { fake, channel } = await stage(t, {
      webhook,
      reach: async (request) => (await called.take?.(request)) ?? new Response(null, { status: 503 }),
    });
    called.take = channel.called;
    const post = (secret: string, body = '{}') =>
      channel.called(
        new Request(webhook.url, { method: 'POST', body, headers: { 'x-telegram-bot-api-secret-token': secret } }),
      );
    assert.equal((await post('S3cret')).status, 401);
    assert.equal((await post('S3cret_', 'no')).status, 400);
    assert.equal((await post('S3cret_')).status, 503, 'nobody reads');
    const ends = new AbortController();
    const batches = channel.receive(ends.signal);
    const first = batches.next();
    await until(() => fake.calls.some(({ method }) => method === 'setMyCommands'));
    fake.say('called in');
    assert.equal((await first).value?.[0]?.text, 'called in');
    assert.equal(fake.pending.length, 1, 'it is not kept yet');
    await batches.return(undefined);
    const again = reader(t, channel);
    await until(() => again.texts().includes('called in') && fake.pending.length === 0);
    await again.stop();
    const polled = reader(t, await open(fake));
    fake.say('asked for');
    await until(() => polled.texts().includes('asked for'));
    assert.equal(fake.dropped, 0);
  },
);

verifies.slow(['R5.101', 'R5.120'], 'what became of a piece is told as it is', async (t) => {
  const { fake, channel } = await stage(t, { answerMs: 300 });
  fake.say('hello');
  fake.say('hello', { chat: -5 });
  const send = async (fault?: Parameters<FakeTelegram['fault']>[1], piece = 'x', chat = '1') => {
    if (fault) fake.fault('sendMessage', fault);
    return channel.send({ chat, piece, buttons: [{ text: 'Go', data: 'g' }] }, signal);
  };
  const { reason, ...limited } = { reason: '', ...(await send({ code: 429, retryAfter: 7 })) };
  assert.deepEqual(limited, { state: 'retry', isLost: false, afterMs: 7_000 });
  const lost = [await send('lost'), await send('hang'), await send('html')];
  assert.deepEqual(
    lost.map((one) => one.state === 'retry' && one.isLost),
    [true, true, true],
  );
  assert.equal(fake.shown().length, 1, 'the lost one was shown');
  const server = await send({ code: 500 });
  assert.deepEqual([server.state, 'isLost' in server && server.isLost], ['retry', false]);
  fake.migrate(-5, -1_005);
  assert.equal((await send(undefined, 'x', '-5')).state, 'sent');
  assert.equal(fake.shown(-1_005).length, 1);
  assert.equal((await send(undefined, '<b>bro&amp;ken')).state, 'sent');
  assert.deepEqual([fake.shown(1).at(-1)?.text, fake.shown(1).at(-1)?.buttons], ['bro&ken', [['Go']]]);
  const unknown = await send(undefined, 'x', '99');
  assert.deepEqual([unknown.state, 'isGone' in unknown], ['refused', false]);
  fake.blocked.add(1);
  const blocked = await send();
  assert.deepEqual([blocked.state, 'isGone' in blocked], ['refused', true]);
  await fake.close();
  // The first finds a connection that was open.
  await send();
  const down = await send();
  assert.deepEqual([down.state, 'isLost' in down && down.isLost], ['retry', false]);
  assert.ok(![reason, ...lost, server, unknown, blocked, down].some((one) => JSON.stringify(one).includes(fake.token)));
});

verifies(['R5.108'], 'typing shows, and one line stands while a turn runs, edited and gone', async (t) => {
  const { fake, channel } = await stage(t);
  fake.say('hello');
  await channel.typing('1', signal);
  const note = await channel.note('1', 'Thinking…', undefined, signal);
  const texts = () => fake.shown().map(({ text }) => text);
  assert.deepEqual(texts(), ['Thinking…']);
  assert.equal(await channel.note('1', '2 tools so far', note, signal), note);
  assert.equal(await channel.note('1', '2 tools so far', note, signal), note, 'the same again is refused there');
  assert.deepEqual(texts(), ['2 tools so far']);
  assert.equal(await channel.note('1', undefined, note, signal), undefined);
  assert.deepEqual(texts(), []);
  fake.fault('sendMessage', { code: 500 });
  assert.equal(await channel.note('1', 'x', undefined, signal), undefined);
  assert.deepEqual(fake.calls[0], { method: 'sendChatAction', params: { chat_id: '1', action: 'typing' } });
});

verifies(['R5.109', 'R5.111'], 'commands stand in the menu and work; buttons are pressed', async (t) => {
  const { fake, channel } = await stage(t);
  const channels = [{ channel, allow: ['1'], groups: 'mention', progress: 'tools' } as const];
  await startGateway(t, [{ calls: [{ name: 'terminal', arguments: { command: 'rm -rf build' } }] }, '**gone**'], {
    means: { channels },
  });
  fake.say('/help');
  await until(() => fake.shown(1).length === 1);
  assert.match(fake.shown(1)[0]?.text ?? '', /^\/new: start a new session$/m);
  const menu = fake.commands as unknown as readonly { readonly command: string }[];
  assert.deepEqual(menu.map(({ command }) => command).toSorted(), [
    'cost',
    'help',
    'model',
    'new',
    'pending',
    'resume',
    'status',
    'stop',
    'undo',
  ]);
  fake.say('clean up');
  await until(() => fake.shown(1).length === 2);
  assert.deepEqual(fake.shown(1)[1]?.buttons, [['Once', 'Session', 'Always', 'No']]);
  fake.press('Once');
  await until(() => fake.shown(1).length === 3);
  assert.deepEqual(fake.shown(1)[2]?.marks, [{ type: 'b', text: 'gone' }]);
  assert.deepEqual(fake.told, ['Once']);
});

verifies(
  ['R5.101', 'R5.104', 'core:gateway:telegram'],
  'what came over four chats while it was down is answered, once, in order',
  async (t) => {
    const { fake, channel } = await stage(t);
    const answers = Array.from(
      { length: 40 },
      (): ScriptedStep =>
        ({ messages }) => {
          const said = messages.findLast(({ role }) => role === 'user');
          return /m\d+/.exec(JSON.stringify(said))?.[0] ?? 'nothing';
        },
    );
    const at = (seat: Telegram) => ({ means: { channels: [{ channel: seat, allow: ['1'], ...PLAIN }] } });
    const first = await startGateway(t, answers, at(channel));
    fake.say('m100');
    await until(() => fake.shown(1).length === 1);
    await first.stop();
    for (let i = 0; i < 20; i += 1) {
      const chat = [1, -2, -3, -4][i % 4] ?? 1;
      fake.say(chat > 0 ? `m${i}` : `@talaria_bot m${i}`, { chat });
    }
    assert.equal(fake.pending.length >= 20, true);
    const again = await startGateway(t, answers, { stage: first.stage, ...at(await open(fake)) });
    await until(() => fake.shown().length === 21 && fake.pending.length === 0);
    await again.stop();
    const seen = [1, -2, -3, -4].map((chat) => fake.shown(chat).map(({ text }) => text));
    const of = (from: number) => [0, 4, 8, 12, 16].map((i) => `m${from + i}`);
    assert.deepEqual(seen, [['m100', ...of(0)], of(1), of(2), of(3)]);
    assert.equal(fake.dropped, 0);
    assert.ok(fake.calls.every(({ params }) => !params.drop_pending_updates && !(Number(params.offset ?? 0) < 0)));
  },
);

const PLAIN = { groups: 'mention', progress: 'tools' } as const;

verifies(
  ['R5.110'],
  'a photo is its largest size; files are fetched up to 20 MB; what is not read is named; edits are edits',
  async (t) => {
    const { fake, channel } = await stage(t);
    const one = reader(t, channel);
    const large = Uint8Array.from({ length: 400 }, (_, i) => i % 251);
    fake.photo(large, 'look');
    fake.document('scan.png', large, { mediaType: 'image/png', size: 21 * 1024 ** 2 });
    fake.document('notes.md', large, { size: 1_000_000 });
    fake.document('film.bin', large, { mediaType: 'application/zip', size: 2_000_000 });
    fake.voice();
    const id = fake.say('frist');
    fake.edit(id, 'first');
    fake.edit(id, 'first');
    fake.say('', { fields: { forward_origin: { type: 'user' }, text: '/undo' } });
    await until(() => one.all.length === 8);
    assert.deepEqual(
      one.all.map(({ kind, text, files, unread }) => [kind, text, files.map(({ name = '' }) => name).join(), unread]),
      [
        ['message', 'look', '', undefined],
        ['message', '', 'scan.png', undefined],
        ['message', '', 'notes.md', undefined],
        ['message', '', '', 'large file'],
        ['message', '', '', 'voice message'],
        ['message', 'frist', '', undefined],
        ['edit', 'first', '', undefined],
        ['message', '[forwarded]\n/undo', '', undefined],
      ],
    );
    const bytes = async (at: number) => {
      const [file] = one.all[at]?.files ?? [];
      return file && channel.bytes(file, signal);
    };
    const photo = await bytes(0);
    assert.deepEqual(photo?.ok && [...photo.value], [...large]);
    const scan = await bytes(1);
    assert.equal(scan && !scan.ok && scan.reason, 'too-large');
  },
);

verifies(
  ['R5.101'],
  'a group is heard when it speaks to us; bots, channels and what nobody knows are passed over',
  async (t) => {
    const { fake, channel } = await stage(t);
    const one = reader(t, channel);
    await until(() => fake.calls.some(({ method }) => method === 'getUpdates'));
    fake.say('hi', { person: 2 });
    await channel.send({ chat: '2', piece: 'hello' }, signal);
    const answer = fake.shown(2)[0]?.id ?? 0;
    const group = { chat: -7, person: 2, name: '<b>\u202EEve'.padEnd(200, 'e') };
    fake.say('among us', group);
    fake.say('@Talaria_bot and you?', group);
    fake.say('/stop@talaria_bot', group);
    fake.say('yes', { ...group, replyTo: answer });
    fake.say('I am one too', { ...group, isBot: true });
    fake.update({ channel_post: { message_id: 1, date: 1, chat: { id: -9, type: 'channel' }, text: 'news' } });
    fake.update({ message: { message_id: 'odd' } });
    fake.update({ message_of_tomorrow: { text: 'x' } });
    fake.say('x'.repeat(1_000_000), { fields: { entities: 'odd', photo: 7 } });
    fake.migrate(-7, -1_007);
    await until(() => one.all.length === 7 && fake.pending.length === 0);
    assert.deepEqual(
      one.all.map(({ text, isGroup, isMeant, movedTo }) => [text.length, isGroup, isMeant, movedTo]),
      [
        [2, false, true, undefined],
        [8, true, false, undefined],
        [21, true, true, undefined],
        [17, true, true, undefined],
        [3, true, true, undefined],
        [1_000_000, false, true, undefined],
        [0, true, false, '-1007'],
      ],
    );
    assert.equal(one.all[1]?.name.length, 64);
  },
);
