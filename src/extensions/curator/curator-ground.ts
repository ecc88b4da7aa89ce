// Owns what the curator needs from the house: where things lie, what reads skills, and the one door that writes them. Knows nobody who
// gives it; the app's ExtensionGround fits. Invariant: making a command from it opens nothing, `open` composes what it needs once.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { ExtensionHost } from '#core/agent/extension-host.ts';
import type { Tier } from '#core/model/model-client.ts';
import type { Walls } from '#core/tools/walls/walls.ts';
import type { SkillReader } from '#mind/skills/skill.ts';
import type { SkillDoor } from '#mind/skills/skill-door.ts';

/** Absolute paths. */
export interface CuratorPlaces {
  /** Root of Talaria's home. */
  readonly home: string;
  /** The person's own folder: what `~` stands for. */
  readonly userHome: string;
  readonly config: string;
  /** The local skills folder. */
  readonly skills: string;
  /** One folder for each version of a skill, with its manifest. */
  readonly skillBackups: string;
  readonly stateDatabase: string;
  readonly evidenceDatabase: string;
  readonly engines: string;
  readonly models: string;
  /** File of the lease that every unattended writer of the home takes. */
  readonly lease: string;
}

export interface CuratorGround {
  readonly clock: Clock;
  readonly places: CuratorPlaces;
  /** Variables of the process, `.env` of the home counted in. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** What a command of the owner's gets of them: none that holds a secret, unless he named it. Throws `config-invalid`. */
  readonly commandVariables: () => Promise<Readonly<Record<string, string | undefined>>>;
  /** Program and first arguments that start Talaria again from anywhere. */
  readonly program: readonly string[];
  /** Around verifiers that are commands. */
  readonly walls?: () => Promise<Walls>;
  readonly open: () => Promise<CuratorMind>;
}

/** The composed agent, as far as the curator may see it. */
export interface CuratorMind {
  readonly skills: SkillReader & {
    ready(signal?: AbortSignal): Promise<void>;
    refresh(signal?: AbortSignal): Promise<unknown>;
  };
  readonly door: SkillDoor;
  /** evidence.sqlite; opened when first asked for. */
  readonly evidence: () => Database;
  /** state.db: sessions, uses and versions of skills, costs. */
  readonly state: Database;
  /** The one turn function, in a session of its own. */
  readonly runTurn: ExtensionHost['runTurn'];
  /** A section of config.yaml, checked. Throws `config-invalid` naming line and key. */
  readonly config: ExtensionHost['config'];
  /** Tier of what would answer a turn now; T0: there is no language model. */
  readonly answering: () => Tier;
  /** Takes known secrets and key-shaped texts out. */
  readonly redact: (text: string) => string;
  /** External skill folders of config.yaml, absolute. */
  readonly externalSkills: readonly string[];
}
