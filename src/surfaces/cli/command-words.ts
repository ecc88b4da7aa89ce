// Owns the short forms of command lines, the same in the shell and in the chat. Knows no command's work.
// Invariant: pure; words that are no short form come back as they are.

/** What a group does when nothing, or only flags, follow it: `talaria sessions` lists. */
const ALONE: Readonly<Record<string, string>> = {
  sessions: 'list',
  memory: 'show',
  skills: 'list',
  pending: 'list',
  permissions: 'show',
  trust: 'show',
  config: 'show',
  curator: 'status',
  rlm: 'runs',
  peers: 'list',
  import: '--help',
  repair: 'show',
};

/** Short forms of the chat only. */
const CHAT: Readonly<Record<string, readonly string[]>> = { search: ['sessions', 'search'] };

/** What users of other agents type for a command of the chat. */
const CHAT_ALIASES: Readonly<Record<string, string>> = { new: 'clear', compress: 'compact', quit: 'exit' };

/** Commands of the chat that change the conversation: typed while a turn runs they wait for its end. */
const AFTER_THE_TURN: ReadonlySet<string> = new Set([
  ...['new', 'clear', 'resume', 'compress', 'compact', 'retry', 'undo', 'learn', 'init'],
]);

export function waitsForTurn(line: string): boolean {
  return AFTER_THE_TURN.has(/^\/(\S+)/.exec(line)?.[1] ?? '');
}

/** The list of `/help`, by what one wants; what is in none comes last. */
export const CHAT_TOPICS: Readonly<Record<string, readonly string[]>> = {
  talk: ['help', 'retry', 'new', 'compress', 'copy', 'quit'],
  model: ['model', 'model add', 'models'],
  'memory and skills': ['memory', 'skills', 'pending', 'learn', 'curator'],
  files: ['diff', 'undo', 'init'],
  sessions: ['sessions', 'search', 'resume', 'title', 'export'],
  machine: ['status', 'permissions', 'trust', 'tools', 'context', 'cost', 'trace', 'config', 'doctor', 'peers', 'rlm'],
};

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

export function chatAlias(name: string): string | undefined {
  return Object.hasOwn(CHAT_ALIASES, name) ? CHAT_ALIASES[name] : undefined;
}

/** `exit` and `quit` leave the chat, with or without a slash. */
export function isExitLine(line: string): boolean {
  return /^\/?(?:exit|quit)$/i.test(line.trim());
}
