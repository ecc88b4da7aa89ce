import { systemClock } from '#base/clock.ts';
import { openTelegram } from '#surfaces/gateway/telegram.ts';
import { startFakeTelegram } from '#testing/fake-telegram.ts';
import { MemoryChannel } from '#testing/memory-channel.ts';
import { channelContract } from './channel.contract.ts';

channelContract('memory', async () => {
  const channel = new MemoryChannel();
  return {
    channel,
    say: (text) => channel.say({ text }),
    sendFile: (bytes) => {
      channel.files.set('f', bytes);
      channel.say({ files: [{ ref: 'f' }] });
    },
    press: (label) => channel.press(label),
    shown: () => channel.shown.map(({ text, buttons }) => ({ text, buttons: buttons.map((one) => one.text) })),
    told: () => channel.told,
    isConfirmed: () => true,
  };
});

channelContract('telegram', async () => {
  const fake = await startFakeTelegram();
  const { token, apiRoot } = fake;
  return {
    channel: await openTelegram({ token, apiRoot, clock: systemClock }),
    say: (text) => void fake.say(text),
    sendFile: (bytes) => void fake.document('people.csv', bytes),
    press: (label) => fake.press(label),
    shown: () => fake.shown(1).map(({ text, buttons }) => ({ text, buttons: buttons.flat() })),
    told: () => fake.told,
    isConfirmed: () => fake.pending.length === 0,
    close: () => fake.close(),
  };
});
