// Says whether a turn did what a phrasing asks for, by the conventions that stand in test/data/reflex.

import { english } from '#core/reflex/english/english.ts';
import { rankRules, reflexInput } from '#core/reflex/rank-rules.ts';
import { allRules, toolNames } from './all-rules.ts';
import { type Called, ReflexConversation, type TurnSeen } from './conversation.ts';

export interface Phrasing {
  readonly id: string;
  readonly text: string;
  readonly before?: readonly string[] | string;
  readonly expect: {
    readonly intent: string;
    readonly tool: string | null;
    readonly args: Readonly<Record<string, unknown>>;
  };
  readonly destructive?: boolean;
}

export interface Verdict {
  readonly right: boolean;
  /** A destructive command that ran without a question. */
  readonly unasked: boolean;
  readonly seen: string;
}

export async function judgePhrasing(phrasing: Phrasing): Promise<Verdict> {
  const { expect } = phrasing;
  const talk = new ReflexConversation();
  for (const line of [phrasing.before ?? []].flat()) await answerQuestions(talk, await talk.say(line));
  const first = await talk.say(phrasing.text);
  const mayAsk = phrasing.destructive === true || expect.intent === 'save';
  const calls = mayAsk ? await answerQuestions(talk, first) : first.calls;
  const unasked = phrasing.destructive === true && first.calls.length > 0;
  const right = !unasked && (expect.tool === null ? rightIntent(phrasing, first) : rightCall(phrasing, calls));
  return { right, unasked, seen: describe(first, calls) };
}

async function answerQuestions(talk: ReflexConversation, turn: TurnSeen): Promise<readonly Called[]> {
  return turn.asked ? (await talk.say('yes')).calls : turn.calls;
}

function describe(turn: TurnSeen, calls: readonly Called[]): string {
  return `${JSON.stringify(calls.length > 0 ? calls : turn.calls)} ${turn.text.split('\n').slice(0, 5).join(' / ')}`;
}

function rightIntent({ text, expect }: Phrasing, turn: TurnSeen): boolean {
  const surroundings = { history: [], system: '', tools: new Set(toolNames), now: 0 };
  const [best] = rankRules(allRules, reflexInput(text, surroundings, english), english);
  if (best === undefined || turn.asked) return expect.intent === 'undo' && /undo/.test(turn.text);
  if (expect.intent !== 'extract') return best.rule.intent === expect.intent;
  const { slots } = best.match;
  const counted = best.rule.intent === 'count' || slots.count !== undefined;
  const { kind, path, pattern, count } = expect.args;
  const kindRight = slots.what === kind || (best.rule.intent === 'find-text' && kind === 'lines');
  return kindRight && samePath(slots.path, path) && sameText(slots.pattern, pattern) && counted === (count === true);
}

function rightCall({ expect }: Phrasing, calls: readonly Called[]): boolean {
  const [call] = calls;
  if (call === undefined) return false;
  if (expect.tool === 'list') return rightList(call, expect.args.path);
  if (call.name !== expect.tool) return false;
  return Object.entries(expect.args).every(([key, wanted]) => rightArgument(call, key, wanted, expect.intent));
}

function rightList(call: Called, path: unknown): boolean {
  const wanted = path ?? '.';
  if (call.name === 'search_files')
    return call.arguments.target === 'files' && samePath(call.arguments.path ?? '.', wanted);
  const folder = /^(?:ls|tree)\b(?:\s+-\S+)*\s*(\S*)$/.exec(String(call.arguments.command))?.[1];
  return (
    call.name === 'terminal' &&
    folder !== undefined &&
    samePath(folder === '' ? (call.arguments.workdir ?? '.') : folder, wanted)
  );
}

function rightArgument(call: Called, key: string, wanted: unknown, intent: string): boolean {
  const given = call.arguments;
  if (key === 'contains' || key === 'not_contains') {
    const text = storedText(call, intent).toLowerCase();
    const words = [wanted].flat().map((word) => String(word).toLowerCase());
    return words.every((word) => text.includes(word) === (key === 'contains'));
  }
  if (key === 'path') return samePath(given.path, wanted);
  if (key === 'offset') return Number(given.offset ?? 1) === wanted;
  if (key === 'pattern') return samePattern(String(given.pattern), String(wanted), intent);
  return given[key] === wanted;
}

function storedText({ arguments: given }: Called, intent: string): string {
  if (intent === 'forget') return String(given.old_text ?? '');
  return String((intent === 'know' || intent === 'recall' ? given.query : given.content) ?? '');
}

/** A pattern may be escaped; a bare word may be given as `*word*`. */
function samePattern(given: string, wanted: string, intent: string): boolean {
  if (intent === 'find-files') return given === wanted || given === `*${wanted}*`;
  return given === wanted || given.replace(/\\(.)/g, '$1') === wanted;
}

function samePath(given: unknown, wanted: unknown): boolean {
  return plainPath(given) === plainPath(wanted);
}

function sameText(given: unknown, wanted: unknown): boolean {
  return wanted === undefined || String(given).toLowerCase() === String(wanted).toLowerCase();
}

function plainPath(path: unknown): string {
  return String(path ?? '.')
    .replace(/^\.\/(?=.)/, '')
    .replace(/(?<=.)\/$/, '');
}
