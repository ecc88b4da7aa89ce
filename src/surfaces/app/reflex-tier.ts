// Owns what the model-free tier is made of: the rules of every room, the folder that a session works in, and the client that matches them.
// Loaded only when it answers. Invariant: the rooms' rules come first, in one fixed order, those of extensions after them.
import type { Clock } from '#base/clock.ts';
import {
  NO_FOLDER,
  type ReflexFolder,
  type ReflexQuestion,
  type ReflexRule,
  type ReflexTask,
} from '#core/agent/reflex-rule.ts';
import type { Message } from '#core/model/message.ts';
import type { ModelClient } from '#core/model/model-client.ts';
import { openQuestion } from '#core/reflex/decide-turn.ts';
import { createReflexClient } from '#core/reflex/reflex-client.ts';
import { toolRules } from '#core/tools/reflex-rules.ts';
import { readFolder } from './first-screen.ts';

export interface ReflexTier {
  readonly client: ModelClient;
  readonly rules: readonly ReflexRule[];
  /** The question of the reflex that a conversation ended with. */
  readonly openQuestion: (talk: ReflexTalk) => ReflexQuestion | undefined;
}

export interface ReflexTalk {
  readonly history: readonly Message[];
  readonly prompt: { readonly system: string; readonly tools: readonly { readonly name: string }[] };
}

/** What rooms have added. */
export interface ReflexExtras {
  rules(): Promise<readonly ReflexRule[]>;
  each(part: 'tasks'): readonly (readonly ReflexTask[])[];
}

export async function createReflexTier(extra: ReflexExtras, clock: Clock): Promise<ReflexTier> {
  const rules = [...toolRules, ...(await extra.rules())];
  return {
    client: createReflexClient(rules, { clock, tasks: extra.each('tasks').flat(), folder: folderOf }),
    rules,
    openQuestion: ({ history: messages, prompt: { system, tools } }) => {
      const names = new Set(tools.map(({ name }) => name));
      const surroundings = { system, tools: names, now: clock.now(), folder: folderOf(system) };
      return openQuestion({ messages, surroundings, rules });
    },
  };
}

/** The prompt names the folder of its session. */
function folderOf(system: string): ReflexFolder {
  const path = /^Folder: (.+)\. System: /m.exec(system)?.[1];
  return path === undefined ? NO_FOLDER : readFolder(path);
}
