// Owns peers as an extension of the app (seed 004): what the model-free tier does and answers of them. Its provider is in open-hive.ts, its
// commands in commands.ts, each loaded when asked for. Invariant: activating opens nothing; without `memory.provider: hivemind` it adds nothing.
import { z } from 'zod';
import type { Extension } from '#core/agent/extension-host.ts';
import { PROVIDER_NAME } from './hive-account.ts';

const memorySchema = z.object({ provider: z.string().default('') });

export function hiveExtension(): Extension {
  return {
    name: 'peers',
    activate: async (host) => {
      if (host.config('memory', memorySchema).provider !== PROVIDER_NAME) return;
      const [{ sparkTasks }, { peerRules }] = await Promise.all([
        import('./sparks/by-rule.ts'),
        import('./provider/peer-rules.ts'),
      ]);
      for (const task of sparkTasks()) host.addReflexTask(task);
      for (const rule of peerRules()) host.addReflexRule(rule);
    },
  };
}
