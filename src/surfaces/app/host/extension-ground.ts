// Owns what the house lends to every extension beside the host: places, variables, what reads and writes skills. Knows no extension; each
// names the part of this that it needs. Invariant: making it opens nothing; `open` gives the composed agent, once.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { JsonValue } from '#base/json.ts';
import type { ExtensionHost } from '#core/agent/extension-host.ts';
import type { Tier } from '#core/model/model-client.ts';
import type { Walls } from '#core/tools/walls/walls.ts';
import type { Judge } from '#mind/evidence/judge/judge.ts';
import type { OpenLibrary } from '#mind/skills/library/skill-library.ts';
import type { SkillDoor } from '#mind/skills/skill-door.ts';

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
  readonly judge: Judge;
  readonly config: ExtensionHost['config'];
  /** Tier of what would answer a turn now; T0: there is no language model. */
  readonly answering: () => Tier;
  /** Tokens that the model that would answer this tier now reads at once. */
  readonly window: (tier: Tier) => number;
  readonly redact: (text: string) => string;
  readonly externalSkills: readonly string[];
}

/** What config.yaml says, read without composing the agent. */
export interface ExtensionSettings {
  /** `memory.provider` */
  readonly provider: string;
  /** `memory.env` with `${NAME}` filled in; an entry whose variable is not set is absent. */
  readonly env: Readonly<Record<string, string>>;
  /** A section of an extension, checked. Throws `config-invalid` naming line and key. */
  readonly section: ExtensionHost['config'];
}

/** Everything is checked before anything is written; then new secrets, the settings as one write, and last the secrets that go. */
export interface SettingsChange {
  readonly config?: readonly { readonly path: readonly string[]; readonly value: JsonValue }[];
  /** For `.env`, by name of variable; undefined takes one out. */
  readonly secrets?: Readonly<Record<string, string | undefined>>;
}

export interface ExtensionGround {
  readonly clock: Clock;
  readonly places: ExtensionPlaces;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** What a command gets of them (command-variables.ts). Throws `config-invalid`. */
  readonly commandVariables: () => Promise<Readonly<Record<string, string | undefined>>>;
  /** Around commands. */
  readonly walls: () => Promise<Walls>;
  readonly program: readonly string[];
  /** Tells the owner one sentence: at the start of a chat, later in the log. Absent where nobody listens. */
  readonly notice?: (text: string) => void;
  /** Throws `config-invalid`. */
  readonly settings: () => Promise<ExtensionSettings>;
  /** Throws TalariaError `config-value`, `config-newer`, `secret`, `env-invalid`; nothing was written then. */
  readonly keep: (change: SettingsChange) => Promise<void>;
  readonly open: () => Promise<ExtensionMind>;
}
