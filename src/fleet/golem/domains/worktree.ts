// Owns a golem's own worktree of a repository: making and finding it, taking in what the checkout commits, keeping or taking back what was
// done. Knows no test and no walls. Invariants: of the owner's repository only objects, this worktree's metadata and the branch `golem/NAME` are
// ever written, and nothing is pushed; git runs by arguments, without hooks, and there only in the folder that it was opened for.
import { existsSync, lstatSync, rmSync, symlinkSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { TalariaError } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { findOnPath } from '#base/paths/typed-path.ts';
import { runProcess } from '#base/process.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { oneLine } from '#base/text.ts';
import { realPath } from '#core/tools/files/file-access.ts';
import { factsOf, walkFolder } from '#core/tools/files/walk-folder.ts';
import { isWithin } from '#core/tools/risk/place.ts';
import { textOf } from '#core/tools/walls/git-folders.ts';
import { type EnclosedPlace, plainVariables } from './enclosed.ts';

export interface WorktreePlace {
  /** A checkout, or a folder in it. */
  readonly repository: string;
  /** Of the golem. */
  readonly name: string;
  /** Folder of the worktree; made when it is missing. */
  readonly worktree: string;
  readonly env: EnclosedPlace['env'];
}

/** Folders that a worktree borrows of its checkout, where git ignores them. */
export const DEPENDENCIES = ['node_modules', '.venv', 'vendor'];
const MOST_FILES = 10_000;
const GIT_MS = 120_000;
/** None of the owner's settings may run a program, write beside what is wanted, or move other branches. */
const SETTINGS = [
  ...['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'commit.gpgsign=false', 'gc.auto=0'],
  ...['maintenance.auto=false', 'rebase.updateRefs=false', 'rebase.autoStash=false', 'rerere.enabled=false'],
].flatMap((setting) => ['-c', setting]);

export type CheckoutRefusal = 'no-repository' | 'bare-repository' | 'dirty-checkout' | 'git-failed';

/**
 * Looks, and changes nothing. `top` is the checkout's uppermost folder; `open` gives a worktree at its HEAD, or the one that is there as its
 * last commit left it, and throws TalariaError `git-failed`, as the worktree's members do.
 */
export async function findCheckout(
  place: WorktreePlace,
): Promise<Result<{ readonly top: string; readonly open: () => Promise<Worktree> }, CheckoutRefusal>> {
  const { repository, worktree, name } = place;
  const git = createGit(place, repository);
  const asked = ['--is-bare-repository', '--absolute-git-dir', '--git-common-dir', '--show-toplevel'];
  const found = await git('rev-parse', ...asked);
  const [isBare, gitDir = '', common = '', top = ''] = found.out.split('\n');
  if (isBare === 'true') return refuse('bare-repository', `${repository} is a bare repository: name a checkout of it.`);
  const isNone = !existsSync(repository) || /not a git repository|run in a work tree/.test(found.detail);
  if (!found.isOk) return refuse(isNone ? 'no-repository' : 'git-failed', `${repository}: ${found.detail}`);
  const ref = `refs/heads/golem/${name}`;
  const branch = (await git('for-each-ref', '--format=%(refname) %(worktreepath)', ref)).out;
  const [path, at] = [realPath(worktree), branch.slice(ref.length + 1)];
  if (existsSync(at) && realPath(at) !== path) return refuse('git-failed', `golem/${name} is checked out in ${at}.`);
  const head = await git('rev-parse', '-q', '--verify', 'HEAD^{commit}');
  if (!head.isOk) return refuse('git-failed', `${top} has no commit yet.`);
  const apart = isWithin(path, top) ? [`:(exclude,top)${relative(top, path)}`] : [];
  const changes = await git('status', '--porcelain', '--', ':(top)', ...apart);
  const isNew = branch === '';
  if (isNew && !(changes.isOk && changes.out === ''))
    return refuse('dirty-checkout', `${top} has changes that are not committed, which the golem would not see.`);
  const opening = { ...place, top, gitDir, common: resolve(repository, common), path, isNew };
  return ok({ top, open: () => openWorktree(opening) });
}

type Git = ReturnType<typeof createGit>;

/** Its commands are short, and not aborted: half a rebase helps nobody. */
function createGit({ repository, worktree, name, env }: WorktreePlace, cwd: string, own: EnclosedPlace['env'] = {}) {
  const program = findOnPath('git', env.PATH, [repository, worktree]) ?? 'git';
  const [who, address] = [`golem ${name}`, 'golem@localhost'];
  const all = {
    ...{ ...plainVariables(env), GIT_OPTIONAL_LOCKS: '0', GIT_EDITOR: 'true', LC_ALL: 'C' },
    ...{ GIT_AUTHOR_NAME: who, GIT_AUTHOR_EMAIL: address, GIT_COMMITTER_NAME: who, GIT_COMMITTER_EMAIL: address },
    ...own,
  };
  return async (...args: readonly string[]) => {
    let out = '';
    const onOutput = (chunk: string, stream: 'out' | 'err') => {
      if (stream === 'out') out += chunk;
    };
    const request = { argv: [program, ...SETTINGS, ...args], cwd, env: all, onOutput, limits: { timeoutMs: GIT_MS } };
    const { ended, exitCode, error, output } = await runProcess(request, new AbortController().signal);
    const detail = oneLine(`git ${args[0]}: ${error ?? output.text}`, 500);
    return { isOk: ended === 'exit' && exitCode === 0, out: out.trim(), detail };
  };
}

async function needed(asked: ReturnType<Git>): Promise<string> {
  const { isOk, out, detail } = await asked;
  if (!isOk) throw failed(detail);
  return out;
}

function failed(detail: string): TalariaError {
  return new TalariaError(detail, { code: 'git-failed', fix: 'Look at the repository with git, then start it again.' });
}

interface Opening extends WorktreePlace {
  readonly top: string;
  /** Git's folder of the checkout, and the one that all worktrees share. */
  readonly gitDir: string;
  readonly common: string;
  /** Of the worktree, without links. */
  readonly path: string;
  /** There is no branch of it yet. */
  readonly isNew: boolean;
}

async function openWorktree(opening: Opening): Promise<Worktree> {
  const { top, common, path, name, isNew } = opening;
  const outside = createGit(opening, top);
  const branch = `golem/${name}`;
  const wasThere = existsSync(join(path, '.git'));
  const which = isNew ? ['--no-track', '-b', branch, path, 'HEAD'] : [path, branch];
  // Twice forced: also where one that is gone was registered, or locked.
  if (!wasThere) await needed(outside('worktree', 'add', '-q', '--force', '--force', ...which));
  const own = await needed(createGit(opening, path)('rev-parse', '--absolute-git-dir'));
  if (!isWithin(own, join(common, 'worktrees')) || (wasThere && isNew))
    throw failed(`${path} is no worktree of ${top} on ${branch}`);
  // Told where it works: without its own `.git` it would take the repository around it.
  const git = createGit(opening, path, { GIT_DIR: own, GIT_WORK_TREE: path });
  const linked = await linkDependencies(opening, outside);
  const worktree = createWorktree(opening, linked, git, outside);
  if (!wasThere) return worktree;
  // The process that last worked here may have been killed.
  rmSync(join(own, 'index.lock'), { force: true });
  await git('rebase', '--abort');
  await needed(git('checkout', '-q', '--force', branch));
  await worktree.undo();
  return worktree;
}

/** Names of those that git ignores: a link is nothing that its rules for folders name. */
async function linkDependencies({ top, path }: Opening, git: Git): Promise<readonly string[]> {
  const linked: string[] = [];
  for (const name of DEPENDENCIES) {
    const [from, to] = [join(top, name), join(path, name)];
    if (!existsSync(from) || !(await git('check-ignore', '-q', name)).isOk) continue;
    if (lstatSync(to, { throwIfNoEntry: false }) === undefined) symlinkSync(realPath(from), to);
    if (lstatSync(to).isSymbolicLink()) linked.push(name);
  }
  return linked;
}

export type Worktree = ReturnType<typeof createWorktree>;

/** @param outside git in the checkout */
function createWorktree({ path, top, common, gitDir }: Opening, linked: readonly string[], git: Git, outside: Git) {
  /** The commit of the checkout that its own commits stand on, as far as that is known. */
  let base: string | undefined;
  /** To its last commit; what git ignores stays. */
  const undo = async (): Promise<void> => {
    await needed(git('reset', '-q', '--hard'));
    await needed(git('clean', '-ffdq', ...linked.flatMap((name) => ['-e', `/${name}`])));
  };
  return {
    path,
    undo,
    /** Absolute places outside that its commands read: git's folder, linked dependencies. */
    reads: [common, ...linked.map((name) => realPath(join(top, name)))],
    /** The commit that the checkout stands at. Starts a process only where files do not say. */
    async head(): Promise<string> {
      const text = textOf(join(gitDir, 'HEAD')).trim();
      const ref = /^ref: (\S+)$/.exec(text)?.[1];
      const id = ref === undefined ? text : textOf(join(common, ref)).trim();
      return /^[0-9a-f]{40,64}$/.test(id) ? id : needed(outside('rev-parse', 'HEAD'));
    },
    /** Takes in that commit; what was not committed here is gone. Gives why its own commits do not go on top of it. */
    async follow(head: string): Promise<string | undefined> {
      await undo();
      const shared = await git('merge-base', 'HEAD', head);
      base ??= shared.isOk ? shared.out : head;
      if ((await git('merge-base', '--is-ancestor', 'HEAD', head)).isOk)
        await needed(git('reset', '-q', '--hard', head));
      else if (!(await git('rebase', '-q', '--onto', head, base)).isOk) {
        await git('rebase', '--abort');
        await undo();
        return `its own commits conflict with ${head.slice(0, 12)} of the checkout, and stay where they were`;
      }
      base = head;
      return undefined;
    },
    /** Another one after a change of a file that git would take. */
    async mark(signal: AbortSignal): Promise<string> {
      const seen: string[] = [];
      for await (const file of walkFolder(path, {}, signal)) {
        const facts = await factsOf(file.path);
        if (seen.push(`${file.name} ${facts?.mode} ${facts?.size} ${facts?.mtimeMs}`) === MOST_FILES) break;
      }
      return sha256(seen.join('\n'));
    },
    /** All that changed but linked dependencies, if anything did. */
    async commit(message: string): Promise<void> {
      // What cannot be added, as a repository without a commit, is left where it is.
      await git('add', '-A', '--ignore-errors', '--', '.');
      if (linked.length > 0) await needed(git('rm', '-q', '--cached', '--ignore-unmatch', '--', ...linked));
      const isSame = (await git('diff', '--cached', '--quiet')).isOk;
      if (!isSame) await needed(git('commit', '-q', '--no-verify', '-m', message));
    },
    /** The branch stays. */
    async remove(): Promise<void> {
      await needed(outside('worktree', 'remove', '--force', '--force', path));
    },
  };
}
