// Owns what the house lends to every extension beside the host: places, variables, what reads and writes skills. Knows no extension; each
// names the part of this that it needs. Invariant: making it opens nothing; `open` gives the composed agent, once.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { ExtensionHost } from '#core/agent/extension-host.ts';
import type { Tier } from '#core/model/model-client.ts';
import type { OpenLibrary } from '#mind/skills/library/skill-library.ts';
import type { SkillDoor } from '#mind/skills/skill-door.ts';
import type { App } from '../app.ts';
import type { Environment } from '../environment.ts';
import { readConfigSection } from '../home/config-section.ts';
import type { Home } from '../home/home.ts';
import { mergedVariables } from '../parts/compose-models.ts';
import { externalSkillFolders } from '../parts/mind/external-skills.ts';

/** Absolute paths. */
export interface ExtensionPlaces {
  readonly home: string;
  readonly userHome: string;
  readonly config: string;
  readonly skills: string;
  readonly skillBackups: string;
  readonly stateDatabase: string;
  readonly evidenceDatabase: string;
  readonly engines: string;
  readonly models: string;
  /** File of the lease that every unattended writer of the home takes. */
  readonly lease: string;
}

export interface ExtensionMind {
  readonly skills: OpenLibrary;
  readonly door: SkillDoor;
  readonly evidence: () => Database;
  readonly state: Database;
  readonly runTurn: ExtensionHost['runTurn'];
  readonly config: ExtensionHost['config'];
  /** Tier of what would answer a turn now; T0: there is no language model. */
  readonly answering: () => Tier;
  /** Tokens that the model that would answer this tier now reads at once. */
  readonly window: (tier: Tier) => number;
  readonly redact: (text: string) => string;
  readonly externalSkills: readonly string[];
}

export interface ExtensionGround {
  readonly clock: Clock;
  readonly places: ExtensionPlaces;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly program: readonly string[];
  readonly open: () => Promise<ExtensionMind>;
}

export function extensionGround({
  environment,
  home,
  clock,
  app,
}: {
  readonly environment: Environment;
  readonly home: Home;
  readonly clock: Clock;
  readonly app: () => Promise<App>;
}): ExtensionGround {
  const { skills, skillBackups, stateDatabase, evidenceDatabase, engines, models, config, root } = home;
  const { userHome, program = ['talaria'] } = environment;
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
    program,
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
    config: (section, schema) => readConfigSection(app.loaded, section, schema),
    answering: () => app.model().tier,
    window: app.windowOf,
    redact: app.redact,
    externalSkills: externalSkillFolders(app.loaded, { home: app.home, userHome: app.environment.userHome }),
  };
}
