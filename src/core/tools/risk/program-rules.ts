// Owns the rules of programs whose danger depends on what they are given: targets (rm, chmod, dd, find, git refs) and code for another
// interpreter (shells, eval, one-liners, SQL). Text that a shell will run is handed back. Knows no lexer.
// Invariants: an unknown target counts as a dangerous one; code that nobody can see needs an answer.

import { HARMLESS_DEVICE, RAW_DEVICE } from '../walls/places.rules.ts';
import {
  argumentText,
  ask,
  type Call,
  copyOperands,
  deletes,
  type Finding,
  hasFlag,
  knownInput,
  never,
  operandsOf,
  pipeSources,
} from './call.ts';
import type { ShellWord } from './lex-word.ts';
import { absolutePath, isInWorkspace, isVitalFolder, type Target, targetOf } from './place.ts';
import { staysInFolder, verbWords } from './verb.rules.ts';

type Rule = (call: Call) => readonly Finding[];

const RULES: readonly (readonly [program: RegExp, rule: Rule])[] = [
  [/^(?:rm|unlink)$/, remove],
  [/^(?:shred|srm|wipe|truncate)$/, (call) => loses(call, operandsOf(call), 'destroys what is in files')],
  [/^rmdir$/, (call) => (targetsOf(call).some(isVital(call)) ? [never(`removes ${VITAL}`)] : [])],
  [/^(?:rimraf|del-cli|trash)$/, removeTree],
  [/^(?:chmod|chown|chgrp|chattr)$/, changeTree],
  [/^kill$/, killProcess],
  [/^dd$/, copyBlocks],
  [/^find$/, findActions],
  [/^git$/, gitRefs],
  [/^crontab$/, (call) => (hasFlag(call, '-l') && !hasFlag(call, '-r') ? [] : [ask('changes what runs by itself')])],
  [/^mv$/, moveFiles],
  [/^rsync$/, syncFolders],
  [/^tar$/, removeSources],
  [/^(?:aws|gcloud|az)$/, deleteInCloud],
  [/^mkfs(?:\.|$)|^newfs|^mke2fs$/, makeFileSystem],
];

export function programFindings(call: Call): readonly Finding[] {
  return RULES.find(([name]) => name.test(call.program))?.[1](call) ?? [];
}

function targetsOf(call: Call): readonly Target[] {
  return operandsOf(call).map((word) => targetOf(word, call.place));
}

function isVital({ place }: Call): (target: Target) => boolean {
  return ({ path }) => path !== undefined && (isVitalFolder(path, place) || isVitalFolder(place.real(path), place));
}

const VITAL = 'a folder that the system or the account needs';

/** Deleting at `words`: what is surely the session's own is lost unasked, inside walls, where it is known what that is. */
function loses(call: Call, words: readonly ShellWord[], reason: string): readonly Finding[] {
  const { place } = call;
  const targets = words.map((word) => targetOf(word, place));
  const isKnown = !call.openEnded && targets.every(({ certain, path }) => certain && path !== undefined);
  const isOwn = ({ path }: Target) => path !== undefined && place.isOld?.(path) === false;
  if (isKnown && words.every(({ glob }) => !glob) && targets.every(isOwn)) return [];
  const isInside = ({ path }: Target) => isInWorkspace(path, place);
  return [deletes(reason, isKnown && targets.every(isInside))];
}

function remove(call: Call): readonly Finding[] {
  const words = operandsOf(call);
  const targets = targetsOf(call);
  const isWide = hasFlag(call, '-r', '-R', '--recursive');
  if (hasFlag(call, '--no-preserve-root') || (isWide && targets.some(isVital(call))))
    return [never(`deletes ${VITAL}`)];
  if (isWide) return loses(call, words, 'deletes files recursively');
  if (targets.some((target) => target.contents && isVital(call)(target)))
    return [never(`deletes the files of ${VITAL}`)];
  if (words.some(({ glob }) => glob)) return loses(call, words, 'deletes all files that match a pattern');
  if (call.openEnded || targets.some(({ certain }) => !certain))
    return loses(call, words, 'deletes files whose names are only known when it runs');
  const isOld = ({ path = '' }: Target) => call.place.isOld?.(path) === true;
  return targets.some(isOld) ? loses(call, words, 'deletes what was there before this session') : [];
}

