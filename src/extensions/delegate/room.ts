// Owns the front of delegation (seed 001 chapter 16): its tool, and its section of the configuration. Knows no child.
// Invariant: opening it opens nothing; a turn that does not delegate is unchanged.
import type { Room } from '#core/agent/room.ts';
import { lateTool } from '#core/agent/tool.ts';
import { DELEGATE_TASK, delegateTask, delegationSchema } from './delegate-task.ts';

export const room: Room = {
  name: 'delegation',
  settings: async () => delegationSchema,
  open: (ground) => ({ tools: [lateTool(DELEGATE_TASK, async () => delegateTask(ground))] }),
};
