// Owns the text of the LaunchAgent (curator notes 15). Pure; knows no file.

import type { LaunchdTrigger } from './timer-schedule.ts';
import { LAUNCHD_LABEL, refuseNul, type TimerSpec, unusableText } from './timer-spec.ts';

const HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
`;

/** Throws TalariaError `timer-text` when a word cannot stand in XML. */
export function launchdPlist(spec: TimerSpec, trigger: LaunchdTrigger): string {
  const fields = [
    field('Label', string(LAUNCHD_LABEL)),
    field('ProgramArguments', block('array', [...spec.program, ...spec.args].map(string))),
    ...environment(spec.env),
    ...schedule(trigger),
    field('StandardOutPath', string(spec.logs.out)),
    field('StandardErrorPath', string(spec.logs.err)),
  ];
  return `${HEAD}${block('dict', fields)}\n</plist>\n`;
}

function environment(env: TimerSpec['env']): readonly string[] {
  const entries = Object.entries(env).map(([name, value]) => field(name, string(value)));
  return entries.length === 0 ? [] : [field('EnvironmentVariables', block('dict', entries))];
}

function schedule(trigger: LaunchdTrigger): readonly string[] {
  if ('everySeconds' in trigger) return [field('StartInterval', integer(trigger.everySeconds))];
  const { weekday, hour, minute } = trigger;
  const day = weekday === undefined ? [] : [field('Weekday', integer(weekday))];
  const time = [field('Hour', integer(hour)), field('Minute', integer(minute))];
  return [field('StartCalendarInterval', block('dict', [...day, ...time]))];
}

function field(key: string, value: string): string {
  return `<key>${escapeXml(key)}</key>\n${value}`;
}

function block(name: string, inner: readonly string[]): string {
  return `<${name}>\n${inner.join('\n')}\n</${name}>`;
}

function integer(value: number): string {
  return `<integer>${value}</integer>`;
}

function string(text: string): string {
  return `<string>${escapeXml(text)}</string>`;
}

const NAMES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;' };

function escapeXml(text: string): string {
  if (NOT_XML.test(refuseNul(text))) throw unusableText('holds a character that XML does not have');
  return text.replace(/[&<>\r]/g, (character) => NAMES[character] ?? character);
}

/** XML 1.0, production 2. */
const NOT_XML = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;
