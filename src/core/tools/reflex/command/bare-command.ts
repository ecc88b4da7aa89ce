// Owns the recognition of a line that is nothing but a command: `git status`, `npm run lint`, `rm old.txt`.
// Invariant: a sentence is never taken for one; where English and a program share a word, the arguments must show the command.
import { isProgram, isWordyProgram } from './command-names.ts';
import { readCommand } from './read-command.ts';

const SUBCOMMANDS = new Set(
  'status log diff show branch branches fetch pull push add commit checkout switch stash blame tag remote rebase merge reset clean restore clone init config rev-parse ls-files shortlog reflog bisect worktree submodule cherry-pick revert describe grep mv rm run test tests install i ci start build publish pack audit outdated update upgrade uninstall remove exec create dev lint serve link list ls ps images compose up down logs inspect stop kill restart prune system volume network container image get apply delete rollout scale top port-forward plan destroy validate fmt check vet mod doc bench add-apt-repository search info freeze version versions env doctor deploy preview typecheck format prettier coverage watch migrate makemigrations runserver shell sync lock tree cache login logout whoami view open pr issue repo release auth export import enable disable reload daemon-reload is-active new generate g d console routes db route:list compile package verify clippy fix'.split(
    ' ',
  ),
);
/** Programs that make sense alone. */
const ALONE = new Set(
  'ls ll la pwd df du ps htop btop uptime whoami hostname uname env printenv ifconfig pytest jest vitest mocha eslint tsc tox lsblk id date cal dmesg neofetch make tree lsof netstat ss tig gitui lazygit ruff mypy nvidia-smi'.split(
    ' ',
  ),
);

export function bareCertainty(line: string): number {
  const words = line
    .trim()
    .replace(/"[^"]*"|'[^']*'/g, (quoted) => `"${'q'.repeat(Math.min(quoted.length, 3))}"`)
    .replace(/^(?:[A-Z_]+=\S+\s+)+/, '')
    .split(/\s+/);
  const [head = '', second = '', ...rest] = words;
  if (head === 'sudo') return bareCertainty(words.slice(1).join(' '));
  const program = isProgram(head) || /^\.{0,2}\/[\w./-]+$/.test(head);
  if (!program || /[?!]$|\n/.test(line)) return 0;
  if (second === '') return ALONE.has(head) || /.\//.test(head) ? 0.9 : 0;
  const { command, certainty } = readCommand(line);
  if (command !== line.trim()) return 0;
  return isWordyProgram(head) ? wordyCertainty(words, certainty) : plainCertainty(second, rest, certainty);
}

/** Each plain word makes it less of a command: `npm run lint` is one, `npm install takes ages` is talk. */
function plainCertainty(second: string, rest: readonly string[], certainty: number): number {
  const words = [second, ...rest];
  if (words.some((word) => TALK.test(word))) return 0;
  const verbs = GROUPS.test(second) && SUBCOMMANDS.has(rest[0] ?? '') ? 1 : 0;
  const plain = rest.slice(verbs).filter((word) => !isShellWord(word)).length;
  if (words.some(isShellWord)) return plain > 4 ? certainty * DOUBT : certainty;
  if (!SUBCOMMANDS.has(second)) return 0;
  return plain > 1 ? certainty * DOUBT : certainty;
}

/** Subcommands that take one of their own: `git remote show origin`. */
const GROUPS =
  /^(?:remote|stash|submodule|worktree|compose|system|volume|network|container|image|repo|pr|issue|release|auth|config|bisect)$/;
/** Enough to ask, too little to run. */
const DOUBT = 0.6;
/** Words that tell about a command. */
const TALK =
  /^(?:fails?|failed|failing|pass|passes|passed|works?|worked|working|hangs?|hung|breaks?|broke|broken|takes?|took|crash(?:es|ed)?|rocks|sucks|does|did|needs?|seems?|looks|says|said|gives|gave|throws|threw|complains|helps|hurts|finished|stopped|slow|slowly|fast|great|bad|good|better|best|wrong|rejected|tutorial|basics|cheatsheet|alternatives?|vs|versus)[.,!]?$/i;

/** Words that no argument of such a program is: `find typos in README.md`, `test it thoroughly`. */
const PROSE = /^(?:in|from|for|with|to|and|the|my|of|on|into|by|[a-z]{3,}ly)$/;

const WITH_SUBCOMMANDS = /^(?:make|go|gem|rake|mix|bundle|apt|flask|next)$/;
/** Subcommands that make plain English of such a name: `bundle up`, `go open`, `next stop`. */
const ADVERBS =
  /^(?:up|down|open|view|search|shell|new|i|g|d|info|stop|issue|watch|pull|push|exec|kill|list|show|help)$/;

/** `make` and `find` are English too: few words, or a flag right after them. */
function wordyCertainty([head = '', second = '', ...rest]: readonly string[], certainty: number): number {
  if (rest.some((word) => PROSE.test(word))) return certainty * DOUBT;
  if (head === 'man' && rest.length === 0 && isProgram(second) && !isWordyProgram(second)) return certainty;
  if (isNumber(second) && !rest.some(isMark)) return rest.length === 0 ? certainty * DOUBT : 0;
  if (isShellWord(second)) return isFollowedByProse(rest) ? certainty * DOUBT : certainty;
  return isOrdered(head, second, rest) ? certainty : 0;
}

/** `make test`, `go build ./cmd`: a subcommand of its own, or a flag a little later. */
function isOrdered(head: string, second: string, rest: readonly string[]): boolean {
  if (rest.length < 4 && rest.some((word) => /^-{1,2}\w/.test(word))) return true;
  return SUBCOMMANDS.has(second) && WITH_SUBCOMMANDS.test(head) && !ADVERBS.test(second) && rest.length < 3;
}

/** `make src/app.ts faster`: plain words and no flag. */
function isFollowedByProse(rest: readonly string[]): boolean {
  return rest.some((word) => /^[a-z]{3,}$/i.test(word)) && !rest.some(isMark);
}

function isNumber(word: string): boolean {
  return /^\d+$/.test(word);
}

/** A number is said in prose too: `test 1 2 3`. */
function isMark(word: string): boolean {
  return isShellWord(word) && !isNumber(word);
}

/** A flag, path, quotation, variable or operator: nothing that prose has. */
function isShellWord(word: string): boolean {
  return (
    /^-{1,2}\w|^["'`$]|^[\w.~-]*\/[\w.*~/-]*$|^[\w.*-]*\.[a-z]\w{0,5}$|[*|&<>=]|^\.$|^\d+$/i.test(word) &&
    !/[,;:]$/.test(word)
  );
}
