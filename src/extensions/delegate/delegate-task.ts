// Owns the tool delegate_task: which tasks one call may begin, how many run side by side, what of the parent's money each may cost, whom they
// ask, and what the parent is told. Knows no turn: a child is `child.ts`. Invariants: a child never has more than its parent, and delegates
// no further; what we recorded and what a child says are told apart, whatever it says.
import { z } from 'zod';
import { isJsonObject } from '#base/json.ts';
import { ellipsize, oneLine, plural } from '#base/text.ts';
import type { Approver } from '#core/agent/approver.ts';
import type { Mind, RoomGround } from '#core/agent/room.ts';
import { type AnyTool, defineTool, type ToolCard, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import { capOutput } from '#core/agent/turn/execute-tools.ts';
import { lenientInput } from '#core/tools/tool-cards.ts';
import { answerCheck, type ChildReport, runChild, taskSchema } from './child.ts';

const MOST_TASKS = 8;
/** Characters of a child's words that the parent sees. */
const WORDS = 8_000;

export const delegationSchema = z
  .object({
    max_parallel: z.int().min(1).max(MOST_TASKS).default(3).describe('Sub-agents that run side by side.'),
    model: z.string().trim().min(1).optional().describe('Model of sub-agents; unset: the first of T2.'),
  })
  .describe('Sub-agents.');

const fields = lenientInput({ tasks: z.array(taskSchema).min(1).max(MOST_TASKS) });
type Input = z.infer<typeof fields>;

/** One goal alone is one task. */
function asTasks(value: unknown): unknown {
  return isJsonObject(value) && value.tasks === undefined && value.goal !== undefined ? { tasks: [value] } : value;
}

/** What a request says of it. */
export const DELEGATE_TASK: ToolCard<Input> = {
  name: 'delegate_task',
  description: 'Give tasks to sub-agents that work side by side, each on its own, and report back.',
  input: z.preprocess(asTasks, fields) as unknown as z.ZodType<Input>,
  ...{ toolset: 'delegation', effect: 'write', defer: 'rare' },
};

export function delegateTask(ground: Pick<RoomGround, 'open'>): AnyTool {
  return defineTool<Input>({
    ...DELEGATE_TASK,
    summary: ({ tasks }) => `delegate ${plural(tasks.length, 'task')}: ${oneLine(tasks[0]?.goal ?? '', 100)}`,
    run: async ({ tasks }, context, signal) => delegate(tasks, { mind: await ground.open(), context }, signal),
  });
}

interface Desk {
  readonly mind: Pick<Mind, 'runTurn' | 'config'>;
  readonly context: ToolContext;
}

async function delegate(tasks: Input['tasks'], { mind, context }: Desk, signal: AbortSignal): Promise<ToolOutput> {
  const faults = tasks.flatMap(({ output_schema: schema }, at) => {
    const check = schema && answerCheck(schema);
    return check?.ok === false ? [`task ${at + 1}: ${check.detail}`] : [];
  });
  if (faults.length > 0) return { text: `Nothing was begun: ${faults.join('; ')}`, isError: true, origin: 'observed' };
  const { max_parallel: side, model } = mind.config('delegation', delegationSchema);
  const { approver, dollarsLeft } = context;
  const share = dollarsLeft === undefined ? {} : { maxCost: dollarsLeft / tasks.length };
  const reports: ChildReport[] = [];
  const waiting = tasks.entries();
  const work = async () => {
    for (const [at, task] of waiting) {
      if (signal.aborted) return;
      const named = `task ${at + 1}`;
      const asks = approver && speakingFor(approver, `${named}: ${ellipsize(oneLine(task.goal), 60)}`, context);
      const means = { named, model: task.model ?? model, ...share, ...(asks ? { approver: asks } : {}) };
      reports[at] = await runChild({ ...task, ...means }, { mind, context }, signal);
    }
  };
  await Promise.all(Array.from({ length: Math.min(side, tasks.length) }, work));
  const told = tasks.map((_, at) => reportText(reports[at], `Task ${at + 1} of ${tasks.length}`, { at, context }));
  return {
    text: [HEAD, ...told].join('\n\n'),
    isError: !reports.some((report) => report?.isDone),
    cost: reports.reduce<number | null>((sum, { cost }) => (sum === null || cost === null ? null : sum + cost), 0),
  };
}

const HEAD = 'Lines that begin with > are what sub-agents said; all else is what was recorded of them.';

function speakingFor(approver: Approver, who: string, { callId }: ToolContext): Approver {
  return {
    approve: (request, signal) =>
      approver.approve({ ...request, callId, reason: `${request.reason}; a sub-agent asks, ${who}` }, signal),
  };
}

function reportText(
  report: ChildReport | undefined,
  name: string,
  { at, context }: { readonly at: number; readonly context: ToolContext },
): string {
  if (!report) return `${name}: not begun`;
  const said = quoted(report.words, `${context.callId}-${at + 1}`, context);
  return [`${name}: ${report.outcome}`, ...report.trail, ...said].join('\n');
}

/** No line of a child's can be taken for one of ours. */
function quoted(words: string, callId: string, { redact, spillFolder, sessionId }: ToolContext): readonly string[] {
  if (words.trim() === '') return ['It said nothing.'];
  const { text } = capOutput(redact(words), { limit: WORDS, spillFolder, sessionId, callId });
  return text.split(/\r\n|[\n\r\u2028\u2029\v\f\u0085]/).map((line) => `> ${line}`);
}