function removeTree(call: Call): readonly Finding[] {
  if (targetsOf(call).some(isVital(call))) return [never(`deletes ${VITAL}`)];
  return loses(call, operandsOf(call), 'deletes files recursively');
}

function changeTree(call: Call): readonly Finding[] {
  if (!hasFlag(call, '-R', '--recursive')) return [];
  const targets = targetsOf(call).slice(1);
  if (targets.some(isVital(call))) return [never('changes permissions or owner of the whole system or account')];
  const isSure = ({ path, certain }: Target) => certain && isInWorkspace(path, call.place);
  const reach = !call.openEnded && targets.every(isSure) ? 'folder' : 'beyond';
  return [ask('changes permissions or owners recursively', reach)];
}

function killProcess(call: Call): readonly Finding[] {
  const words = call.args.map(({ text }) => text);
  if (words.includes('-l') || words.includes('-L')) return [];
  const everybody =
    words.at(-1) === '-1' && (words.length === 1 || words.some((word, i) => i < words.length - 1 && word !== ''));
  if (everybody || operandsOf(call).some(({ text }) => text === '1')) return [never('ends every process')];
  const isHard = /(?:^| )(?:-|(?:-s|-n|--signal)[ =]?)(?:9|SIGKILL|KILL)(?: |$)/i.test(words.join(' '));
  if (isHard) return [ask('ends processes without letting them finish')];
  return call.openEnded ? [ask('ends processes that are only known when it runs')] : [];
}

function copyBlocks(call: Call): readonly Finding[] {
  const out = call.args.find(({ text }) => text.startsWith('of='));
  const word = out && { ...out, text: out.text.slice(3) };
  const path = word ? targetOf(word, call.place).path : undefined;
  if (path !== undefined && RAW_DEVICE.test(path)) return [never('writes onto a disk')];
  if (word === undefined || (path !== undefined && HARMLESS_DEVICE.test(path))) return [];
  return loses(call, [word], 'writes blocks over a file');
}

function makeFileSystem(call: Call): readonly Finding[] {
  if (call.args.length === 0 || call.args.every(({ text }) => /^(?:-V|--version|-h|--help)$/.test(text))) return [];
  const onFile = targetsOf(call).every(
    ({ path, certain }) => certain && path !== undefined && !path.startsWith('/dev/'),
  );
  return onFile ? loses(call, operandsOf(call), 'formats a file as a disk') : [never('formats a disk')];
}

/** Tests that leave most of a folder alone; `-type f` does not. */
const FIND_TESTS =
  /^-(?:i?name|i?path|i?regex|i?wholename|newer.*|[acm]time|[acm]min|size|empty|user|group|perm|maxdepth)$/;

const DELETERS = /^(?:\S*\/)?(?:rm|shred|unlink|rmdir)$/;

