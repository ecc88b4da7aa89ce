// Owns making what the house lends to its rooms (Ground) from a home and its surroundings. Knows no room.
// Invariants: nothing is opened or read before it is asked for; of a change to the settings everything is checked before anything is
// written, new secrets before the settings that refer to them and old ones after, so that a kill between leaves the old or the new whole.
import type { Clock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { lazy } from '#base/lazy.ts';
import type { Ground, HomeAt, Mind, OpenedHome, Settings, SettingsChange } from '#core/agent/room.ts';
import type { App } from './app.ts';
import { type Environment, movedTo } from './environment.ts';
import { editConfig, type LoadedConfig, loadConfig, readConfigSection } from './home/config.ts';
import { findHome, type Home, makeHome } from './home/home.ts';
import { refuseNewerHome } from './home/session-door.ts';
import { childEnvironment, fillVariables, mergedVariables, readEnvFile, type Variables } from './home/variables.ts';
import { secretNames } from './rooms.ts';

export interface GroundPlace {
  readonly environment: Environment;
  readonly home: Home;
  readonly clock: Clock;
  readonly app: () => Promise<App>;
  readonly notice?: (text: string) => void;
  /** What config.yaml says, when it was read already; absent: it is read whenever somebody asks. */
  readonly loaded?: LoadedConfig;
  /** Absent: the agent is composed for it. */
  readonly door?: Ground['door'];
}

export function lendGround(place: GroundPlace): Ground {
  const { environment, home, clock, app, notice, loaded, door } = place;
  const { userHome, program = ['talaria'] } = environment;
  const lent: Ground['door'] = door ?? (async (name) => (await app()).doors[name]);
  const read = async () => loaded ?? (await loadConfig(home.config));
  return {
    clock,
    places: { ...home, home: home.root, userHome, lease: home.unattendedLease },
    // Read when asked for: a start must not read `.env` twice.
    get variables() {
      return mergedVariables(home, environment);
    },
    commandVariables: async () => childEnvironment(home, environment, (await read()).config, await secretNames()),
    program,
    ...(notice ? { notice } : {}),
    settings: async () => settingsOf(await read(), () => mergedVariables(home, environment)),
    keep: (change) => keepSettings(home, change),
    door: lent,
    writable: async () =>
      refuseNewerHome({ home, loaded: await read(), doors: { sessions: { database: await lent('state') } } }),
    open: async () => mindOf(await app()),
    homeAt: (asked) => homeBeside({ ...place, door: lent }, asked),
  };
}

/** The house of this home opens it, when something of it is asked for. */
function homeBeside(
  { environment, home, clock: own, notice, door }: GroundPlace & Required<Pick<GroundPlace, 'door'>>,
  { root, cwd, clock = own, rooms = [] }: HomeAt,
): OpenedHome {
  const there = { ...movedTo(root, readEnvFile(home.env), environment), cwd };
  const house = lazy(async () => (await door('homes'))({ environment: there, clock, extra: { rooms } }));
  const ground = lendGround({
    ...{ environment: there, home: findHome(there), clock, ...(notice ? { notice } : {}) },
    app: async () => (await house()).app(),
    door: async (name) => (await house()).door(name),
  });
  return { ground, shutdown: async () => house.now()?.shutdown() };
}

function mindOf(app: App): Mind {
  return {
    ...app.doors,
    walls: app.walls,
    runTurn: (request, signal) => app.runExtensionTurn(request, signal),
    config: (section, schema) => readConfigSection(app.loaded, section, schema),
    answering: () => app.model().tier,
    window: app.windowOf,
    allows: (means) => app.allows(means),
    redact: app.redact,
  };
}

function settingsOf(loaded: LoadedConfig, variables: () => Variables): Settings {
  const { provider, env } = loaded.config.memory;
  return {
    provider,
    get env() {
      const known = variables();
      const filled = Object.entries(env).flatMap(([name, text]) => {
        const value = fillVariables(text, known);
        return value.ok ? [[name, value.value] as const] : [];
      });
      return Object.fromEntries(filled);
    },
    has: (section) => Object.hasOwn(loaded.raw, section),
    section: (section, schema) => readConfigSection(loaded, section, schema),
  };
}

export async function keepSettings(home: Home, { config = [], secrets = {} }: SettingsChange): Promise<void> {
  const { settingsSchema } = await import('./home/config-schema.ts');
  const { setEnvValues } = await import('./home/variables.ts');
  const schema = await settingsSchema();
  const edit = async (dryRun: boolean): Promise<void> => {
    const edited = await editConfig(home.config, config, { schema, dryRun });
    if (!edited.ok) throw new TalariaError(edited.detail, { code: edited.reason });
  };
  makeHome(home);
  await edit(true);
  const entries = Object.entries(secrets);
  await setEnvValues(home.env, Object.fromEntries(entries.filter(([, value]) => value !== undefined)));
  await edit(false);
  await setEnvValues(home.env, Object.fromEntries(entries.filter(([, value]) => value === undefined)));
}
