// Owns the list of parts that one composed agent is made of. Knows their shapes only.
import type { Clock } from '#base/clock.ts';
import type { Fabric } from '#base/fabric.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { MemoryProviders } from '#mind/learning/provider/compose-providers.ts';
import type { AppOptions } from '../app.ts';
import type { LoadedConfig } from '../home/config.ts';
import type { Home } from '../home/home.ts';
import type { Extensions } from '../host/extension-host.ts';
import type { Background } from './background.ts';
import type { ComposedModels } from './compose-models.ts';
import type { ComposedTools } from './compose-tools.ts';
import type { Endings } from './endings.ts';
import type { ComposedMind } from './mind/compose-mind.ts';
import type { LazyLearning } from './mind/lazy-learning.ts';
import type { MindHooks } from './mind/mind-hooks.ts';

export interface AppParts {
  readonly home: Home;
  readonly clock: Clock;
  readonly loaded: LoadedConfig;
  readonly options: AppOptions;
  readonly events: Fabric<TurnEvent>;
  readonly notices: readonly string[];
  readonly modelNotices: readonly string[];
  readonly background: Background;
  readonly mind: ComposedMind;
  readonly tools: ComposedTools;
  readonly models: ComposedModels;
  readonly extensions: Extensions;
  readonly learning: LazyLearning;
  /** Present when an external memory provider is in use. */
  readonly providers?: MemoryProviders;
  readonly mindHooks: MindHooks;
  /** Sessions at which a person can answer. */
  readonly attended: Set<string>;
  /** Closes all of the above. */
  readonly endings: Endings;
  readonly redact: (text: string) => string;
  readonly log: (event: string, text: string) => void;
}
