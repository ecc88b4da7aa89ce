// Owns the ExtensionHost seam: all that a removable extension may touch. An extension is one function `activate(host)` and one line
// in app/extensions.ts. Contract suite: test/contract/extension-host.contract.ts.
import type { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { RoomSchema } from '#base/database/migrate.ts';
import type { EventSource } from '#base/fabric.ts';
import type { Purpose, Tier } from '#core/model/model-client.ts';
import type { AnyCommand } from './command-spec.ts';
import type { Hooks } from './hooks.ts';
import type { ReflexRule } from './reflex-rule.ts';
import type { ReflexTask } from './reflex-task.ts';
import type { AnyTool } from './tool.ts';
import type { TurnEvent } from './turn-event.ts';

export interface ScheduledJob {
  /** Unique within the extension. */
  readonly name: string;
  readonly everyMs: number;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface TurnRequest {
  readonly text: string;
  readonly purpose: Purpose;
  readonly tier: Tier;
  /** Names of the tools that may run; nothing else is runnable. */
  readonly tools: readonly string[];
  readonly maxSteps: number;
  /** Instead of the frozen prompt: nothing of memory, skills or the project is sent, no tool runs, and no session is kept but for its cost. */
  readonly system?: string;
  /** `provider/model` instead of the tier's. Throws `model-unknown` when it is not set up. */
  readonly model?: string;
  /** Only together with `system`. */
  readonly maxOutputTokens?: number;
}

/**
 * Contract. Everything added is removed again when the host shuts down; names that are taken throw `name-taken` at once.
 * `openDatabase` gives the extension its own file in the home, never another's. Jobs run one at a time, a late one once,
 * a failing one is reported as a notice and runs again at its next time. `runTurn` is the one turn function.
 */
export interface ExtensionHost {
  readonly clock: Clock;
  readonly events: EventSource<TurnEvent>;
  addTool(tool: AnyTool): void;
  addHooks(hooks: Hooks): void;
  addCommand(command: AnyCommand): void;
  addReflexRule(rule: ReflexRule): void;
  addReflexTask(task: ReflexTask): void;
  addJob(job: ScheduledJob): void;
  /** The extension's section of config.yaml, validated; defaults come from the schema. Throws `config-invalid` naming line and key. */
  config<T>(section: string, schema: z.ZodType<T>): T;
  openDatabase(fileName: string, schema: RoomSchema): Database;
  runTurn(request: TurnRequest, signal: AbortSignal): AsyncIterable<TurnEvent>;
  /** Called once at shutdown, before the databases close. */
  onShutdown(run: () => Promise<void>): void;
}

export interface Extension {
  readonly name: string;
  readonly activate: (host: ExtensionHost) => void | Promise<void>;
}
