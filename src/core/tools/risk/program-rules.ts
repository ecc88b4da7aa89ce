// Owns the rules of programs whose danger depends on what they are pointed at: rm, chmod, kill, dd, mkfs, find, git refs, crontab.
// Knows the path rules and nothing of shells. Invariant: an unknown target counts as a dangerous one.
import { ask, type Call, copyOperands, type Finding, flagsOf, hasFlag, never, operandsOf } from './finding.ts';
import { isHarmlessDevice, isRawDevice, isVitalFolder } from './path-rules.ts';
import { type Target, targetOf } from './place.ts';

type Rule = (call: Call) => readonly Finding[];

const RULES: Readonly<Record<string, Rule>> = {
  rm: remove,
  rmdir: removeFolder,
  unlink: remove,
  rimraf: removeTree,
  'del-cli': removeTree,
  trash: removeTree,
  chmod: changeMode,
  chown: changeOwner,
  chgrp: changeOwner,
  chattr: changeOwner,
  kill: killProcess,
  dd: copyBlocks,
  find: findActions,
  fd: fdActions,
  git: gitRefs,
  crontab: editCrontab,
  mv: moveFiles,
  docker: mountRoot,
  podman: mountRoot,
  tar: removeSources,
  aws: deleteInCloud,
  gcloud: deleteInCloud,
  az: deleteInCloud,
};

export function programFindings(call: Call): readonly Finding[] {
  if (/^mkfs(?:\.|$)|^newfs|^mke2fs$/.test(call.program)) return makeFileSystem(call);
  const rule = Object.hasOwn(RULES, call.program) ? RULES[call.program] : undefined;
  return rule?.(call) ?? [];
}

function targetsOf(call: Call): readonly Target[] {
  return operandsOf(call).map((word) => targetOf(word, call.place));
}

function isVital(call: Call): (target: Target) => boolean {
  return ({ path }) => path !== undefined && isVitalFolder(path, call.place);
}

function targetKey(call: Call): string {
  return operandsOf(call)
    .map((word) => (word.certain ? (targetOf(word, call.place).path ?? word.text) : word.text))
    .join(' ');
}

function remove(call: Call): readonly Finding[] {
  const recursive = hasFlag(call, '-r', '-R', '--recursive');
  const targets = targetsOf(call);
  if (recursive && targets.some(isVital(call))) return [never('deletes a folder that the system or the account needs')];
  if (hasFlag(call, '--no-preserve-root')) return [never('deletes a folder that the system or the account needs')];
  if (recursive) return [ask('deletes files recursively', `rm -r ${targetKey(call)}`)];
  const wide = operandsOf(call).some(({ glob }) => glob);
  if (targets.some((target) => target.contents && isVital(call)(target)))
    return [never('deletes the files of a folder that the system or the account needs')];
  if (wide) return [ask('deletes all files that match a pattern', `rm ${targetKey(call)}`)];
  if (call.openEnded)
    return [ask('deletes files whose names are only known when it runs', `${call.program} from input`)];
  if (targets.some(({ certain }) => !certain))
    return [ask('deletes files whose names are only known when it runs', `rm ${targetKey(call)}`)];
  return [];
}

function removeTree(call: Call): readonly Finding[] {
  if (targetsOf(call).some(isVital(call))) return [never('deletes a folder that the system or the account needs')];
  return [ask('deletes files recursively', `${call.program} ${targetKey(call)}`)];
}

function removeFolder(call: Call): readonly Finding[] {
  return targetsOf(call).some(isVital(call)) ? [never('removes a folder that the system or the account needs')] : [];
}

