// Owns making what the house lends to its extensions (extension-ground.ts) from a home and its surroundings. Knows no extension.
// Invariant: nothing is opened or read before it is asked for.
import type { Clock } from '#base/clock.ts';
import type { App } from '../app.ts';
import type { Environment } from '../environment.ts';
import { type LoadedConfig, loadConfig } from '../home/config.ts';
import { readConfigSection } from '../home/config-section.ts';
import type { Home } from '../home/home.ts';
import { fillVariables, type Variables } from '../models/find-providers.ts';
import { childEnvironment, mergedVariables } from '../parts/compose-models.ts';
import { externalSkillFolders } from '../parts/mind/external-skills.ts';
import type { ExtensionGround, ExtensionMind, ExtensionSettings } from './extension-ground.ts';

export function extensionGround({
  environment,
  home,
  clock,
  app,
  notice,
  loaded,
}: {
  readonly environment: Environment;
  readonly home: Home;
  readonly clock: Clock;
  readonly app: () => Promise<App>;
  readonly notice?: (text: string) => void;
  /** What config.yaml says, when it was read already; absent: it is read whenever somebody asks. */
  readonly loaded?: LoadedConfig;
}): ExtensionGround {
  const { skills, skillBackups, stateDatabase, evidenceDatabase, engines, models, config, root } = home;
  const { userHome, program = ['talaria'] } = environment;
  const read = async () => loaded ?? (await loadConfig(home.config));
  return {
    clock,
    places: {
      ...{ home: root, userHome, config, skills, skillBackups, stateDatabase, evidenceDatabase, engines, models },
      lease: home.unattendedLease,
    },
    // Read when asked for: a start must not read `.env` twice.
    get variables() {
      return mergedVariables(home, environment);
    },
    commandVariables: async () => childEnvironment(home, environment, (await read()).config),
    walls: async () => (await app()).walls(),
    program,
    ...(notice ? { notice } : {}),
    settings: async () => settingsOf(await read(), mergedVariables(home, environment)),
    keep: async (change) => (await import('./keep-settings.ts')).keepSettings(home, change),
    open: async () => mindOf(await app()),
  };
}

function mindOf(app: App): ExtensionMind {
  const { library, door } = app.skills;
  return {
    skills: library,
    door,
    evidence: app.evidence,
    state: app.store.database,
    runTurn: (request, signal) => app.runExtensionTurn(request, signal),
    judge: app.judge,
    config: (section, schema) => readConfigSection(app.loaded, section, schema),
    answering: () => app.model().tier,
    window: app.windowOf,
    redact: app.redact,
    externalSkills: externalSkillFolders(app.loaded, { home: app.home, userHome: app.environment.userHome }),
  };
}

function settingsOf(loaded: LoadedConfig, variables: Variables): ExtensionSettings {
  const { provider, env } = loaded.config.memory;
  const filled = Object.entries(env).flatMap(([name, text]) => {
    const value = fillVariables(text, variables);
    return value.ok ? [[name, value.value] as const] : [];
  });
  return {
    provider,
    env: Object.fromEntries(filled),
    section: (section, schema) => readConfigSection(loaded, section, schema),
  };
}
