// Owns the intents `run` and `script`: what in a line is a command for the shell goes to the terminal letter for letter; `run the tests`,
// `build`, `start` become the command that a file of the project names. Knows no shell. Invariants: prose is never taken for a command; what
// deletes, overwrites or sends is shown exactly and asked about first, here or by the approval, never by both (reflex 8).

import {
  type ProjectScript,
  type ReflexInput,
  type ReflexMatch,
  type ReflexRule,
  type ReflexStep,
  SAME_FILE,
} from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import { commandsRun, quoteCommand, shellWord } from './reflex-files.ts';
import { commandRisk } from './risk/command-risk.ts';

export interface SpokenCommand {
  readonly command: string;
  /** Every word of it can stand in a command; otherwise the owner is asked whether exactly that is meant. */
  readonly sure: boolean;
}

/** Names that are no English words; the same in every human language. */
const PROGRAMS = new Set(
  `npm npx pnpm yarn bun node deno tsc tsx eslint prettier biome vite vitest jest mocha playwright git gh hg svn docker docker-compose podman
  kubectl helm terraform ansible vagrant aws gcloud az heroku python python2 python3 pip pip3 pipx poetry uv pytest tox ruff mypy pylint
  ruby gem bundle rake rspec rails php composer perl cargo rustc rustup gcc g++ clang cmake ninja bazel java javac mvn gradle gradlew dotnet
  ls ll pwd cp mv rm rmdir mkdir ln chmod chown stat du df lsblk mount umount rsync scp sftp ssh ssh-keygen curl wget nc telnet ping dig nslookup
  ifconfig ip netstat lsof ps pgrep pkill killall htop nohup crontab systemctl journalctl dmesg uname hostname uptime whoami passwd sudo env
  printenv export grep rg sed awk jq yq xargs tr wc uniq tee hexdump md5sum sha1sum sha256sum base64 openssl gpg tar gzip gunzip zip unzip xz
  zcat bash sh zsh tmux vim nvim nano apt apt-get dpkg yum dnf brew snap sqlite3 psql mysql redis-cli ffmpeg pandoc tree printf echo basename
  dirname realpath readlink mktemp shuf seq cal talaria shred truncate unlink dd diff cmp nl tac rev fd bat`.split(
    /\s+/,
  ),
);
/** English words too: alone they are commands only after `run`. */
const WORDY = new Set(
  'make find sort time watch kill cat head tail cut join split who touch date open sleep test type history top go code less more file install'.split(
    ' ',
  ),
);
const ALONE = new Set(
  'ls ll pwd date df du ps top htop uptime whoami hostname uname env printenv make tree pytest jest vitest tsc cal dmesg lsblk'.split(
    ' ',
  ),
);
const SUBCOMMANDS = new Set(
  `status log diff show branch fetch pull push add commit checkout switch stash blame tag remote rebase merge reset clean restore clone init
  config run test install i ci start build publish audit outdated update uninstall list images compose up down logs inspect stop restart prune
  get apply delete fmt check vet mod lint dev clippy doc version`.split(/\s+/),
);
/** Words of a sentence, not of a command. */
const PROSE = new Set(
  `the a an my our your this that these those it its is are was were be been if when whenever while unless until because since after before then and or
  but not never please maybe every tomorrow later today what why how who which will would should could can do does did i you we he she they me us
  him them in on at to for from with of by about like too also again as well so just`.split(/\s+/),
);