function changeMode(call: Call): readonly Finding[] {
  const recursive = hasFlag(call, '-R', '--recursive');
  const [mode, ...words] = operandsOf(call);
  const text = mode?.text ?? '';
  const targets = words.map((word) => targetOf(word, call.place));
  if (recursive && targets.some(isVital(call)))
    return [never('changes the permissions of the whole system or account')];
  if (recursive) return [ask('changes permissions recursively', `chmod -R ${text} ${targetKey(call)}`)];
  if (/^[0-7]{0,3}[2367]$/.test(text) || /[ao][^,]*\+[^,]*w/.test(text)) {
    return [ask('lets everybody write', `chmod ${text} ${targetKey(call)}`)];
  }
  if (/\+[^,]*s/.test(text) || /^[2467][0-7]{3}$/.test(text))
    return [ask("lets others run it with its owner's rights", `chmod ${text} ${targetKey(call)}`)];
  return [];
}

function changeOwner(call: Call): readonly Finding[] {
  if (!hasFlag(call, '-R', '--recursive')) return [];
  const targets = operandsOf(call)
    .slice(1)
    .map((word) => targetOf(word, call.place));
  if (targets.some(isVital(call))) return [never('changes the owner of the whole system or account')];
  return [ask('changes owners recursively', `${call.program} -R ${targetKey(call)}`)];
}

function killProcess(call: Call): readonly Finding[] {
  const words = call.args.map(({ text }) => text);
  if (words.includes('-l') || words.includes('-L')) return [];
  const last = words.at(-1);
  const everybody =
    last === '-1' && (words.length === 1 || words.some((word, i) => i < words.length - 1 && word !== ''));
  if (everybody || operandsOf(call).some(({ text }) => text === '1')) return [never('ends every process')];
  const hard =
    words.some((word) => /^-(?:9|KILL|SIGKILL)$/i.test(word)) ||
    /(?:^| )(?:-s|-n|--signal)[ =]?(?:9|SIGKILL|KILL)\b/i.test(words.join(' '));
  if (hard)
    return [
      ask(
        'ends processes without letting them finish',
        `kill -9 ${operandsOf(call)
          .map(({ text }) => text)
          .join(' ')}`,
      ),
    ];
  return call.openEnded ? [ask('ends processes that are only known when it runs', 'kill from input')] : [];
}

function copyBlocks(call: Call): readonly Finding[] {
  const out = call.args.find(({ text }) => text.startsWith('of='));
  const path = out ? targetOf({ ...out, text: out.text.slice(3) }, call.place).path : undefined;
  if (path !== undefined && isRawDevice(path)) return [never('writes onto a disk')];
  if (out === undefined || (path !== undefined && isHarmlessDevice(path))) return [];
  return [ask('writes blocks over a file', `dd ${out.text}`)];
}

function makeFileSystem(call: Call): readonly Finding[] {
  if (call.args.length === 0 || call.args.every(({ text }) => /^(?:-V|--version|-h|--help)$/.test(text))) return [];
  const targets = targetsOf(call);
  const onFile = targets.every(({ path, certain }) => certain && path !== undefined && !path.startsWith('/dev/'));
  return onFile ? [ask('formats a file as a disk', `${call.program} ${targetKey(call)}`)] : [never('formats a disk')];
}

const FIND_TESTS =
  /^-(?:i?name|i?path|i?regex|i?wholename|newer.*|[acm]time|[acm]min|size|type|empty|user|group|perm|maxdepth|mindepth)$/;

const DELETERS = /^(?:\S*\/)?(?:rm|shred|unlink|rmdir)$/;

/** Actions of find that delete; programs behind -exec are looked at as commands of their own. */
function findActions(call: Call): readonly Finding[] {
  const words = call.args.map(({ text }) => text);
  const deletes =
    words.includes('-delete') ||
    words.some((word, i) => /^-(?:exec|execdir)$/.test(word) && DELETERS.test(words[i + 1] ?? ''));
  if (!deletes) return [];
  const roots = call.args.slice(
    0,
    Math.max(
      0,
      words.findIndex((word) => word.startsWith('-') || word === '(' || word === '!'),
    ),
  );
  const targets = roots.map((word) => targetOf(word, call.place));
  const filtered = words.some((word) => FIND_TESTS.test(word));
  if (!filtered && targets.some(isVital(call))) return [never('deletes a folder that the system or the account needs')];
  return [ask('deletes every file that it finds', `find ${roots.map(({ text }) => text).join(' ')} -delete`)];
}

