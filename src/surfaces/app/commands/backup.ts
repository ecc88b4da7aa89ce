// Owns `backup`, `restore` and `repair`: a home as one file, that file as a home, and what the owner can choose when state.db is damaged. Knows
// archives and files through backup/ only. Invariant: nothing is repaired that another process has open, or that is whole, but by a copy that
// the owner names; what stood there is kept, whatever is chosen.

import { resolve } from 'node:path';
import { z } from 'zod';
import { instant, isoTime } from '#base/clock.ts';
import { errorCode, TalariaError } from '#base/errors.ts';
import { plural } from '#base/text.ts';
import {
  type AnyCommand,
  type CommandOutput,
  defineCommand,
  type Failure,
  failed,
  line,
  refused,
} from '#core/agent/command-spec.ts';
import type { StateCopy } from '../backup/repair-state.ts';
import { isEmptyHome } from '../home/home.ts';
import type { CommandDeps } from './command-deps.ts';

export function backupCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'backup',
    summary: 'Write the home into one file; keys stay out unless asked for',
    surfaces: ['cli'],
    positional: ['file'],
    input: z.object({
      file: z.string().optional().describe('File to write; default talaria-<date>.tar.gz in this folder'),
      withSecrets: z.boolean().default(false).describe('Take .env along'),
    }),
    examples: ['talaria backup', 'talaria backup ~/talaria.tar.gz --with-secrets'],
    async *run({ file, withSecrets }, context): AsyncGenerator<CommandOutput> {
      if (isEmptyHome(deps.home)) {
        yield failed('home-empty', `${deps.home.root} holds nothing yet.`, 'Talk to talaria first.');
        return;
      }
      const { writeBackup } = await import('../backup/write-backup.ts');
      const target = resolve(context.cwd, file ?? defaultName(deps.clock.now()));
      const report = await writeBackup(deps.home, { file: target, withSecrets }, context.signal);
      yield line(`${report.file} (${report.files.length} files, ${report.bytes} bytes)`);
      const leftOut = [...report.leftOut, ...(await providerData(deps.home.config))];
      for (const reason of leftOut) yield line(`left out: ${reason}`);
      yield { type: 'data', value: { ...report, leftOut, withSecrets } };
    },
  });
}

/** An external provider lives in the program that brings it; its paths are not known here. A config that is broken names none. */
async function providerData(path: string): Promise<readonly string[]> {
  const { loadConfig } = await import('../home/config.ts');
  const loaded = await loadConfig(path).catch((error: unknown) => {
    if (errorCode(error)?.startsWith('config-')) return undefined;
    throw error;
  });
  const name = loaded?.config.memory.provider ?? '';
  return name === '' ? [] : [`what the memory provider ${name} keeps outside the home (back it up by its own means)`];
}

function defaultName(now: number): string {
  return `talaria-${instant(now).replace(' ', '-').replaceAll(':', '')}.tar.gz`;
}

export function restoreCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'restore',
    summary: 'Bring a backup back as the home',
    surfaces: ['cli'],
    positional: ['file'],
    input: z.object({
      file: z.string().describe('File that `talaria backup` wrote'),
      force: z.boolean().default(false).describe('Move a home that is not empty aside first'),
    }),
    examples: ['talaria restore talaria-2026-01-15-120000.tar.gz'],
    async *run({ file, force }, context): AsyncGenerator<CommandOutput> {
      const { restoreBackup } = await import('../backup/restore-backup.ts');
      const options = { file: resolve(context.cwd, file), force, clock: deps.clock };
      const restored = await restoreBackup(deps.home, options, context.signal);
      if (!restored.ok) {
        yield restored.reason === 'no-such-file'
          ? failed(restored.reason, restored.detail)
          : refused(restored.reason, restored.detail, 'Nothing was changed.');
        return;
      }
      const { home, files, movedTo, keptSecrets } = restored.value;
      yield line(`${home} (${files.length} files)`);
      if (movedTo) yield line(`the home that was there is now ${movedTo}`);
      if (keptSecrets) yield line('the backup has no keys; those of the old home were taken over');
      yield { type: 'data', value: { home, files: files.length, movedTo: movedTo ?? null, keptSecrets } };
    },
  });
}

export function repairCommands(deps: CommandDeps): readonly AnyCommand[] {
  return [show(deps), salvage(deps), restore(deps), empty(deps)];
}

const repairs = () => import('../backup/repair-state.ts');

export function copyLine({ file, at, sessions, messages }: StateCopy): string {
  return `${file} (${isoTime(at).slice(0, 16).replace('T', ' ')} UTC, ${plural(sessions, 'session')}, ${plural(messages, 'message')})`;
}