/** Words after an order to run: undefined when no command begins with the first of them. */
export function spokenCommand(words: string, isQuoted: boolean): SpokenCommand | undefined {
  if (isQuoted) return { command: words, sure: true };
  const command = words.replace(/(?<=[\w`'")])[.!?]$/, '');
  const rest = command
    .replace(/^(?:[A-Z_]+=\S+\s+)+/, '')
    .replace(/"[^"]*"|'[^']*'/g, 'q=')
    .split(/\s+/);
  const [head = '', ...others] = rest;
  const isProgram = PROGRAMS.has(head) || WORDY.has(head) || isScript(head);
  if (!isProgram && !others.some(isShellWord))
    return others.length === 0 && /^[a-z][\w-]+$/.test(head) && !PROSE.has(head) ? { command, sure: false } : undefined;
  if (PROSE.has(head)) return undefined;
  return { command, sure: !others.some((word) => PROSE.has(word.toLowerCase().replace(/[,;:]$/, ''))) };
}

/** A line that is nothing but a command: `git status`, `npm run lint`, `rm old.txt`. */
export function bareCommand(line: string): SpokenCommand | undefined {
  const [head = '', ...rest] = line
    .replace(/^sudo /, '')
    .replace(/"[^"]*"|'[^']*'/g, 'q=')
    .split(/\s+/);
  if (/[?\n]/.test(line) || rest.some((word) => PROSE.has(word.toLowerCase()))) return undefined;
  if (isScript(head)) return { command: line, sure: true };
  if (rest.length === 0) return ALONE.has(head) ? { command: line, sure: true } : undefined;
  if (WORDY.has(head)) return wordyCommand(line, head, rest);
  return PROGRAMS.has(head) ? { command: line, sure: isPlainly(rest) } : undefined;
}

/** Each plain word makes it less of a command: `npm run lint` is one, `git push failed` may be talk. */
function isPlainly([second = '', ...others]: readonly string[]): boolean {
  const plain = others.filter((word) => !isShellWord(word)).length;
  const takesName = /^(?:run|install|i|checkout|switch|logs|add|branch)$/.test(second);
  if (SUBCOMMANDS.has(second)) return plain === 0 || (plain === 1 && takesName);
  return isShellWord(second) ? plain < 2 : plain === 0 && others.length > 0;
}

function wordyCommand(line: string, head: string, rest: readonly string[]): SpokenCommand | undefined {
  const marked = rest.filter(isShellWord).length;
  if (head === 'make' || head === 'go')
    return rest.length === 1 && SUBCOMMANDS.has(rest[0] ?? '') ? { command: line, sure: true } : undefined;
  return marked === rest.length && (head !== 'find' || rest.some((word) => word.startsWith('-')))
    ? { command: line, sure: true }
    : undefined;
}

function isScript(word: string): boolean {
  return /^\.{0,2}\/[\w./-]+$|^[\w-]+\.(?:sh|py|js|ts|rb)$/.test(word);
}

/** A flag, path, quotation, variable or operator: nothing that prose has. */
function isShellWord(word: string): boolean {
  return (
    /^-{1,2}\w|^[$"']|^[\w.~-]*\/[\w.*~/-]*$|^[\w.*-]*\.[a-z]\w{0,5}$|[*|&<>=:@]|^\.$|^\d+$/i.test(word) &&
    !/[,;]$|^[<>]$/.test(word)
  );
}

const HEAD = String.raw`(?:^|[;&|(]\s*|\b(?:sudo|xargs|time|nohup|exec|env|do|then)\s+(?:-\S+\s+)*)`;
const DESTROYS: readonly (readonly [pattern: RegExp, what: string])[] = [
  [
    new RegExp(`${HEAD}(?:\\S*/)?(?:rm|rmdir|unlink|shred|trash|truncate|dd|mkfs\\S*|wipefs)(?:\\s|$)`),
    'deletes or overwrites data',
  ],
  [/\s-delete\b|\s--delete\b|\bxargs\b.*\b(?:rm|mv|sed|kill)\b|\s-exec\s+(?:rm|mv|sed)\b/, 'deletes files'],
  [/(?:^|[^0-9&>=-])>(?![>&]|\s*\/dev\/null|\()/, 'overwrites a file'],
  [new RegExp(`${HEAD}(?:mv|cp|install|rename|tee|rsync|patch|ln)(?:\\s|$)`), 'may overwrite files'],
  [/\b(?:sed|perl)\b.*\s(?:-\w*i\b|--in-place|-i\S*)|\bsort\b.*\s-o\b/, 'changes files in place'],
  [
    new RegExp(`${HEAD}(?:sudo|su|chmod|chown|umount|kill|pkill|killall|shutdown|reboot|halt)(?:\\s|$)`),
    'changes the machine or what runs on it',
  ],
  [
    /\bgit\s+(?:-\S+\s+)*(?:reset|clean|restore|rm|rebase|gc)\b|\bgit\s+(?:checkout|stash|branch|tag|remote)\b.*\s(?:--|\.|-f|-d|-D|drop|clear|remove|rm)(?:\s|$)|--amend\b/,
    'may lose changes',
  ],
  [
    /\bgit\s+push\b|\b(?:npm|yarn|pnpm|cargo|poetry|gem|twine)\s+(?:publish|upload|push)\b|\bdocker\s+push\b|\b(?:run|make)\s+\S*(?:deploy|release|publish)/,
    'sends something out',
  ],
  [
    new RegExp(
      `${HEAD}(?:scp|sftp|mail|mailx|sendmail)(?:\\s|$)|\\bcurl\\b.*\\s(?:-d|--data\\S*|-F|-T|-X\\s*(?:POST|PUT|DELETE|PATCH))\\b|\\bgh\\s+(?:pr|issue|release)\\s+(?:create|merge|close|delete)`,
    ),
    'sends something out',
  ],
  [
    /\b(?:docker|podman|kubectl|helm|terraform|compose|aws|gcloud)\b.*\s(?:rm|rmi|prune|kill|down|delete|destroy|apply|uninstall)\b/,
    'removes what runs elsewhere',
  ],
  [
    /\b(?:npm|pnpm|yarn|pip3?|cargo|apt|apt-get|brew|gem|dnf)\s+(?:uninstall|remove|rm|purge|autoremove|prune)\b|\bcrontab\s+-r\b/,
    'removes packages or jobs',
  ],
  [
    /\b(?:drop|truncate)\s+(?:table|database|schema)\b|\bdelete\s+from\b|\bupdate\s+\w+\s+set\b|\bdropdb\b|\bflush(?:all|db)\b/i,
    'changes a database',
  ],
  [/\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|\beval\b|\b(?:base64|xxd)\b.*\|/, 'runs what it does not show'],
  [/\bmake\s+(?:clean|distclean|uninstall)\b|\bnpm\s+run\s+clean\b/, 'deletes files'],
];

/** What it does that the owner should say yes to; undefined where nothing shows, or where the approval asks anyway. */
export function ownQuestion(command: string): string | undefined {
  return approvalAsks(command) ? undefined : destroys(command);
}

export function destroys(command: string): string | undefined {
  const plain = command.replace(/\\(.)|(?<=\w)["']|["'](?=\w+["']\w)/g, '$1');
  const found = DESTROYS.find(([pattern]) => pattern.test(plain) || pattern.test(plain.replaceAll(/["']/g, '')));
  return found?.[1] ?? (commandRisk(command, WITHIN).level === 'none' ? undefined : 'is risky');
}

const full = { home: '/home', exists: () => true, isFilled: (path: string) => !path.startsWith('/dev/') };
const WITHIN = { ...full, cwd: '/folder/of/the/session' };

/** Wherever the session works, if there is anything to be lost. */
export function approvalAsks(command: string): boolean {
  return [WITHIN, { ...full, cwd: '/' }].every((place) => commandRisk(command, place).level !== 'none');
}

const FORMS: readonly string[] = [
  '(run|execute|exec|do|launch|start|call) [the] [shell|terminal] command {command:rest}',
  '(run|execute|exec|launch) {command:rest}',
  '(start|call|use|try) {command:quoted}',
  'what does {command:quoted} (print|say|output|return|show|give)',
  'show [me] the output of {command:rest}',
];
const DELETE: readonly string[] = [
  '(delete|remove|erase|trash|get rid of|throw away) {gone:file}',
  '(delete|remove|erase|get rid of) {tree:folder}',
  '(delete|remove|erase) [it|that|this|something|a file|file] !command',
];
const AGAIN: readonly string[] = [
  '(run|do|execute|try) (it|that|this|[the|that] [last|previous|same] (command|one|thing)) (again|once more|one more time)',
  '(run|execute) the (last|previous|same) (command|one) [again]',
  '(again|rerun|!!|once more|repeat (it|that|[the] last command)|rerun (it|that|[the] last command))',
];
const OPEN: readonly string[] = ['(run|execute) [it|that|this|something|a command|command]'];
/** A bare command gives way to whatever was said in words. */
const BARE = 0.93;
const UNSURE = 0.5;

export const runRule: ReflexRule = {
  purpose: 'act',
  intent: 'run',
  effect: 'write',
  examples: ['run `git status`', '$ ls -la', 'execute ls -la'],

  match(input) {
    const verbatim = /^\s*[$!]\s+(\S.*)$/.exec(input.text)?.[1] ?? /^\s*!([^!\s].*)$/.exec(input.text)?.[1];
    if (verbatim !== undefined) return { score: 1, slots: { command: verbatim.trim() } };
    if (input.fit(AGAIN) !== undefined) return commandMatch(commandsRun(input.history)[0]);
    if (input.fit(OPEN) !== undefined) return commandMatch(undefined);
    const fit = input.fit(FORMS);
    return fit === undefined ? (deletion(input) ?? bare(input)) : spokenMatch(fit);
  },

  restate({ slots }) {
    const command = slots.command ?? '';
    return command.includes('`') ? `$ ${command}` : `run \`${command}\``;
  },

  missing(_match, input) {
    const before = commandsRun(input.history).slice(0, 3);
    const offered = before.length > 0 ? before : input.folder.scripts.slice(0, 3).map(({ command }) => command);
    const choices = (offered.length > 0 ? offered : ['git status', 'ls -la']).map((command) => `run \`${command}\``);
    return { type: 'ask', question: 'Run which command?', choices, fill: 'run {}' };
  },

  act: (match, input, results) => runStep(match.slots.command ?? '', { input, results, line: runRule.restate(match) }),
};

function deletion(input: ReflexInput): ReflexMatch | undefined {
  const fit = input.fit(DELETE);
  if (fit === undefined || fit.missing !== undefined) return fit;
  const { gone, tree = '' } = fit.slots;
  if (gone === SAME_FILE) return { ...fit, slots: {}, missing: 'command' };
  return { ...fit, slots: { command: gone === undefined ? `rm -r ${shellWord(tree)}` : `rm ${shellWord(gone)}` } };
}

function spokenMatch(fit: ReflexMatch): ReflexMatch | undefined {
  const command = (fit.slots.command ?? '').replace(/^(?:this|the following)(?: command)?:\s*/i, '');
  const quoted = /^(?:```\w*\n)?[`"]?(?<=[`"\n])([^`]+?)\n?[`"]+$/.exec(command)?.[1];
  const spoken = spokenCommand(quoted ?? command, quoted !== undefined || fit.slots['command.quoted'] !== undefined);
  return spoken && { score: spoken.sure ? fit.score : UNSURE, slots: { command: spoken.command } };
}

function commandMatch(command: string | undefined): ReflexMatch {
  return command === undefined ? { score: 1, slots: {}, missing: 'command' } : { score: 1, slots: { command } };
}

function bare({ words }: ReflexInput): ReflexMatch | undefined {
  const found = bareCommand(words);
  return found && { score: found.sure ? BARE : UNSURE, slots: { command: found.command } };
}

interface Running {
  readonly input: Pick<ReflexInput, 'confirmed'>;
  readonly results: readonly ToolResultPart[];
  /** What picks exactly this out of the question. */
  readonly line: string;
}

/** Asks where nobody else would, runs, and quotes. */
export function runStep(command: string, { input, results: [result], line }: Running): ReflexStep {
  if (result !== undefined) return quoteCommand(command, result);
  const what = input.confirmed ? undefined : ownQuestion(command);
  if (what === undefined) return { type: 'call', calls: [{ name: 'terminal', arguments: { command } }] };
  return { type: 'ask', question: `This ${what}: ${command}\nRun exactly that?`, choices: [line], confirms: true };
}

const KINDS: readonly (readonly [kind: string, forms: readonly string[], names: RegExp])[] = [
  [
    'tests',
    [
      '(run|execute|start|do|launch|rerun) [all] [of] [my|our] [all] [unit|project] (tests|test|specs|testsuite|test suite|test suites|testing) [suite] [again|here|of this project]',
      'test (it|this|everything|the project|my code|the code|the app|this project)',
      '(do|are|did) (the|my|our|all) tests (pass|work|passing|green|ok)',
      'tests',
    ],
    /^(?:unit-?)?tests?(?:[:-].*)?$|^spec$|^check$/i,
  ],
  [
    'build',
    [
      '(run|execute|start|do|launch|make) (the|a|my|our) [project] build',
      '(build|compile|rebuild) [it|this|everything|project|[the|my|our|this] (project|app|code|site|package|library)] [again|from scratch]',
      '(run|do|execute) build',
    ],
    /^(?:build|compile|bundle|dist|all)(?:[:-].*)?$/i,
  ],
  [
    'start',
    [
      '(start|launch|boot|run|fire up|bring up|serve) [my|our|this|up] [dev|development|local|web] (app|server|project|application|site|website|program|service) [up]',
      '(start|start it|start it up|launch it|serve)',
      '(start|run|launch) [the] (dev|dev server)',
    ],
    /^(?:start|dev|serve|run|server)(?:[:-].*)?$/i,
  ],
];
const NAMED: readonly string[] = [
  '(run|start|execute|do) [the] [npm|package|make|project] (script|target|task) [called|named] {script:name}',
  '(run|start|execute) {script:name} [script|target|task]',
];

export const scriptRule: ReflexRule = {
  purpose: 'act',
  intent: 'script',
  effect: 'write',
  examples: ['run the tests', 'build', 'start the app'],

  match(input) {
    const kind = KINDS.flatMap(([name, forms]) => {
      const fit = input.fit(forms);
      return fit === undefined ? [] : [{ score: fit.score, slots: { kind: name } }];
    })[0];
    if (kind !== undefined) return kind;
    const fit = input.fit(NAMED);
    const script = input.folder.scripts.find(({ name }) => name === fit?.slots.script);
    return fit && script && { score: fit.score, slots: { script: script.name } };
  },

  restate: ({ slots }) =>
    slots.script === undefined ? (RESTATED[slots.kind ?? ''] ?? '') : `run the script ${slots.script}`,

  act({ slots }, input, results) {
    const found = scriptsFor(slots, input.folder.scripts);
    const [only, ...more] = found;
    if (only === undefined) return nothingThere(slots.kind ?? '', input.folder.scripts);
    const line = `run \`${only.command}\``;
    if (more.length === 0) return runStep(only.command, { input, results, line });
    return {
      type: 'ask',
      question: `The project names ${found.length} of these:`,
      choices: found.slice(0, 4).map(({ command }) => `run \`${command}\``),
    };
  },
};

const RESTATED: Readonly<Record<string, string>> = {
  tests: 'run the tests',
  build: 'run the build',
  start: 'start the app',
};

/** One that has just the name of the kind stands for all that begin with it; of several files the first counts. */
function scriptsFor(
  { script, kind }: ReflexMatch['slots'],
  scripts: readonly ProjectScript[],
): readonly ProjectScript[] {
  if (script !== undefined) return scripts.filter(({ name }) => name === script).slice(0, 1);
  const names = KINDS.find(([name]) => name === kind)?.[2];
  const fitting = scripts.filter(({ name }) => names?.test(name) === true);
  const plain = fitting.find(({ name }) => name === kind || `${name}s` === kind);
  return plain === undefined ? fitting : [plain];
}

function nothingThere(kind: string, scripts: readonly ProjectScript[]): ReflexStep {
  const there = scripts.slice(0, 8).map(({ command, file }) => `${command} (${file})`);
  const text = `No project file here names a command for: ${kind}.`;
  return {
    type: 'say',
    text: there.length === 0 ? `${text} Spell it out: run \`…\`.` : `${text} There is: ${there.join(', ')}.`,
  };
}
