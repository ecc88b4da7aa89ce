// Owns the implementation of ExtensionHost (contract in core/agent): what extensions add, their jobs, files and end.
// Knows no extension. Invariant: after `shutdown` nothing that an extension added is left, and its databases are closed last.
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import type { RoomSchema } from '#base/database/migrate.ts';
import type { OpenedDatabase } from '#base/database.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import type { EventSource } from '#base/fabric.ts';
import type { AnyCommand } from '#core/agent/command-spec.ts';
import type { Extension, ExtensionHost, ScheduledJob, TurnRequest } from '#core/agent/extension-host.ts';
import type { Hooks } from '#core/agent/hooks.ts';
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import type { ReflexTask } from '#core/agent/reflex-task.ts';
import type { AnyTool } from '#core/agent/tool.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { LoadedConfig } from '../home/config.ts';
import { readConfigSection } from '../home/config-section.ts';
import { createJobQueue } from './job-queue.ts';

/** What the app lends to its extensions. */
export interface HostSurroundings {
  readonly clock: Clock;
  readonly homeRoot: string;
  readonly loaded: LoadedConfig;
  readonly events: EventSource<TurnEvent>;
  readonly runTurn: (request: TurnRequest, signal: AbortSignal) => AsyncIterable<TurnEvent>;
  readonly openDatabase: (path: string, schema: RoomSchema) => OpenedDatabase;
  readonly notice: (text: string) => void;
}

/** Everything that extensions have added so far, in order. */
export interface Extensions {
  readonly tools: ReadonlyMap<string, AnyTool>;
  readonly hooks: readonly Hooks[];
  readonly commands: ReadonlyMap<string, AnyCommand>;
  readonly rules: ReadonlyMap<string, ReflexRule>;
  readonly tasks: ReadonlyMap<string, ReflexTask>;
  /** Activates one; what it throws is thrown here, after its additions were removed. */
  activate(extension: Extension): Promise<void>;
  /** Idempotent. Failures of single steps are notices; the rest goes on. */
  shutdown(): Promise<void>;
}

/** `taken` holds the names that the app itself uses, as `tool:NAME`, `command:NAME`, `rule:NAME`. */
export function createExtensions(surroundings: HostSurroundings, taken: ReadonlySet<string> = new Set()): Extensions {
  return new ExtensionRegistry(surroundings, taken);
}

class ExtensionRegistry implements Extensions {
  readonly tools = new Map<string, AnyTool>();
  readonly hooks: Hooks[] = [];
  readonly commands = new Map<string, AnyCommand>();
  readonly rules = new Map<string, ReflexRule>();
  readonly tasks = new Map<string, ReflexTask>();
  readonly #surroundings: HostSurroundings;
  readonly #taken: Set<string>;
  readonly #endings: { readonly name: string; readonly close: () => Promise<void> }[] = [];
  readonly #files = new Set<string>();

  constructor(surroundings: HostSurroundings, taken: ReadonlySet<string>) {
    this.#surroundings = surroundings;
    this.#taken = new Set(taken);
  }

