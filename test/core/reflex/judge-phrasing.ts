// Says whether a turn did what a phrasing wants, in a world where the things that it names are there.
import type { ReflexFolder } from '#core/agent/reflex-rule.ts';
import { createReflexClient } from '#core/reflex/reflex-client.ts';
import { approvalAsks, destroys } from '#core/tools/reflex-commands.ts';
import { folder, rules } from './all-rules.ts';
import { answerPlainly, type Called, ReflexConversation, type TurnSeen } from './conversation.ts';

export interface Wanted {
  readonly want: string;
  readonly argument?: string;
}

export interface Phrasing extends Wanted {
  readonly line: string;
  readonly second?: Wanted;
  readonly destructive?: boolean;
}

export interface Verdict {
  readonly right: boolean;
  /** Something was called that was not wanted. */
  readonly unmeant: boolean;
  /** Destructive, and nobody was asked. */
  readonly unasked: boolean;
  readonly seen: string;
}

const RULE = '═'.repeat(46);
const SCRIPTS: Readonly<Record<string, string>> = { tests: 'npm test', build: 'npm run build', start: 'npm start' };

export async function judgePhrasing(phrasing: Phrasing): Promise<Verdict> {
  const talk = await talkFor(phrasing);
  const first = await talk.say(phrasing.line);
  const wanted = [phrasing, ...(phrasing.second === undefined ? [] : [phrasing.second])];
  const isRisky = phrasing.destructive === true;
  const calls = isRisky && first.asked ? [...first.calls, ...(await talk.say('1')).calls] : first.calls;
  const unasked = phrasing.destructive === true && first.calls.some((call) => !isHarmless(call));
  const right = !unasked && isRight(wanted, first, calls);
  const unmeant =
    !right && first.calls.length > 0 && !wanted.some((one) => first.calls.every((call) => serves(one, call)));
  return {
    right,
    unmeant,
    unasked,
    seen: `${JSON.stringify(calls)} ${first.text.split('\n').slice(0, 4).join(' / ')}`,
  };
}

/** A folder that holds what the line names, a skill of that name, and something to undo and to teach. */
async function talkFor(phrasing: Phrasing): Promise<ReflexConversation> {
  const named = [phrasing, phrasing.second].flatMap((one) => {
    const name = one?.argument?.replace(/^\.\/|\/$/g, '') ?? '';
    if (one?.want === 'list') return /^[\w.-]+$/.test(name) ? [`${name}/`] : [];
    return one?.want === 'read' && /^[\w.-]+$/.test(name) ? [name] : [];
  });
  const here: ReflexFolder = { ...folder, entries: [...folder.entries, ...named] };
  const kept =
    ['recall', 'forget'].includes(phrasing.want) && phrasing.argument
      ? `\n${RULE}\nMEMORY (notes) [1%]\n${RULE}\n${phrasing.argument}`
      : '';
  const skill =
    phrasing.want === 'do'
      ? `\n<available_skills>\n- ${phrasing.argument?.replace(/\s+/g, '-')}: known\n</available_skills>`
      : '';
  const item = phrasing.argument?.replace(/^\w+: /, '') ?? '';
  const todos = `[ ] 1: buy milk\n[ ] 2: call the dentist\n[ ] 3: ${item}`;
  const talk = new ReflexConversation({
    client: createReflexClient(rules, { folder: () => here }),
    system: `Folder.${skill}${kept}`,
    answer: (call) => {
      if (call.name === 'todo') return todos;
      return call.arguments.target === 'files' ? String(call.arguments.pattern) : answerPlainly(call);
    },
  });
  if (['undo', 'teach', 'todo'].includes(phrasing.want)) {
    for (const line of ['run `make a`', 'run `make b`', 'my todos']) await talk.say(line);
    if (phrasing.want === 'undo') await talk.say('remember that the port is 4010');
  }
  return talk;
}

function isHarmless({ name, arguments: given }: Called): boolean {
  if (['memory', 'todo', 'skill_view', 'read_file', 'search_files', 'session_search'].includes(name)) return true;
  return (
    name === 'terminal' &&
    (given.command === undefined || !destroys(String(given.command)) || approvalAsks(String(given.command)))
  );
}

function isRight(wanted: readonly Wanted[], first: TurnSeen, calls: readonly Called[]): boolean {
  const [{ want = '', argument = '' } = {}] = wanted;
  if (want === 'refuse') return first.calls.length === 0 && !first.asked;
  if (want === 'ask') return first.calls.length === 0 && first.asked;
  if (want === 'undo') return calls.length > 0 || /undone|undo/i.test(first.text);
  if (want === 'recall' && /^Kept|^Nothing is kept|^Recent|^It rests/.test(first.text)) return true;
  if (want === 'forget' && calls.length === 0) return first.asked && mentions(first.text, argument);
  return wanted.every((one) => calls.some((call) => serves(one, call)));
}

/** Is it a call that what was wanted needs? */
function serves({ want, argument = '' }: Wanted, { name, arguments: given }: Called): boolean {
  const command = name === 'terminal' ? plain(given.command) : undefined;
  switch (want) {
    case 'run':
      return command === plain(argument);
    case 'tests':
    case 'build':
    case 'start':
      return command === SCRIPTS[want] || (command !== undefined && command === plain(argument));
    case 'read':
      return (name === 'read_file' && samePath(given.path, argument)) || command?.endsWith(` ${argument}`) === true;
    case 'list':
      return (
        (command?.startsWith('ls') === true && samePath(command.replace(/^ls(?: -\S+)*\s*/, ''), argument)) ||
        isSearch({ name, arguments: given }, 'files', '*')
      );
    case 'find-file':
      return isSearch({ name, arguments: given }, 'files', argument);
    case 'find-text':
      return isSearch({ name, arguments: given }, 'content', argument);
    case 'remember':
      return name === 'memory' && given.action === 'add' && mentions(given.content, argument);
    case 'forget':
      return name === 'memory' && given.action === 'remove' && mentions(given.old_text, argument);
    case 'recall':
      return name === 'session_search' && (given.query === undefined || mentions(given.query, argument));
    case 'do':
      return name === 'skill_view';
    case 'teach':
      return name === 'skill_manage';
    case 'todo':
      return name === 'todo';
    default:
      return false;
  }
}

function isSearch({ name, arguments: given }: Called, target: string, argument: string): boolean {
  const pattern = String(given.pattern).replace(/\\(.)/g, '$1').toLowerCase();
  const wanted = argument.toLowerCase();
  return (
    name === 'search_files' &&
    given.target === target &&
    (pattern === wanted || pattern === `*${wanted}*` || (pattern !== '' && wanted.startsWith(`${pattern} in `)))
  );
}

/** Half of the words, in any form. */
function mentions(text: unknown, argument: string): boolean {
  const said = String(text).toLowerCase();
  const words = argument
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 2);
  return words.filter((word) => said.includes(word.slice(0, 5))).length >= words.length / 2;
}

function plain(text: unknown): string {
  return String(text).trim().replace(/\s+/g, ' ');
}

function samePath(given: unknown, argument: string): boolean {
  const path = (text: string) =>
    text
      .replace(/^\.\/(?=.)|(?<=.)\/$/g, '')
      .replace(/^$/, '.')
      .toLowerCase();
  return path(plain(given)) === path(argument.trim() === 'here' ? '.' : argument.trim());
}
