/** A home of ours beside one of hermes-agent, and the import command over both. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { evidenceSchema } from '#mind/evidence/proposal-schema.ts';
import { createSqliteSessionStore, type SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { importCommand } from '#surfaces/app/commands/import.ts';
import { type Home, homeAt } from '#surfaces/app/home/home.ts';
import { composeApp } from '#surfaces/app/house.ts';
import { createTempHome, type TempHome } from '#testing/temp-home.ts';
import { createPlainWalls } from '../../../../doubles/plain-walls.ts';
import { type RanCommand, runSpec } from '../../app-fixture.ts';

export interface ImportStage {
  readonly temp: TempHome;
  readonly home: Home;
  run(input?: object): Promise<ImportRun>;
  /** The store of our home, open until the test ends. */
  store(): SqliteSessionStore;
}

export interface ImportRun extends Pick<RanCommand, 'text' | 'failure'> {
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
  return {
    temp,
    home,
    store: () => {
      const store = createSqliteSessionStore({ path: home.stateDatabase, rooms: [evidenceSchema] });
      t.after(() => store.close());
      return store;
    },
    run: (input = {}) => importInto({ cwd: temp.path, home }, input),
  };
}

/** One run of the command over its own opening of the home. */
export async function importInto(
  { cwd, home }: { readonly cwd: string; readonly home: Home },
  input: object,
): Promise<ImportRun> {
  const environment = { variables: { TALARIA_HOME: home.root }, cwd, userHome: cwd };
  const app = await composeApp({ environment, extra: { walls: createPlainWalls() } });
  try {
    const command = importCommand({ environment, home, clock: systemClock, app: async () => app });
    const { text, failure, data } = await runSpec(command, { agree: true, ...input }, { cwd });
    return { text, failure, data: data as ImportData };
  } finally {
    await app.shutdown();
  }
}

export function takenOf(run: ImportRun, kind: string): number {
  return run.data.kinds.find((row) => row.kind === kind)?.taken ?? 0;
}

export function reasonOf(run: ImportRun, name: string): string {
  return run.data.left.find((thing) => thing.name === name)?.reason ?? '';
}
