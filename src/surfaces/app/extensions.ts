// Owns the list of extensions that Talaria starts with: one line each. Removing one is deleting its folder and its line.
// Invariant: a line loads nothing until it is asked for.
import type { z } from 'zod';
import type { AnyCommand } from '#core/agent/command-spec.ts';
import type { Extension } from '#core/agent/extension-host.ts';
import type { MemoryProvider } from '#mind/memory/memory-provider.ts';
import type { ExtensionGround } from './host/extension-ground.ts';

/** What one folder below `extensions` exports as `extension.ts` and `commands.ts`. */
export interface ExtensionLine {
  /** Also the first word of its commands, and its section of config.yaml. */
  readonly name: string;
  readonly activate: (ground: ExtensionGround) => Promise<Extension>;
  /** Making the list opens nothing. */
  readonly commands: (ground: ExtensionGround) => Promise<readonly AnyCommand[]>;
  /** Shape of its section of config.yaml, every key with a default. Only `config` and the reference ask for it. */
  readonly settings?: () => Promise<z.ZodType>;
  /** The memory provider that it brings; loaded when `memory.provider` names it. */
  readonly provider?: ExtensionProvider;
  /** What `forget` takes out of what the extension keeps itself. */
  readonly forget?: (ground: ExtensionGround, what: ExtensionForgets) => Promise<ExtensionForgot>;
}

export interface ExtensionProvider {
  /** What `memory.provider` names. */
  readonly name: string;
  /** Names in `memory.env`, and of variables, whose values are secrets: no command of the agent sees them, and they are redacted. */
  readonly secrets: readonly string[];
  readonly open: (ground: ExtensionGround) => Promise<MemoryProvider>;
}

export interface ExtensionForgets {
  /** Does a text, as it is or within JSON, hold what is to go? */
  readonly holds?: (text: string) => boolean;
  /** Epoch ms. */
  readonly before?: number;
}

export interface ExtensionForgot {
  /** What was counted, in the plural. */
  readonly name: string;
  readonly count: number;
  /** Files whose freed bytes another process still holds. */
  readonly busy: readonly string[];
}

export const EXTENSIONS: readonly ExtensionLine[] = [
  {
    name: 'curator',
    activate: async (ground) => (await import('#extensions/curator/extension.ts')).curatorExtension(ground),
    commands: async (ground) => (await import('#extensions/curator/commands.ts')).curatorCommands(ground),
    settings: async () => (await import('#extensions/curator/curator-config.ts')).curatorSchema,
  },
  {
    name: 'rlm',
    activate: async (ground) => (await import('#extensions/rlm/extension.ts')).rlmExtension(ground),
    commands: async (ground) => (await import('#extensions/rlm/commands.ts')).rlmCommands(ground),
    settings: async () => (await import('#extensions/rlm/rlm-config.ts')).rlmSchema,
    forget: async (ground, what) => (await import('#extensions/rlm/forget.ts')).forgetRecursion(ground, what),
  },
  {
    name: 'peers',
    activate: async () => (await import('#extensions/hive/extension.ts')).hiveExtension(),
    commands: async (ground) => (await import('#extensions/hive/commands.ts')).hiveCommands(ground),
    settings: async () => (await import('#extensions/hive/hive-config.ts')).hiveSchema,
    provider: {
      name: 'hivemind',
      secrets: ['MATRIX_ACCESS_TOKEN', 'MATRIX_PASSWORD', 'MATRIX_REGISTRATION_TOKEN'],
      open: async (ground) => (await import('#extensions/hive/open-hive.ts')).hivemindProvider(ground),
    },
  },
];