/** Actions of find that delete; programs behind -exec are looked at as commands of their own. */
function findActions(call: Call): readonly Finding[] {
  const words = call.args.map(({ text }) => text);
  const isRun = (word: string, i: number) => /^-(?:exec|execdir)$/.test(word) && DELETERS.test(words[i + 1] ?? '');
  if (!words.includes('-delete') && !words.some(isRun)) return [];
  const end = words.findIndex((word) => /^-(?![HLPOD])|^[(!]$/.test(word));
  const roots = call.args.slice(0, Math.max(0, end)).filter(({ text }) => !text.startsWith('-'));
  const targets = roots.map((word) => targetOf(word, call.place));
  const isFiltered = words.some((word) => FIND_TESTS.test(word));
  if (!isFiltered && targets.some(isVital(call))) return [never(`deletes ${VITAL}`)];
  const isInside = ({ path, certain }: Target) => certain && isInWorkspace(path, call.place);
  const isSure = targets.length === 0 ? isInWorkspace(call.place.cwd, call.place) : targets.every(isInside);
  return [deletes('deletes every file that it finds', isSure)];
}

function gitRefs(call: Call): readonly Finding[] {
  const [{ text: verb } = { text: '' }, ...rest] = verbWords(call);
  if (verb === 'push' && rest.some(({ text }) => /^[+:]/.test(text)))
    return [ask('rewrites or deletes what others have', 'network')];
  if (call.args.some(({ text }, i) => steersGit(text, call.args[i + 1]?.text ?? '')))
    return [ask('changes what git runs by itself')];
  const reads = rest.length < 2 || rest[0]?.text === 'get' || hasFlag(call, '--get', '--get-all', '--get-regexp');
  const isFar = verb === 'config' && hasFlag(call, '--global', '--system');
  if (isFar && (!reads || hasFlag(call, '--unset-all', '--remove-section', '--edit', '-e')))
    return [ask('writes outside the working folder')];
  const discards = verb === 'checkout' && (call.args.some(({ text }) => text === '--') || namesPaths(rest, call));
  return discards ? [deletes('throws uncommitted work away', staysInFolder(call))] : [];
}

/** Is one of these words behind `checkout` a path, or may it become one? Also where a branch has the name. */
function namesPaths(words: readonly ShellWord[], call: Call): boolean {
  if (hasFlag(call, '-b', '-B', '--orphan', '--detach')) return false;
  const folder = hasFlag(call, '-C') && call.args[call.args.findIndex(({ text }) => text === '-C') + 1];
  const base = folder ? { ...call.place, cwd: targetOf(folder, call.place).path } : call.place;
  const isPath = ({ certain, text }: ShellWord) =>
    !certain || /^:|^\.$|[*?[]/.test(text) || base.exists(absolutePath(text, base) ?? '/');
  return words.some(isPath) || hasFlag(call, '--pathspec-from-file');
}

/** `core.pager=…` behind `-c`, or `core.pager …` behind `config`; plain pagers are harmless. */
function steersGit(text: string, next: string): boolean {
  const found =
    /^(?:core\.(?:pager|editor|sshcommand|hookspath|fsmonitor|askpass)|alias\.[\w-]+|(?:diff|filter|merge)\.[\w-]+\.\w+)(?:=(.*))?$/is.exec(
      text,
    );
  const value = found ? (found[1] ?? next) : '';
  return value !== '' && !/^(?:cat|less|true|vi|vim|nano|[a-z][\w -]*)$/i.test(value);
}

/** Moving a vital folder away is as bad as deleting it. */
function moveFiles(call: Call): readonly Finding[] {
  const { operands, folder } = copyOperands(call);
  const sources = (folder ? operands : operands.slice(0, -1)).map((word) => targetOf(word, call.place));
  return sources.some(isVital(call)) ? [never(`moves away ${VITAL}`)] : [];
}

function syncFolders(call: Call): readonly Finding[] {
  const flags = ['--delete', '--delete-after', '--delete-before', '--delete-during', '--delete-excluded'];
  if (!hasFlag(call, ...flags, '--remove-source-files')) return [];
  if (targetsOf(call).slice(-1).some(isVital(call))) return [never(`deletes ${VITAL}`)];
  return loses(call, operandsOf(call), 'deletes files that the source does not have');
}

function removeSources(call: Call): readonly Finding[] {
  if (call.args.some(({ text }) => /^--(?:to-c|checkpoint-a|use-c)/.test(text))) return [ask('starts other commands')];
  return hasFlag(call, '--remove-files') ? loses(call, operandsOf(call), 'deletes the files that it packs') : [];
}

function deleteInCloud(call: Call): readonly Finding[] {
  const isEnd = ({ text }: ShellWord) => /^(?:delete|terminate|destroy|purge|remove)(?:-|$)/.test(text);
  return operandsOf(call).some(isEnd) ? [ask('deletes something in the cloud', 'network')] : [];
}

export interface CodeVerdict {
  readonly findings: readonly Finding[];
  /** Texts that a shell will run: to be looked at like the command itself. */
  readonly scripts: readonly string[];
}

const NOTHING: CodeVerdict = { findings: [], scripts: [] };
export const SHELLS = /^(?:sh|bash|zsh|dash|ksh|ash|fish|rbash|mksh|csh|tcsh)$/;
const FETCHERS = /^(?:curl|wget|fetch|aria2c|https?|lynx|nc)$/;
export const INTERPRETERS =
  /^(?:python[\d.]*|pypy3?|perl|ruby|node|nodejs|tsx|ts-node|bun|deno|php|lua|tclsh|Rscript|osascript|awk|gawk|mawk)$/;
const EDITORS = /^(?:g?vim|nvim|vi|ex|ed|emacs|g?sed)$/;
const DATABASES = /^(?:psql|mysql|mariadb|sqlite3|sqlcmd|duckdb|clickhouse-client|mongosh?|cqlsh|bq|snowsql)$/;
const UNKNOWN_CODE = 'runs code that is only known when it runs';

export function judgeCode(call: Call, asRoot: boolean): CodeVerdict {
  const { program } = call;
  if (SHELLS.test(program)) return judgeShell(call, asRoot);
  if (program === 'eval') return runText(call.args);
  if (program === 'source' || program === '.')
    return call.args[0]?.text.startsWith('<(') ? { findings: [ask(UNKNOWN_CODE)], scripts: [] } : NOTHING;
  if (program === 'su') return judgeOther(call);
  if (program === 'trap' || program === 'watch') return runText(operandsOf(call).slice(0, 1));
  if (program === 'alias') return { findings: [], scripts: call.args.map(({ text }) => text.replace(/^[\w.-]+=/, '')) };
  if (program === 'ssh') return { findings: [], scripts: [remoteCommand(call)] };
  const judge = LANGUAGES.find(([name]) => name.test(program))?.[1];
  return judge ? { findings: judge(call), scripts: [] } : NOTHING;
}

const LANGUAGES: readonly (readonly [name: RegExp, judge: (call: Call) => readonly Finding[]])[] = [
  [EDITORS, judgeEditor],
  [INTERPRETERS, judgeOneLiner],
  [DATABASES, judgeSql],
];

/** Everything after the host. */
function remoteCommand(call: Call): string {
  const host = operandsOf(call)[0];
  return argumentText({ args: host ? call.args.slice(call.args.indexOf(host) + 1) : [] });
}

function judgeShell(call: Call, asRoot: boolean): CodeVerdict {
  const at = call.args.findIndex(({ text }) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(text));
  if (at >= 0)
    return runText(
      call.args
        .slice(at + 1)
        .filter(({ text }) => !text.startsWith('-'))
        .slice(0, 1),
    );
  const file = operandsOf(call)[0];
  if (file?.text.startsWith('<(')) return { findings: [unreadCode(call, asRoot)], scripts: [] };
  if (file && !hasFlag(call, '-s')) return NOTHING;
  const text = knownInput(call.command);
  if (text !== undefined) return { findings: [], scripts: [text] };
  return call.command.pipedFrom ? { findings: [unreadCode(call, asRoot)], scripts: [] } : NOTHING;
}

function unreadCode(call: Call, asRoot: boolean): Finding {
  const isFetched = pipeSources(call.command).some((name) => FETCHERS.test(name));
  if (isFetched && asRoot) return never('runs code from the network with the rights of root');
  return ask(isFetched ? 'runs code from the network unseen' : 'runs what another command prints, unseen');
}

function runText(words: readonly ShellWord[]): CodeVerdict {
  const findings = words.every(({ certain }) => certain) ? [] : [ask(UNKNOWN_CODE)];
  return { findings, scripts: words.length === 0 ? [] : [argumentText({ args: words })] };
}

function judgeOther(call: Call): CodeVerdict {
  const at = call.args.findIndex(({ text }) => text === '-c' || text === '--command');
  const script = at < 0 ? undefined : call.args[at + 1];
  return { findings: [ask('runs with the rights of another user')], scripts: script ? [script.text] : [] };
}

/** Deletes, starts other commands, or hides what it does: in any of the languages that are given on a command line. */
const TELLING =
  /\b(?:unlink|rmSync|rmdir|rmtree|remove_tree|rm_rf?|removedirs|File\.delete|FileUtils|os\.remove|fs\.rm|move|truncate|write_text|writeFile|file_put_contents|chmod|chown)|\.rm\(|\bopen\([^)]{0,200}['"][wa]b?\+?['"]|\b(?:subprocess|[pP]open|child_process|execSync|spawn|shell_exec|os\.exec|do shell script)|\b(?:os\.|Kernel\.)?(?:system|exec|qx|eval)\s*[({"'`]|%x[{(]|b64decode|\batob\b|fromhex|unhexlify|base64_decode|decode64|marshal\.loads|fromCharCode|\bpack\s*\(/;

/** Editors can start commands: `vim -c ':!…'`, `sed '1e …'`. */
function judgeEditor(call: Call): readonly Finding[] {
  const pattern = call.program.endsWith('sed') ? /^[\d,$]*e\s/ : /!|system\(|shell-command|eval/;
  return call.args.some(({ text }) => pattern.test(text)) ? [ask('starts other commands')] : [];
}

function judgeOneLiner(call: Call): readonly Finding[] {
  if (call.args[0]?.text.startsWith('<(')) return [unreadCode(call, false)];
  const isInline =
    hasFlag(call, '-c', '-e', '-E', '-r', '--eval', '-p', '--print') || /awk$|osascript|deno|bun/.test(call.program);
  const input = knownInput(call.command);
  const readsPipe = call.command.pipedFrom && operandsOf(call).every(({ text }) => text === '-') && !isInline;
  if (readsPipe && input === undefined) return [unreadCode(call, false)];
  const code = `${isInline ? argumentText(call) : ''}\n${input ?? ''}`;
  const isOpen =
    isInline && call.args.some(({ certain, text }) => !certain && (/^[$`]\(?…/.test(text) || TELLING.test(text)));
  if (isOpen) return [ask(UNKNOWN_CODE)];
  return TELLING.test(code) ? [ask('runs code that may delete files, start commands or hide what it does')] : [];
}

const DESTRUCTIVE_SQL =
  /\b(?:drop\s+(?:table|database|schema|index|view|user|role|collection)|truncate\s+(?:table\s+)?\w|alter\s+table\s+\S+\s+drop|dropDatabase|\.drop\(|deleteMany\(\s*\{\s*\}|grant\s+all)\b/i;
const EVERY_ROW = /\b(?:delete\s+from|update\s+\S+\s+set)\b/i;

function judgeSql(call: Call): readonly Finding[] {
  const text = `${argumentText(call)}\n${knownInput(call.command) ?? ''}`;
  const isLocal = /^(?:sqlite3|duckdb)$/.test(call.program);
  const isBad =
    DESTRUCTIVE_SQL.test(text) || text.split(';').some((part) => EVERY_ROW.test(part) && !/\bwhere\b/i.test(part));
  if (!isBad) return [];
  return isLocal
    ? [deletes('drops or empties parts of a database', false)]
    : [ask('drops or empties parts of a database', 'network')];
}