function fdActions(call: Call): readonly Finding[] {
  const text = call.args.map((word) => word.text).join(' ');
  return /(?:-x|-X|--exec|--exec-batch) (?:\S*\/)?(?:rm|shred|unlink)\b/.test(text)
    ? [ask('deletes every file that it finds', `fd ${text}`)]
    : [];
}

function gitRefs(call: Call): readonly Finding[] {
  const words = operandsOf(call).map(({ text }) => text);
  const at = words.findIndex((word) => word === 'push' || word === 'checkout');
  const verb = words[at];
  const rest = words.slice(at + 1);
  if (verb === 'push' && rest.some((word) => /^[+:]/.test(word))) {
    return [ask('rewrites or deletes what others have', `git push ${rest.join(' ')}`)];
  }
  const steers = call.args.find(({ text }, i) => steersGit(text, call.args[i + 1]?.text ?? ''));
  if (steers) return [ask('changes what git runs by itself', `git ${call.args.map(({ text }) => text).join(' ')}`)];
  const discards = verb === 'checkout' && (call.args.some(({ text }) => text === '--') || rest.includes('.'));
  return discards ? [ask('throws uncommitted work away', `git checkout -- ${rest.join(' ')}`)] : [];
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

function editCrontab(call: Call): readonly Finding[] {
  return hasFlag(call, '-l') && !hasFlag(call, '-r')
    ? []
    : [ask('changes what runs by itself', `crontab ${[...flagsOf(call)].join(' ')}`)];
}

/** Moving a vital folder away is as bad as deleting it; moving onto something replaces it. */
function moveFiles(call: Call): readonly Finding[] {
  const { operands, folder } = copyOperands(call);
  const targets = [...operands, ...(folder ? [folder] : [])].map((word) => targetOf(word, call.place));
  const sources = targets.slice(0, -1);
  if (sources.some(isVital(call))) return [never('moves a folder away that the system or the account needs')];
  const last = operands.at(-1);
  const path = targets.at(-1)?.path;
  const intoFolder =
    folder || last?.text.endsWith('/') || last?.text === '.' || last?.text === '..' || sources.length > 1;
  if (intoFolder || path === undefined || hasFlag(call, '-n', '--no-clobber') || !call.place.exists(path)) return [];
  return [ask('may replace what is already there', `mv onto ${path}`)];
}

function mountRoot(call: Call): readonly Finding[] {
  const mounts = call.args.map(({ text }, i) =>
    ['-v', '--volume', '--mount'].includes(text) ? (call.args[i + 1]?.text ?? '') : text,
  );
  const whole = mounts.find((text) =>
    /^(?:-v|--volume=)?(?:\/|\/etc|\/root|\/var\/run\/docker\.sock):|source=\/(?:etc)?,/.test(text),
  );
  const destroys = call.args.find(({ text }) => /^(?:\S*\/)?(?:rm|mkfs\S*|dd|shred|wipefs)$/.test(text));
  if (destroys && operandsOf(call)[0]?.text === 'exec')
    return [ask('deletes inside a container', `${call.program} ${call.args.map(({ text }) => text).join(' ')}`)];
  return whole ? [ask('gives a container the machine', `${call.program} ${whole}`)] : [];
}

function removeSources(call: Call): readonly Finding[] {
  const runs = call.args.find(({ text }) => /^--(?:to-command|checkpoint-action=exec|use-compress-program)/.test(text));
  if (runs) return [ask('starts other commands', `tar ${runs.text}`)];
  return hasFlag(call, '--remove-files') ? [ask('deletes the files that it packs', 'tar --remove-files')] : [];
}

function deleteInCloud(call: Call): readonly Finding[] {
  const words = operandsOf(call).map(({ text }) => text);
  const verb = words.find((word) => /^(?:delete|terminate|destroy|purge|remove)(?:-|$)/.test(word));
  return verb ? [ask('deletes something in the cloud', `${call.program} ${words[0]} ${verb}`)] : [];
}
