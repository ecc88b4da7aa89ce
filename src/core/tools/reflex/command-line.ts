// Owns what in a line is a command for the shell, and whether reflex has to ask before it: what deletes, overwrites or sends and is not
// asked about by the approval anyway. Knows no rule. Invariant: prose is never taken for a command; doubt is a question.
import { commandRisk } from '../risk/command-risk.ts';

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
