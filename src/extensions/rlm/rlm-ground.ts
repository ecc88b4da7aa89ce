// Owns what recursion needs from the house: where things lie, and a turn of the one turn function. Knows nobody who gives it; the app's
// ExtensionGround fits. Invariant: making a command from it opens nothing; `open` composes the agent once.
import type { Clock } from '#base/clock.ts';
import type { ExtensionHost } from '#core/agent/extension-host.ts';
import type { Tier } from '#core/model/model-client.ts';
import type { Judge } from '#mind/evidence/judge/judge.ts';

/** Absolute paths. */
export interface RlmPlaces {
  /** Root of Talaria's home; `rlm/` below it is ours. */
  readonly home: string;
  /** The person's own folder: what `~` stands for. */
  readonly userHome: string;
}

export interface RlmGround {
  readonly clock: Clock;
  readonly places: RlmPlaces;
  /** Variables of the process, `.env` of the home counted in. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Program and first arguments that start Talaria again from anywhere. */
  readonly program: readonly string[];
  readonly open: () => Promise<RlmMind>;
}

/** The composed agent, as far as recursion may see it. */
export interface RlmMind {
  /** The one turn function. With `system` nothing of memory, skills or the project is in the prompt, and no session is kept. */
  readonly runTurn: ExtensionHost['runTurn'];
  /** Whether source words carry a claim; asks a model of the small tier. */
  readonly judge: Judge;
  /** A section of config.yaml, checked. Throws `config-invalid` naming line and key. */
  readonly config: ExtensionHost['config'];
  /** Tier of what would answer a turn now; T0: there is no language model. */
  readonly answering: () => Tier;
  /** Tokens that the model that would answer this tier now reads at once. */
  readonly window: (tier: Tier) => number;
  /** Takes known secrets and key-shaped texts out. */
  readonly redact: (text: string) => string;
}
