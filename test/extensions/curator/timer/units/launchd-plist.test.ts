import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { launchdPlist } from '#extensions/curator/timer/units/launchd-plist.ts';
import { launchdTrigger, systemdCalendar } from '#extensions/curator/timer/units/timer-schedule.ts';

const base = { program: ['/bin/t'], schedule: 'daily', env: {}, logs: { out: '/o', err: '/e' } };

/** The strings of ProgramArguments, by the rules of XML 1.0. */
function argumentsIn(plist: string): readonly string[] {
  const list = /<key>ProgramArguments<\/key>\s*<array>([\s\S]*?)<\/array>/.exec(plist)?.[1] ?? '';
  const NAMES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&#13;': '\r' };
  return [...list.matchAll(/<string>([^<]*)<\/string>/g)].map(([, text = '']) => {
    assert.doesNotMatch(text, /\r/, 'a bare carriage return is read as a line end');
    return text.replace(/&[^;]*;/g, (entity) => NAMES[entity] ?? assert.fail(entity));
  });
}

describe('the plist of launchd', () => {
  test('any words of XML come back, others are refused', () => {
    const word = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a & b', '<string>', ']]>', '\r\n', "'", '"'));
    fc.assert(
      fc.property(fc.array(word, { maxLength: 5 }), (args) => {
        const isXml = args.every((text) => !/[^\t\n\r -\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u.test(text));
        const build = () => launchdPlist({ ...base, args }, { everySeconds: 60 });
        if (isXml) assert.deepEqual(argumentsIn(build()), ['/bin/t', ...args]);
        else assert.throws(build, { code: 'timer-text' });
      }),
    );
  });

  test('hourly, daily, weekly and seconds', () => {
    const shown = (schedule: string) => {
      const trigger = launchdTrigger(schedule);
      return trigger.ok ? launchdPlist({ ...base, args: [], env: { A: '<' } }, trigger.value) : trigger.reason;
    };
    assert.match(shown('hourly'), /<key>StartInterval<\/key>\n<integer>3600<\/integer>/);
    assert.match(
      shown('daily'),
      /<dict>\n<key>Hour<\/key>\n<integer>9<\/integer>\n<key>Minute<\/key>\n<integer>0<\/integer>\n<\/dict>/,
    );
    assert.match(shown('weekly'), /<key>Weekday<\/key>\n<integer>1<\/integer>\n<key>Hour<\/key>\n<integer>9</);
    assert.match(shown('90'), /<integer>90<\/integer>/);
    assert.match(shown('90'), /<key>Label<\/key>\n<string>ai\.talaria\.curator\.auto<\/string>/);
    assert.match(shown('90'), /<key>EnvironmentVariables<\/key>\n<dict>\n<key>A<\/key>\n<string>&lt;<\/string>/);
    for (const wrong of ['', '0', '-5', '1.5', 'monthly', 'Mon 9:00', '9'.repeat(12)])
      assert.equal(shown(wrong), 'schedule-invalid', wrong);
  });
});

test('no schedule that passes for systemd can end its line or be expanded in it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (schedule) => {
      const calendar = systemdCalendar(schedule);
      if (calendar.ok) assert.match(calendar.value, /^[A-Za-z0-9,.:~*/_+-][A-Za-z0-9 ,.:~*/_+-]*$/);
    }),
  );
});
