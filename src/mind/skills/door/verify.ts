// Owns asking the verifiers of one write that is in place (curator notes 11.3), and the verifier that is a command of the owner's.
// Invariants: nobody is asked after a failure; a state counts only when it is, after all were asked, byte for byte the one that was put in
// place. A command gets the variables that the caller gives and no others; when its word is known, every process of its group is gone; it
// passes only by ending itself with 0; behind walls it sees a copy.

import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import { randomHex } from '#base/ids.ts';
import { type ProcessRequest, type ProcessResult, runProcess } from '#base/process.ts';
import { redactSecrets } from '#base/secrets.ts';
import type { Walls } from '#core/tools/walls/walls.ts';
import { SKILL_FILE } from '../format/skill-text.ts';
import type { Verifier, VerifierRequest, VerifierResult, VerifyReport } from '../skill.ts';
import { MANIFEST_FILE } from './backup.ts';
import type { Commit } from './door-parts.ts';
import { changesBetween, hashOfSkillFile, hashSkillTree, readSkillTree, type SkillTree, textOf } from './skill-tree.ts';

/** Name of the stage that says so. */
const UNCHANGED = 'folder-unchanged';
const SHOWN = 5;

/** `backup` is the absolute folder of the backup. */
export async function askVerifiers(commit: Commit, backup: string): Promise<Asked> {
  const asked = await runVerifiers(commit.verifiers, requestOf(commit, backup));
  const drift = driftOf(commit);
  if (drift === undefined) return asked;
  const failure = `${UNCHANGED}: ${drift}`;
  // What a verifier said of it first is the better reason.
  const stage = { name: UNCHANGED, passed: false, exit_code: 1, output: drift };
  const stages = [...(asked.verify.stages ?? []), stage];
  if (!asked.passed) return { ...asked, failure: `${asked.failure}; ${failure}`, verify: { ...asked.verify, stages } };
  const verify = { ...asked.verify, passed: false, exit_code: 1, output: drift, stages, failed_stage: UNCHANGED };
  return { passed: false, failure, verify };
}

/** Says in the refusal and in the stage where the change that somebody made meanwhile lies now. */
export function namingArchive({ passed, failure, verify }: Asked, archive: string): Asked {
  const where = `; ${keptText(archive)}`;
  const stages = (verify.stages ?? []).map((stage) =>
    stage.name === UNCHANGED ? { ...stage, output: stage.output + where } : stage,
  );
  const output = verify.failed_stage === UNCHANGED ? verify.output + where : verify.output;
  return { passed, failure: failure + where, verify: { ...verify, stages, output } };
}

export function keptText(archive: string): string {
  return `what stood there then is kept in ${archive}`;
}

function requestOf({ folder, before, after }: Commit, backup: string): VerifierRequest {
  const text = (tree: SkillTree | undefined) => textOf(tree?.get(SKILL_FILE)) ?? null;
  const originalHash = hashOfSkillFile(before);
  return {
    path: folder,
    before: text(before),
    after: text(after),
    backupPath: originalHash === null ? null : join(backup, SKILL_FILE),
    manifestPath: join(backup, MANIFEST_FILE),
    originalHash,
    newHash: hashOfSkillFile(after),
  };
}

function driftOf({ folder, after }: Commit): string | undefined {
  const now = readSkillTree(folder);
  if (!now.ok) return now.detail;
  if (hashSkillTree(now.value) === hashSkillTree(after)) return undefined;
  const paths = changesBetween(after, now.value).map(({ path }) => path);
  const more = paths.length > SHOWN ? ' …' : '';
  return `the skill was changed while it was checked: ${paths.slice(0, SHOWN).join(', ')}${more}`;
}

export interface Asked {
  readonly passed: boolean;
  /** For the manifest. */
  readonly verify: VerifyReport;
  /** `<name>: <detail>` of the stage that failed. */
  readonly failure: string;
}

const OUTPUT = 4_000;

/** Never half a character, and no key that a command printed. */
function lastPart(text: string): string {
  return Array.from(redactSecrets(text.slice(-4 * OUTPUT).toWellFormed()))
    .slice(-OUTPUT)
    .join('');
}

export async function runVerifiers(verifiers: readonly Verifier[], request: VerifierRequest): Promise<Asked> {
  const stages: NonNullable<VerifyReport['stages']>[number][] = [];
  for (const verifier of verifiers) {
    const { passed, detail, exitCode = passed ? 0 : 1 } = await verifier.verify(request);
    stages.push({ name: verifier.name, passed, exit_code: exitCode, output: lastPart(detail) });
    if (!passed) break;
  }
  const failed = stages.find(({ passed }) => !passed);
  return {
    passed: failed === undefined,
    failure: failed === undefined ? '' : `${failed.name}: ${failed.output}`,
    verify: {
      enabled: true,
      passed: failed === undefined,
      exit_code: failed?.exit_code ?? 0,
      output: (failed ?? stages.at(-1))?.output ?? '',
      staged: true,
      stages,
      ...(failed ? { failed_stage: failed.name } : {}),
    },
  };
}

const TIMEOUT_MS = 300_000;
const TIMED_OUT = 124;
const NOT_STARTED = 125;
const SIGNALLED = 128;
/** Enough for 4,000 characters of four bytes. */
const TAIL_BYTES = 20_000;
/** A verifier has nothing to say that is longer. */
const MAX_BYTES = 64 * 1_048_576;

