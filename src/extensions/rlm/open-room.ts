// Owns what recursion adds to an agent: its tool, what the model-free tier answers of it, and what is forgotten of its runs.
// Invariant: no file is opened; without recursion asked for a turn is unchanged.
import { ok } from '#base/result.ts';
import type { OpenRoom, RoomGround } from '#core/agent/room.ts';
import { lateTool } from '#core/agent/tool.ts';
import { openNesting } from './call/call-limits.ts';
import { RECURSIVE_READ } from './recursive-read-tool.ts';
import { REFLEX_TASKS } from './reflex-tasks.ts';
import { rlmSchema } from './rlm-config.ts';

export async function openRoom(ground: RoomGround): Promise<OpenRoom> {
  const { clock, places } = ground;
  const { recursive_read: read } = (await ground.settings()).section('rlm', rlmSchema);
  const answer = async () => (await import('./ask/ask-question.ts')).answerByAsking(ground);
  const load = async () => (await import('./recursive-read-tool.ts')).recursiveReadTool({ ground, answer });
  const available = () => {
    const open = openNesting(ground.variables);
    return open.ok ? ok<true>(true) : open;
  };
  return {
    tasks: REFLEX_TASKS,
    tools: read.enabled ? [lateTool({ ...RECURSIVE_READ, available }, load)] : [],
    forget: async (what) => {
      const { forgetRuns } = await import('./trace/trace-store.ts');
      return [{ name: 'recursive runs', ...(await forgetRuns({ home: places.home, clock }, what)) }];
    },
  };
}
