// Owns the rules of programs whose danger depends on what they are pointed at: rm, chmod, kill, dd, mkfs, find, git refs, crontab.
// Knows the path rules and nothing of shells. Invariant: an unknown target counts as a dangerous one.
import type { ShellWord } from '../shell/shell-script.ts';
import { HARMLESS_DEVICE, RAW_DEVICE } from '../walls/places.rules.ts';
import { ask, type Call, copyOperands, deletes, type Finding, hasFlag, never, operandsOf } from './finding.ts';
import { isVitalFolder } from './path-rules.ts';
import { absolutePath, isInWorkspace, type Target, targetOf } from './place.ts';
import { staysInFolder, verbWords } from './verb-rules.ts';

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