  async activate(extension: Extension): Promise<void> {
    const scope = new ExtensionScope(extension.name, this.#surroundings);
    const ending = { name: extension.name, close: () => scope.close() };
    this.#endings.push(ending);
    try {
      await extension.activate(this.#hostOf(scope));
    } catch (error) {
      this.#endings.splice(this.#endings.indexOf(ending), 1);
      await scope.close();
      throw error;
    }
  }

  async shutdown(): Promise<void> {
    for (const { name, close } of this.#endings.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        this.#surroundings.notice(`extension ${name} did not end cleanly: ${errorText(error)}`);
      }
    }
  }

  #hostOf(scope: ExtensionScope): ExtensionHost {
    const { clock, events, runTurn, homeRoot, loaded } = this.#surroundings;
    return {
      clock,
      events: {
        subscribe: (listener) => {
          const stop = events.subscribe(listener);
          scope.undo(stop);
          return stop;
        },
      },
      addTool: (tool) => this.#add(scope, 'tool', tool.name, this.tools, tool),
      addCommand: (command) => this.#add(scope, 'command', command.name, this.commands, command),
      addReflexRule: (rule) => this.#add(scope, 'rule', rule.intent, this.rules, rule),
      addReflexTask: (task) => this.#add(scope, 'task', task.schema, this.tasks, task),
      addHooks: (hooks) => {
        scope.mustBeOpen();
        this.hooks.push(hooks);
        scope.undo(() => this.hooks.splice(this.hooks.indexOf(hooks), 1));
      },
      addJob: (job) => scope.addJob(job),
      config: (section, schema) => readConfigSection(loaded, section, schema),
      openDatabase: (fileName, schema) => scope.openDatabase(this.#claimFile(scope, homeRoot, fileName), schema),
      runTurn,
      onShutdown: (run) => scope.onShutdown(run),
    };
  }

  #add<T>(scope: ExtensionScope, kind: string, name: string, into: Map<string, T>, value: T): void {
    scope.mustBeOpen();
    const key = `${kind}:${name}`;
    if (this.#taken.has(key)) throw new TalariaError(`the ${kind} name ${name} is taken`, { code: 'name-taken' });
    this.#taken.add(key);
    into.set(name, value);
    scope.undo(() => {
      this.#taken.delete(key);
      into.delete(name);
    });
  }

  #claimFile(scope: ExtensionScope, root: string, fileName: string): string {
    scope.mustBeOpen();
    if (!/^(?:[a-z0-9-]+\/)?[a-z0-9-]+\.(?:db|sqlite)$/.test(fileName) || fileName === 'state.db') {
      throw new TalariaError(`${fileName} is no name for a database of an extension`, { code: 'file-name' });
    }
    if (this.#files.has(fileName)) throw new TalariaError(`the file ${fileName} is taken`, { code: 'name-taken' });
    this.#files.add(fileName);
    scope.undo(() => this.#files.delete(fileName));
    return join(root, fileName);
  }
}

/** The lifetime of one extension. Order of its end: jobs stop, its own shutdown, its additions go, its databases close. */
class ExtensionScope {
  readonly #name: string;
  readonly #surroundings: HostSurroundings;
  readonly #jobs: ReturnType<typeof createJobQueue>;
  readonly #undo: (() => unknown)[] = [];
  readonly #shutdowns: (() => Promise<void>)[] = [];
  readonly #databases: { close(): void }[] = [];
  #open = true;

  constructor(name: string, surroundings: HostSurroundings) {
    this.#name = name;
    this.#surroundings = surroundings;
    const { clock, notice } = surroundings;
    this.#jobs = createJobQueue(clock, (job, error) => notice(`job ${name}/${job} failed: ${errorText(error)}`));
  }

  mustBeOpen(): void {
    if (!this.#open) throw new TalariaError(`extension ${this.#name} has ended`, { code: 'extension-ended' });
  }

  undo(run: () => unknown): void {
    this.#undo.push(run);
  }

  addJob(job: ScheduledJob): void {
    this.mustBeOpen();
    this.#jobs.add(job);
  }

  onShutdown(run: () => Promise<void>): void {
    this.mustBeOpen();
    this.#shutdowns.push(run);
  }

  openDatabase(path: string, schema: RoomSchema): OpenedDatabase['database'] {
    const opened = this.#surroundings.openDatabase(path, schema);
    this.#databases.push(opened.database);
    for (const { message } of opened.notices) this.#surroundings.notice(message);
    return opened.database;
  }

  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    await this.#jobs.stop();
    const failures: unknown[] = [];
    for (const run of this.#shutdowns.reverse()) {
      try {
        await run();
      } catch (error) {
        failures.push(error);
      }
    }
    for (const undo of this.#undo.reverse()) undo();
    for (const database of this.#databases) database.close();
    if (failures.length > 0) throw failures[0];
  }
}