function show(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'repair show',
    summary: 'Say whether state.db is damaged, and what can be done',
    surfaces: ['cli'],
    input: z.object({}),
    async *run(): AsyncGenerator<CommandOutput> {
      const { canSalvage, goodCopies, stateDamage } = await repairs();
      const damage = stateDamage(deps.home);
      const copies = goodCopies(deps.home);
      yield line(`${deps.home.stateDatabase}: ${damage === undefined ? 'whole' : `damaged: ${damage}`}`);
      if (copies.length === 0) yield line('There is no copy of it.');
      for (const copy of copies) yield line(`copy: ${copyLine(copy)}`);
      const first = damage === undefined ? CHOICES.length : Number(!canSalvage(deps.home));
      for (const choice of CHOICES.slice(first)) yield line(choice);
      yield { type: 'data', value: { damage: damage ?? null, copies: copies.map((copy) => ({ ...copy })) } };
    },
  });
}

const CHOICES = [
  '`talaria repair salvage` saves what can be read of it',
  '`talaria repair restore` brings the newest copy back, `talaria repair restore FILE` another one',
  '`talaria repair empty` starts anew; the damaged file is kept',
];

function salvage(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'repair salvage',
    summary: 'Save what can be read of a damaged state.db; the damaged file is kept',
    surfaces: ['cli'],
    input: z.object({}),
    async *run(): AsyncGenerator<CommandOutput> {
      yield* repaired({ deps }, async () => {
        const { salvageState } = await repairs();
        const done = await salvageState(deps.home, deps.clock);
        const lost = done.tables.filter(({ gaps }) => gaps > 0).map(({ name }) => name);
        const lines = [
          `${plural(done.sessions, 'session')} and ${plural(done.messages, 'message')} were saved`,
          ...(done.adopted > 0 ? [`${plural(done.adopted, 'session')} had lost its name and is called salvaged`] : []),
          ...(done.unreadable > 0 ? [`${plural(done.unreadable, 'message')} made no sense and was left out`] : []),
          lost.length === 0 ? 'every table could be read to its end' : `something is missing from: ${lost.join(', ')}`,
        ];
        return { lines, ...done };
      });
    },
  });
}

function restore(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'repair restore',
    summary:
      'Bring a copy of a damaged state.db back: the newest whole one, or the named one, also in place of a whole one',
    surfaces: ['cli'],
    positional: ['file'],
    input: z.object({ file: z.string().optional().describe('One of the copies that `repair` lists') }),
    async *run({ file }, context): AsyncGenerator<CommandOutput> {
      const isNamed = file !== undefined;
      yield* repaired({ deps, isNamed }, async () => {
        const { goodCopies, restoreState } = await repairs();
        const copy = file === undefined ? goodCopies(deps.home)[0]?.file : resolve(context.cwd, file);
        if (copy === undefined)
          throw new TalariaError('there is no whole copy of state.db', {
            code: 'no-such-file',
            fix: CHOICES.join('; '),
          });
        return { lines: [`${copy} was brought back`], ...restoreState(deps.home, copy, deps.clock) };
      });
    },
  });
}

function empty(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'repair empty',
    summary: 'Start with no sessions instead of a damaged state.db; the damaged file is kept',
    surfaces: ['cli'],
    input: z.object({}),
    async *run(): AsyncGenerator<CommandOutput> {
      yield* repaired({ deps }, async () => {
        const { startEmpty } = await repairs();
        return { lines: ['the next start begins with no sessions'], ...(await startEmpty(deps.home, deps.clock)) };
      });
    },
  });
}

interface Done {
  readonly lines: readonly string[];
  readonly aside?: string;
}

interface Wish {
  readonly deps: CommandDeps;
  /** The owner named what shall stand there, so a whole file may give way to it. */
  readonly isNamed?: boolean;
}

async function* repaired(wish: Wish, work: () => Promise<Done>): AsyncGenerator<CommandOutput> {
  const problem = await notNow(wish);
  if (problem) {
    yield problem;
    return;
  }
  try {
    const { lines, aside, ...facts } = await work();
    for (const text of lines) yield line(text);
    if (aside !== undefined)
      yield line(`${/\.before-[^/]*$/.test(aside) ? 'what stood there' : 'the damaged file'} is kept as ${aside}`);
    yield { type: 'data', value: { ...facts, aside: aside ?? null } };
  } catch (error) {
    if (!(error instanceof TalariaError) || !EXPECTED.has(errorCode(error) ?? '')) throw error;
    yield failed(error.code, error.message, error.fix);
  }
}

const BY_NAME = '`talaria repair restore FILE` brings a copy back that you name, also in its place.';

const EXPECTED = new Set(['nothing-readable', 'copy-damaged', 'no-such-file']);

async function notNow({ deps: { home }, isNamed = false }: Wish): Promise<Failure | undefined> {
  const [{ stateDamage }, { liveWriters }] = await Promise.all([repairs(), import('#base/database/damage.ts')]);
  const [writer] = liveWriters(home.stateDatabase, home.openFlags);
  if (writer !== undefined)
    return refused('in-use', `state.db is open in ${writer}.`, 'End it, then run this again; nothing was changed.');
  if (!isNamed && stateDamage(home) === undefined)
    return refused('not-damaged', 'state.db is whole.', `Nothing was changed. ${BY_NAME}`);
  return undefined;
}
