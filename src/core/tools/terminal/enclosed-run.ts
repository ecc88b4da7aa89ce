// Owns running one command inside walls: what it meets is asked for, one wall at a time, and it runs again with that one open; and what becomes
// of what steers later runs, where it was planted, or opened among foreign words. Knows no shell and no way to build walls. Invariants: a wall
// opens for this call alone, unless the answer was remembered; what the owner did not see and allow is taken away, or put back as it was.
import { cpSync, lstatSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { errorText } from '#base/errors.ts';
import type { ProcessRequest, ProcessResult } from '#base/process.ts';
import { ellipsize, oneLine } from '#base/text.ts';
import type { ToolContext } from '#core/agent/tool.ts';
import { isHarmlessConfig } from '../walls/git-folders.ts';
import { moveAway } from '../walls/kept-steering.ts';
import type { Enclosed, Met, Opening, Walls } from '../walls/walls.ts';
import { isFailed, plainOutput } from './command-output.ts';
import {
  againNote,
  closedNote,
  createWallDesk,
  isAskedAnew,
  openingKey,
  openingWords,
  type WallDesk,
} from './openings.ts';
import { plantedWords } from './planted-files.ts';

interface EnclosedRun {
  readonly walls: Walls;
  readonly command: string;
  readonly request: ProcessRequest;
  readonly context: ToolContext;
  /** Opened before: for this session, for good. */
  readonly opened: readonly Opening[];
  readonly execute: (request: ProcessRequest) => Promise<ProcessResult>;
}

interface EnclosedEnd {
  readonly result: ProcessResult;
  readonly notes: readonly string[];
}

const MOST_ROUNDS = 3;

export async function runEnclosed(run: EnclosedRun): Promise<EnclosedEnd> {
  const { walls, command, context, request } = run;
  const desk = createWallDesk(command, context);
  const openings = [...run.opened];
  const notes: string[] = [];
  /** The last run that did its work but for one wall. */
  let well: ProcessResult | undefined;
  for (let round = 1; ; round += 1) {
    const askHost = (host: string) => desk.mayOpen({ kind: 'host', host });
    const enclosure = { sessionId: context.sessionId, folder: context.cwd, openings: [...openings], askHost };
    const enclosed = await walls.enclose(request, enclosure);
    const opened = keepOpened(openings, context);
    const result = await executed(run, enclosed);
    const failed = isFailed(command, result);
    let met: Met;
    try {
      met = await enclosed.settle({ output: result.output.text, failed });
      notes.push(...met.notes, ...(await keepOrRemove(met, desk, context)));
    } finally {
      notes.push(...(await opened.settle(desk)));
    }
    const wanted = result.ended === 'exit' && round <= MOST_ROUNDS ? nextWall(met, openings, desk) : undefined;
    const ended = afterWell(result, failed ? well : undefined);
    if (!wanted || !(await desk.mayOpen(wanted, enclosed.isShared)))
      return { ...ended, notes: [...notes, ...ended.notes, ...desk.refused().map(closedNote)] };
    well = failed ? well : result;
    openings.push(wanted);
    notes.push(againNote(command, wanted));
    context.progress(`\n[again, with leave to ${openingWords(wanted)}]\n`);
  }
}

/** A command that counts as running for ever would keep what it had from being bound anew. */
async function executed({ execute }: EnclosedRun, { request, settle }: Enclosed): Promise<ProcessResult> {
  try {
    return await execute(request);
  } catch (error) {
    await settle({ output: '', failed: true });
    throw error;
  }
}

/** What was done already fails when it runs again: the run before counts, and both are told. */
function afterWell(result: ProcessResult, well: ProcessResult | undefined): EnclosedEnd {
  if (!well || result.ended !== 'exit') return { result, notes: [] };
  const said = ellipsize(oneLine(plainOutput(result.output.text)), 300);
  return { result: well, notes: [`[then it ended with exit ${result.exitCode}: ${said}]`] };
}

/** The most telling one that was neither opened nor refused. */
function nextWall(met: Met, openings: readonly Opening[], desk: WallDesk): Opening | undefined {
  const known = new Set([...openings, ...desk.refused()].map(openingKey));
  return met.openings.find((opening) => !known.has(openingKey(opening)));
}

async function keepOrRemove(met: Met, desk: WallDesk, context: ToolContext): Promise<readonly string[]> {
  const { planted } = met;
  if (planted.length === 0) return [];
  let notes: readonly string[] = [];
  let isAllowed = false;
  try {
    isAllowed = await desk.mayStay(planted);
  } finally {
    // Also where the question ends without an answer.
    if (isAllowed) met.fate?.stays();
    else notes = [removedNote(met, (path) => relative(context.cwd, path))];
  }
  return notes;
}

/** Out of reach of what runs later, and not lost; where the owner had something, that stands there again. */
export function removedNote(
  { planted, fate }: Pick<Met, 'planted' | 'fate'>,
  nameOf: (path: string) => string = (path) => path,
): string {
  const done: Record<'taken' | 'gone' | 'put back' | 'not kept' | 'left', string[]> = {
    ...{ taken: [], gone: [], 'put back': [], 'not kept': [], left: [] },
  };
  const left: string[] = [];
  let trash = '';
  planted.forEach((path, index) => {
    try {
      trash ||= mkdtempSync(join(tmpdir(), 'talaria-removed-'));
      // Names may be as long as names can be.
      const isTaken = moveAway(path, join(trash, `${index}-${basename(path).slice(-60)}`));
      const was = fate?.putBack(path) ?? 'nothing';
      if (was === 'done') done['put back'].push(nameOf(path));
      else if (was === 'not kept') done['not kept'].push(nameOf(path));
      else done[isTaken ? 'taken' : 'gone'].push(nameOf(path));
    } catch (error) {
      left.push(path);
      done.left.push(`${nameOf(path)} (${errorText(error)})`);
    }
  });
  fate?.decided(left);
  const why = 'since they steer what runs later and the owner did not allow them';
  const said = [
    [done.taken, `taken away, ${why}`, `; kept in ${trash}`],
    [done['put back'], `put back as they were, ${why}`, `; what was written is kept in ${trash}`],
    [done['not kept'], `taken away, and too large to be put back as they were, ${why}`, `; kept in ${trash}`],
    [done.gone, `not there any more, ${why}`, ''],
    [done.left, `STILL THERE, though ${why.slice(6)}`, '; no command runs in this folder until they are removed'],
  ] as const;
  return said
    .flatMap(([names, what, end]) => (names.length > 0 ? [`[${what}: ${names.join(', ')}${end}]`] : []))
    .join('\n');
}

interface Kept {
  readonly path: string;
  readonly mark: string;
  /** A copy; absent where there was nothing. */
  readonly copy?: string;
}

/** As it was before. `settle`, once, when the command has ended: asks about the words that it wrote. */
function keepOpened(openings: readonly Opening[], context: ToolContext) {
  const opened = openings.filter((opening) => isAskedAnew(opening, context));
  const paths = opened.flatMap((opening) => (opening.kind === 'write' ? steeringOf(opening.path) : []));
  if (paths.length === 0) return { settle: async (): Promise<readonly string[]> => [] };
  const folder = mkdtempSync(join(tmpdir(), 'talaria-opened-'));
  const kept = paths.map((path, at): Kept => {
    const { mark } = plantedWords([path], context.cwd);
    const copy = join(folder, String(at));
    return copied(path, copy) ? { path, mark, copy } : { path, mark };
  });
  return {
    async settle(desk: WallDesk): Promise<readonly string[]> {
      const isChanged = ({ path, mark }: Kept) => plantedWords([path], context.cwd).mark !== mark;
      const changed = kept.filter((one) => isChanged(one) && !isPlainGit(one));
      const names = changed.map(({ path }) => path);
      // Also where the question ends without an answer.
      let isAllowed = names.length === 0;
      try {
        isAllowed ||= await desk.mayStay(names);
      } finally {
        if (!isAllowed) for (const one of changed) putBack(one);
        rmSync(folder, { recursive: true, force: true });
      }
      return isAllowed
        ? []
        : [`[put back as it was, since the owner did not allow what was written there: ${names.join(', ')}]`];
    },
  };
}

const OF_GIT = 'config config.worktree commondir hooks info modules worktrees'.split(' ');

/** Of git's folder what it reads and runs by itself: what is pushed lies in the rest. */
function steeringOf(path: string): readonly string[] {
  const isFolder = (name: string) => statSync(join(path, name), { throwIfNoEntry: false })?.isDirectory() === true;
  const isGit = /\.git$/.test(path) && isFolder('objects') && isFolder('refs');
  return isGit ? OF_GIT.map((name) => join(path, name)) : [path];
}

/** A remote or a branch more: nothing that runs. */
function isPlainGit({ path }: Kept): boolean {
  return basename(path) === 'config' && /\.git$/.test(dirname(path)) && isHarmlessConfig(path);
}

function putBack({ path, copy }: Kept): void {
  rmSync(path, { recursive: true, force: true });
  if (copy !== undefined) copied(copy, path);
}

function copied(from: string, to: string): boolean {
  if (lstatSync(from, { throwIfNoEntry: false }) === undefined) return false;
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  return true;
}
