// Owns what peers need from the house: where things lie, settings, and a turn of the one turn function. Knows nobody who gives it; the app's
// ExtensionGround fits. Invariant: making something from it opens nothing; `open` composes the agent once.
import type { Clock } from '#base/clock.ts';
import type { ExtensionHost } from '#core/agent/extension-host.ts';

export interface HivePlaces {
  /** Absolute path of Talaria's home; `peers/` below it is ours, and is made only when something is encrypted. */
  readonly home: string;
  /** Absolute path of config.yaml. */
  readonly config: string;
}

export interface HiveGround {
  readonly clock: Clock;
  readonly places: HivePlaces;
  /** Variables of the process, `.env` of the home counted in. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Program and first arguments that start Talaria again from anywhere. */
  readonly program: readonly string[];
  /** What config.yaml says, read without composing the agent. Throws `config-invalid`. */
  readonly settings: () => Promise<HiveSettings>;
  /** Changes config.yaml by path of keys, keeping comments and unknown keys; and `.env`, mode 0600. Old or new. */
  readonly keep: (change: {
    readonly config?: readonly { readonly path: readonly string[]; readonly value: string | boolean }[];
    readonly secrets?: Readonly<Record<string, string | undefined>>;
  }) => Promise<void>;
  readonly open: () => Promise<HiveMind>;
  /** One sentence for the owner, outside of any turn. Absent: nobody listens. */
  readonly notice?: (text: string) => void;
}

export interface HiveSettings {
  /** `memory.provider` */
  readonly provider: string;
  /** `memory.env`, references filled in from variables; one that is not set is absent. */
  readonly env: Readonly<Record<string, string>>;
  /** A section of config.yaml, checked. Throws `config-invalid` naming line and key. */
  readonly section: ExtensionHost['config'];
}

/** The composed agent, as far as peers may see it. */
export interface HiveMind {
  readonly runTurn: ExtensionHost['runTurn'];
  /** Takes known secrets and key-shaped texts out. */
  readonly redact: (text: string) => string;
}
