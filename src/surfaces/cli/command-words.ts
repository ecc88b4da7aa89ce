// Owns the short forms of command lines, the same in the shell and in the chat. Knows no command's work.
// Invariant: pure; words that are no short form come back as they are.

/** What a group does when nothing, or only flags, follow it: `talaria sessions` lists. */
const ALONE: Readonly<Record<string, string>> = { sessions: 'list', memory: 'show', config: 'show', curator: 'status' };

/** Short forms of the chat only. */
const CHAT: Readonly<Record<string, readonly string[]>> = { search: ['sessions', 'search'] };

export function fullWords(words: readonly string[]): string[] {
  const [first = '', second] = words;
  const sub = Object.hasOwn(ALONE, first) ? ALONE[first] : undefined;
  const isHelp = second === '--help' || second === '-h';
  const isAlone = second === undefined || (second.startsWith('-') && !isHelp);
  return sub !== undefined && isAlone ? [first, sub, ...words.slice(1)] : [...words];
}

export function fullChatWords(words: readonly string[]): string[] {
  const [first = '', ...rest] = words;
  const long = Object.hasOwn(CHAT, first) ? CHAT[first] : undefined;
  return long ? [...long, ...rest] : fullWords(words);
}

/** The shortest way to type the command `name` in the chat. */
export function chatName(name: string): string {
  const short = Object.entries(CHAT).find(([, long]) => long.join(' ') === name)?.[0];
  if (short !== undefined) return short;
  const [group = '', sub] = name.split(' ');
  return Object.hasOwn(ALONE, group) && ALONE[group] === sub ? group : name;
}

/** `exit` and `quit` leave the chat, with or without a slash. */
export function isExitLine(line: string): boolean {
  return /^\/?(?:exit|quit)$/i.test(line.trim());
}
