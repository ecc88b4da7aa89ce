// Owns `import hermes`: a home of hermes-agent becomes part of this one (design 6). Knows no format.
// Invariants: the other home is only read; what is here wins; it can be stopped at any point and run again.
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { failed, refused } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { App } from '../../app.ts';
import { refuseNewerHome } from '../../home/newer-home.ts';
import { type CommandDeps, line } from '../command-deps.ts';
import { importIdentity } from './import-identity.ts';
import { importKeys } from './import-keys.ts';
import { importMemories, type MemoryDoors } from './import-memories.ts';
import type { ImportPlace } from './import-place.ts';
import { createImportReport, type ImportReport } from './import-report.ts';
import { importSessions } from './import-sessions.ts';
import { importSettings, readSettings, variablesOf } from './import-settings.ts';
import { importSkills, type SkillDoors } from './import-skills.ts';
import { importRedaction } from './known-secrets.ts';
import { nameLeftovers } from './leftovers.ts';

/** The doors that what comes has to pass. */
export type ImportDoors = MemoryDoors & SkillDoors;
type DoorsOf = (app: App) => Promise<ImportDoors>;

async function doorsOfApp({ memory, proposals, skills, home, clock }: App): Promise<ImportDoors> {
  await skills.library.ready();
  const { door, library: reader, records } = skills;
  const rehearse = async () => {
    const { openRehearsal } = await import('./rehearse-skills.ts');
    return openRehearsal({ home, clock, reader });
  };
  return { memory, ledger: proposals, door, reader, records, rehearse };
}

export function importCommands(deps: CommandDeps, doorsOf: DoorsOf = doorsOfApp): readonly AnyCommand[] {
  return [
    defineCommand({
      name: 'import hermes',
      summary: 'Bring skills, memories, settings and sessions of hermes-agent here',
      surfaces: ['cli'],
      input: z.object({
        from: z.string().optional().describe('Its home; default HERMES_HOME, else ~/.hermes'),
        dryRun: z.boolean().default(false).describe('Say what would come, change nothing'),
        accept: z.array(z.string()).default([]).describe('Skills that you have read and want although the guard asks'),
        agree: z.boolean().default(false).describe('Memories and SOUL.md come without a question: you have read them'),
        keys: z.boolean().default(false).describe('Copy the keys of known providers into our .env'),
      }),
      examples: ['talaria import hermes --dry-run', 'talaria import hermes --from ~/.hermes/profiles/work --keys'],
      run: (input, context) => run(deps, doorsOf, { input, context }),
    }),
  ];
}

interface Asked {
  readonly input: {
    readonly from?: string | undefined;
    readonly dryRun: boolean;
    readonly keys: boolean;
    readonly agree: boolean;
    readonly accept: readonly string[];
  };
  readonly context: CommandContext;
}

async function* run(deps: CommandDeps, doorsOf: DoorsOf, { input, context }: Asked): AsyncGenerator<CommandOutput> {
  const from = sourceOf(deps, input.from, context.cwd);
  const problem = problemOf(from, deps.home.root);
  if (problem) {
    yield problem;
    return;
  }
  const app = await deps.app();
  refuseNewerHome(app);
  const doors = await doorsOf(app);
  const report = createImportReport();
  const place = {
    from,
    home: deps.home,
    clock: deps.clock,
    report,
    dryRun: input.dryRun,
    signal: context.signal,
    agrees: (what: string, lines: readonly string[]) => agrees({ input, context }, what, lines),
    redact: importRedaction(from, deps.home, deps.environment),
  };
  for await (const text of bringAll(place, { app, doors, input })) yield line(text);
  yield* report.outputs({ from, dryRun: input.dryRun });
  yield* closing(report, input.dryRun);
}

/** Where nobody can be asked nothing is agreed to but by the flag. */
async function agrees({ input, context }: Asked, what: string, lines: readonly string[]): Promise<boolean> {
  if (input.agree || context.ask === undefined) return input.agree;
  const shown = lines.flatMap((text) => text.split('\n')).map((text) => `  ${text}`);
  const question = [`Of ${what} this would come, and every session would read it:`, ...shown, 'Take it over? (y/n)'];
  return /^\s*y(?:es)?\s*$/i.test(await context.ask(question.join('\n')));
}

async function* bringAll(
  place: ImportPlace,
  { app, doors, input }: { readonly app: App; readonly doors: ImportDoors; readonly input: Asked['input'] },
): AsyncGenerator<string> {
  const settings = await readSettings(place);
  await importKeys(place, input.keys, variablesOf(settings));
  await importSettings(place, settings);
  await importIdentity(place);
  await importMemories(place, doors);
  await importSkills(place, doors, input.accept);
  yield* importSessions(place, app.store);
  nameLeftovers(place);
}

function* closing(report: ImportReport, dryRun: boolean): Generator<CommandOutput> {
  if (dryRun) yield line('nothing was changed: this was a dry run');
  else if (report.taken === 0) yield line('nothing new came: all of it is here already, or was left');
  const broken = report.leftThings.filter((thing) => thing.broken);
  const [first] = broken;
  if (first === undefined) return;
  yield failed(
    'import-incomplete',
    `${broken.length === 1 ? 'One thing' : `${broken.length} things`} could not be read: ${first.name}: ${first.reason}`,
    'Everything else was brought; mend what is named and run this again.',
  );
}

/** Relative paths start from the folder that the person is in; an empty variable is none. */
function sourceOf({ environment }: CommandDeps, asked: string | undefined, cwd: string): string {
  const named = asked ?? (environment.variables.HERMES_HOME || undefined);
  return named === undefined ? join(environment.userHome, '.hermes') : resolve(cwd, named);
}

function problemOf(from: string, home: string): CommandOutput | undefined {
  const facts = statSync(from, { throwIfNoEntry: false });
  const fix = 'Name the home of hermes-agent with --from.';
  if (!facts)
    return refused(
      'no-such-folder',
      `There is no ${from}; a home of hermes-agent was looked for there (${MARKS.join(', ')}).`,
      fix,
    );
  if (!facts.isDirectory()) return refused('no-folder', `${from} is no folder.`, fix);
  if (resolve(from) === resolve(home)) return refused('own-home', `${from} is the home of this Talaria.`, fix);
  return MARKS.some((name) => statSync(join(from, name), { throwIfNoEntry: false }))
    ? undefined
    : refused('not-hermes', `${from} holds none of ${MARKS.join(', ')}: it is no home of hermes-agent.`, fix);
}

const MARKS = ['state.db', 'config.yaml', 'SOUL.md', 'memories', 'skills', 'sessions', '.env'];
