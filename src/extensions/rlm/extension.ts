// Owns recursion as an extension of the app (seed 003): its tool, and what the model-free tier answers of it. Its commands are in
// commands.ts, loaded when typed. Knows the house by RlmGround and ExtensionHost alone. Invariant: activating opens nothing; without
// recursion asked for a turn is unchanged.
import type { Extension } from '#core/agent/extension-host.ts';
import { reflexTasks } from './reflex/reflex-tasks.ts';
import { rlmSchema } from './rlm-config.ts';
import type { RlmGround } from './rlm-ground.ts';
import { recursiveReadTool } from './tool/recursive-read-tool.ts';

export function rlmExtension(ground: RlmGround): Extension {
  return {
    name: 'rlm',
    activate: (host) => {
      for (const task of reflexTasks()) host.addReflexTask(task);
      if (!host.config('rlm', rlmSchema).recursive_read.enabled) return;
      const answer = async () => (await import('./tool/answer-by-asking.ts')).answerByAsking(ground);
      host.addTool(recursiveReadTool({ ground, answer }));
    },
  };
}
