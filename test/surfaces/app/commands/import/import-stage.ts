/** A home of ours beside one of hermes-agent, and the import command over both. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '#base/clock.ts';
import type { CommandOutput } from '#core/agent/command-spec.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { evidenceSchema } from '#mind/evidence/proposal-schema.ts';
import { createMemoryFiles } from '#mind/memory/memory-files.ts';
import { createSqliteSessionStore, type SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import type { App } from '#surfaces/app/app.ts';
import { type ImportDoors, importCommands } from '#surfaces/app/commands/import/import-command.ts';
import { loadConfig } from '#surfaces/app/home/config.ts';
import { type Home, homeAt } from '#surfaces/app/home/home.ts';
import { createTempHome, type TempHome } from '#testing/temp-home.ts';
import { createFakeSkills, type FakeSkills } from './fake-skills.ts';

export interface ImportStage {
  readonly temp: TempHome;
  readonly home: Home;
  readonly skills: FakeSkills;
  run(input?: object): Promise<ImportRun>;
  /** The store of our home, open until the test ends. */
  store(): SqliteSessionStore;
}

export interface ImportRun {
  readonly text: string;
  readonly failure: Extract<CommandOutput, { type: 'failure' }> | undefined;
  readonly data: ImportData;
}

export interface ImportData {
  readonly kinds: readonly {
    readonly kind: string;
    readonly taken: number;
    readonly here: number;
    readonly left: number;
  }[];
  readonly taken: Readonly<Record<string, readonly string[]>>;
  readonly left: readonly { readonly kind: string; readonly name: string; readonly reason: string }[];
}

export function createImportStage(t: TestContext): ImportStage {
  const temp = createTempHome(t);
  const home = homeAt(join(temp.path, 'home'));
  const skills = createFakeSkills(home.skills);
  const open = () => createSqliteSessionStore({ path: home.stateDatabase, rooms: [evidenceSchema] });
  return {
    temp,
    home,
    skills,
    store: () => {
      const store = open();
      t.after(() => store.close());
      return store;
    },
    run: (input = {}) => importInto({ cwd: temp.path, home, skills }, input),
  };
}

/** One run of the command over its own opening of the home. */
export async function importInto(
  { cwd, home, skills }: { readonly cwd: string; readonly home: Home; readonly skills: FakeSkills },
  input: object,
): Promise<ImportRun> {
  const store = createSqliteSessionStore({ path: home.stateDatabase, rooms: [evidenceSchema] });
  try {
    return await runImport({ cwd, home, store, doors: doorsOf(home, store, skills) }, { agree: true, ...input });
  } finally {
    await store.close();
  }
}

function doorsOf(home: Home, store: SqliteSessionStore, skills: FakeSkills): ImportDoors {
  return {
    ...skills,
    memory: createMemoryFiles({ root: home.memories }),
    ledger: createProposalLedger({ database: store.database }),
  };
}

interface Place {
  readonly cwd: string;
  readonly home: Home;
  readonly store: SqliteSessionStore;
  readonly doors: ImportDoors;
}

async function runImport({ cwd, home, store, doors }: Place, input: object): Promise<ImportRun> {
  const loaded = await loadConfig(home.config);
  const [command] = importCommands(
    {
      environment: { variables: {}, cwd, userHome: cwd },
      home,
      clock: systemClock,
      app: async () => ({ home, store, loaded }) as unknown as App,
    },
    async () => doors,
  );
  if (!command) throw new Error('no command');
  const context = { cwd, signal: new AbortController().signal };
  const outputs: CommandOutput[] = [];
  for await (const output of command.run(command.input.parse(input) as never, context)) outputs.push(output);
  const data = outputs.find((output) => output.type === 'data')?.value;
  return {
    text: outputs.flatMap(linesOf).join('\n'),
    failure: outputs.find((output) => output.type === 'failure'),
    data: data as unknown as ImportData,
  };
}

function linesOf(output: CommandOutput): readonly string[] {
  if (output.type === 'line') return [output.text];
  if (output.type === 'table') return [output.columns, ...output.rows].map((row) => row.join(' | '));
  return output.type === 'failure' ? [`${output.message} ${output.fix}`] : [];
}

export function takenOf(run: ImportRun, kind: string): number {
  return run.data.kinds.find((row) => row.kind === kind)?.taken ?? 0;
}

export function reasonOf(run: ImportRun, name: string): string {
  return run.data.left.find((thing) => thing.name === name)?.reason ?? '';
}