/** Both streams become one in the order in which they were written; the command's own lines keep their numbers. */
const WRAPPER = 'exec 2>&1; eval "set --; $1"';

/** Never throws for what the command does. */
export function commandVerifier(options: {
  /** Of the stage: `verify-command`. */
  readonly name: string;
  /** For the system's shell. */
  readonly command: string;
  /** Default: the skill's folder. */
  readonly cwd?: string;
  /** Default 300,000. */
  readonly timeoutMs?: number;
  /** The whole environment besides the five variables of the change; default: none. Leave out what is secret. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  /** Ends a command that runs; the change is then taken back. */
  readonly signal?: AbortSignal;
  /** Where they can be built, the command runs behind them, without a network. What it checks may have been written by a stranger. */
  readonly walls?: Walls;
}): Verifier {
  const { name, command, walls, timeoutMs = TIMEOUT_MS, clock, signal = new AbortController().signal } = options;
  const processOf = (request: VerifierRequest): ProcessRequest => ({
    argv: ['/bin/sh', '-c', WRAPPER, 'sh', command],
    cwd: options.cwd ?? standingFolder(request.path),
    env: { PYTHONDONTWRITEBYTECODE: '1', ...options.env, ...variablesOf(request) },
    limits: { timeoutMs, headBytes: 0, tailBytes: TAIL_BYTES, maxBytes: MAX_BYTES },
    ...(clock ? { clock } : {}),
  });
  return {
    name,
    verify: async (request) => {
      const isEnclosed = walls?.state().kind === 'walls';
      if (!isEnclosed) return resultOf(await runProcess(processOf(request), signal), timeoutMs);
      const run = (copied: VerifierRequest, folder: string) => runEnclosed(walls, processOf(copied), folder, signal);
      return resultOf(await withCopy(request, run), timeoutMs);
    },
  };
}

/** The skill lies in the agent's own home, which no wall opens: what the command needs of it is copied to where it may look. */
async function withCopy<T>(
  request: VerifierRequest,
  use: (copied: VerifierRequest, folder: string) => Promise<T>,
): Promise<T> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'talaria-verify-')));
  const copy = (path: string, below: string) => {
    const to = join(folder, below, basename(path));
    mkdirSync(dirname(to));
    if (existsSync(path)) cpSync(path, to, { recursive: true });
    return to;
  };
  try {
    const backupPath = request.backupPath === null ? null : copy(request.backupPath, 'backup');
    const copied = {
      path: copy(request.path, 'skill'),
      manifestPath: copy(request.manifestPath, 'manifest'),
      backupPath,
    };
    return await use({ ...request, ...copied }, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function runEnclosed(
  walls: Walls,
  process: ProcessRequest,
  folder: string,
  signal: AbortSignal,
): Promise<ProcessResult> {
  const sessionId = `verify-${randomHex(6)}`;
  const openings = process.cwd.startsWith(`${folder}/`) ? [] : [{ kind: 'read' as const, path: process.cwd }];
  try {
    const enclosed = await walls.enclose(process, { sessionId, folder, openings, askHost: async () => false });
    const done = await runProcess(enclosed.request, signal);
    await enclosed.settle({ output: done.output.text, failed: done.exitCode !== 0 });
    return done;
  } finally {
    await walls.endSession(sessionId);
  }
}

/** A deleted skill has no folder. */
function standingFolder(path: string): string {
  return existsSync(path) ? path : dirname(path);
}

function variablesOf(request: VerifierRequest): Readonly<Record<string, string>> {
  return {
    HERMES_CURATOR_TARGET_PATH: join(request.path, SKILL_FILE),
    HERMES_CURATOR_BACKUP_PATH: request.backupPath ?? '',
    HERMES_CURATOR_MANIFEST_PATH: request.manifestPath,
    HERMES_CURATOR_ORIGINAL_SHA256: request.originalHash ?? '',
    HERMES_CURATOR_NEW_SHA256: request.newHash ?? '',
  };
}

function resultOf(done: ProcessResult, timeoutMs: number): VerifierResult {
  const exitCode = exitCodeOf(done);
  const why = reasonOf(done, timeoutMs);
  const output = done.output.text;
  const isOver = output === '' || output.endsWith('\n');
  const detail = why === undefined ? output : `${output}${isOver ? '' : '\n'}${why}`;
  return { passed: done.ended === 'exit' && exitCode === 0, detail, exitCode };
}

function exitCodeOf({ ended, exitCode, signal }: ProcessResult): number {
  if (ended === 'timeout') return TIMED_OUT;
  if (ended === 'not-started') return NOT_STARTED;
  const isStopped = ended === 'aborted' || ended === 'too-much-output';
  if (exitCode !== undefined && !(isStopped && exitCode === 0)) return exitCode;
  return SIGNALLED + constants.signals[signal ?? 'SIGTERM'];
}

function reasonOf({ ended, error, signal }: ProcessResult, timeoutMs: number): string | undefined {
  switch (ended) {
    case 'timeout':
      return `[ended after ${timeoutMs.toLocaleString('en-US')} ms]`;
    case 'not-started':
    case 'lost':
      return error ?? 'the command could not be started';
    case 'aborted':
      return '[stopped from outside]';
    case 'too-much-output':
      return '[ended: too much output]';
    case 'exit':
      return signal === undefined ? undefined : `[ended by ${signal}]`;
  }
}
