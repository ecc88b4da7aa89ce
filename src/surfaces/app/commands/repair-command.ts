// Owns `repair`: what the owner can choose when state.db is damaged. Knows the file by backup/repair-state.ts only.
// Invariant: nothing is repaired that another process has open, or that is whole, but by a copy that the owner names; what stood there is
// kept, whatever is chosen.
import { resolve } from 'node:path';
import { z } from 'zod';
import { isoTime } from '#base/clock.ts';
import { errorCode, TalariaError } from '#base/errors.ts';
import { plural } from '#base/text.ts';
import { type Failure, failed, refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { StateCopy } from '../backup/repair-state.ts';
import { type CommandDeps, line } from './command-deps.ts';

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
