/** What a schedule means: the texts that say one, the words it is shown in, and its times through both changes of daylight saving. */
import assert from 'node:assert/strict';
import { isoTime } from '#base/clock.ts';
import { read, times } from '#extensions/schedule/when.ts';
import { verifies } from '../../verifies.ts';

/** A Thursday; 13:00 in Berlin. */
const NOW = Date.parse('2026-01-15T12:00:00Z');
const BERLIN = 'Europe/Berlin';

async function nextOf(text: string, count = 3, zone = BERLIN, from = NOW): Promise<readonly string[]> {
  const said = read(text, from, zone);
  assert.ok(said.ok, `${text}: ${said.ok || said.detail}`);
  return [said.value.display, ...[...times(said.value, from).take(count)].map((at) => isoTime(at).slice(0, 16))];
}

const READ: readonly (readonly [text: string, display: string, ...next: string[]])[] = [
  ['30m', 'once at 2026-01-15 13:30', '2026-01-15T12:30'],
  ['in 2 days', 'once at 2026-01-17 13:00', '2026-01-17T12:00'],
  ['2026-02-01T09:00', 'once at 2026-02-01 09:00', '2026-02-01T08:00'],
  ['2026-02-01T09:00:00+02:00', 'once at 2026-02-01 08:00', '2026-02-01T07:00'],
  ['every 2h', 'every 2 hours', '2026-01-15T14:00', '2026-01-15T16:00'],
  ['every 30m', 'every 30 minutes', '2026-01-15T12:30', '2026-01-15T13:00'],
  ['0 9 * * 1-5', 'weekdays at 09:00', '2026-01-16T08:00', '2026-01-19T08:00'],
  ['@hourly', '@hourly', '2026-01-15T13:00', '2026-01-15T14:00'],
  ['@yearly', '@yearly', '2026-12-31T23:00', '2027-12-31T23:00'],
  ['0 0 L * *', 'last day of the month at 00:00', '2026-01-30T23:00', '2026-02-27T23:00'],
  ['0 9 * * MON#1', '0 9 * * MON#1', '2026-02-02T08:00', '2026-03-02T08:00'],
  ['every day at 09:30', 'every day at 09:30', '2026-01-16T08:30', '2026-01-17T08:30'],
  ['every morning at 9am', 'every day at 09:00', '2026-01-16T08:00', '2026-01-17T08:00'],
  ['weekdays at 8:15', 'weekdays at 08:15', '2026-01-16T07:15', '2026-01-19T07:15'],
  ['Every Tuesday and Friday at 18:00', 'every Tuesday and Friday at 18:00', '2026-01-16T17:00', '2026-01-20T17:00'],
  ['mondays at 12', 'every Monday at 12:00', '2026-01-19T11:00', '2026-01-26T11:00'],
  ['weekends at 10am', 'weekends at 10:00', '2026-01-17T09:00', '2026-01-18T09:00'],
  ['first day of the month at 7am', 'first day of the month at 07:00', '2026-02-01T06:00', '2026-03-01T06:00'],
  ['tomorrow at 5pm', 'once at 2026-01-16 17:00', '2026-01-16T16:00'],
];

verifies(
  'R5.41',
  'a delay, a time, an interval, five fields and plain English are read, and what is shown reads back',
  async () => {
    for (const [text, display, ...next] of READ) {
      assert.deepEqual(await nextOf(text, next.length), [display, ...next], text);
      const [first, again] = [read(text, NOW, BERLIN), read(display, NOW, BERLIN)];
      assert.deepEqual(again, first, display);
    }
  },
);

const REFUSED: readonly (readonly [text: string, reason: string])[] = [
  ['yesterday', 'unreadable'],
  ['', 'unreadable'],
  ['every', 'unreadable'],
  ['1 2 3', 'unreadable'],
  ['61 * * * *', 'unreadable'],
  ['at 25:00', 'unreadable'],
  ['2026-02-30', 'unreadable'],
  ['every blue moon at 9', 'unreadable'],
  ['0 0 30 2 *', 'never-due'],
  ['2020-01-01', 'past'],
  ['today at 9am', 'past'],
  ['every 30 seconds', 'too-often'],
  ['30s', 'too-often'],
  ['*/5 * * * * *', 'too-often'],
];

verifies('R5.43', 'what cannot be read, is never due, past or under a minute is refused with the reason', async () => {
  for (const [text, reason] of REFUSED) {
    const said = read(text, NOW, BERLIN);
    assert.ok(!said.ok && said.reason === reason && said.detail.length > 0, `${text}: ${said.ok || said.reason}`);
  }
  const unknown = read('every 2h', NOW, 'Mars/Olympus');
  assert.ok(!unknown.ok && unknown.reason === 'zone-unknown');
});

/** In three zones, one of which moves by half an hour: a time that is skipped, one that comes twice. */
const CHANGES: readonly (readonly [expr: string, zone: string, from: string, next: readonly string[]])[] = [
  ['30 2 * * *', BERLIN, '2026-03-28T12:00Z', ['03-29T01:30', '03-30T00:30']],
  ['15,45 2 * * *', BERLIN, '2026-03-28T12:00Z', ['03-29T01:15', '03-29T01:45', '03-30T00:15']],
  ['0,30 1-3 * * *', BERLIN, '2026-03-28T12:00Z', ['03-29T00:00', '03-29T00:30', '03-29T01:00', '03-29T01:30']],
  ['30 2 * * *', BERLIN, '2026-10-24T12:00Z', ['10-25T00:30', '10-26T01:30']],
  ['15,45 2 * * *', BERLIN, '2026-10-24T12:00Z', ['10-25T00:15', '10-25T00:45', '10-26T01:15']],
  ['0 * * * *', BERLIN, '2026-10-24T23:30Z', ['10-25T00:00', '10-25T01:00', '10-25T02:00']],
  ['30 2 * * *', 'America/New_York', '2026-03-07T12:00Z', ['03-08T07:30', '03-09T06:30']],
  ['30 1 * * *', 'America/New_York', '2026-10-31T12:00Z', ['11-01T05:30', '11-02T06:30']],
  ['15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00Z', ['10-03T15:45', '10-04T15:15']],
  ['30 23 * * *', 'America/Nuuk', '2026-03-28T12:00Z', ['03-29T01:30', '03-30T00:30']],
  ['45 1 * * *', 'Australia/Lord_Howe', '2026-04-03T20:00Z', ['04-04T14:45', '04-05T15:15']],
];

verifies(
  'R5.42',
  'a time that daylight saving skips happens once, later that day; one that comes twice happens once',
  async () => {
    for (const [expr, zone, from, next] of CHANGES) {
      const [, ...found] = await nextOf(expr, next.length, zone, Date.parse(from));
      assert.deepEqual(
        found,
        next.map((at) => `2026-${at}`),
        `${expr} ${zone} ${from}`,
      );
    }
    const skipped = await nextOf('2026-03-29T02:30', 1, BERLIN);
    assert.deepEqual(skipped, ['once at 2026-03-29 03:30', '2026-03-29T01:30']);
  },
);
