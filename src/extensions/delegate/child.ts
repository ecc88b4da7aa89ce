// Owns one child: a turn in a session of its own with a task for its message, the trail that is recorded from the events of that turn, and the
// check of its answer against a schema, with one repair. Knows no other child. Invariants: the trail holds what happened and nothing that the
// child says; a child ends with its parent's signal, its time, its steps or its money, and what it runs ends with it.
import { z } from 'zod';
import { deadline } from '#base/abort.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { parseJson } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { issueText } from '#base/schema-issue.ts';
import { oneLine } from '#base/text.ts';
import type { Approver } from '#core/agent/approver.ts';
import type { Mind, TurnRequest } from '#core/agent/room.ts';
import type { ToolContext } from '#core/agent/tool.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import { isTainted } from '#core/model/message.ts';

const MOST_STEPS = 50;
const SECONDS = 600;
/** Failures, and files, that are named. */
const MOST_LINES = 20;
/** What no child has: further children, what outlives it, and a person to talk to. */
const WITHOUT = ['delegation', 'schedule', 'clarify', 'memory', 'mixture'];

export const taskSchema = z.object({
  goal: z.string().min(1),
  context: z.string().optional().describe('all it needs to know: it sees nothing of this talk'),
  toolsets: z.array(z.string()).optional(),
  output_schema: z.looseObject({}).optional().describe('JSON Schema of its answer'),
  model: z.string().min(1).optional(),
});

export interface Task extends z.infer<typeof taskSchema> {
  /** `task 2` */
  readonly named: string;
  readonly approver?: Approver;
  readonly maxCost?: number;
}

export interface ChildReport {
  readonly outcome: string;
  readonly isDone: boolean;
  readonly words: string;
  /** A line for each kind of thing that was recorded. */
  readonly trail: readonly string[];
  /** US dollars; null: not known. */
  readonly cost: number | null;
}

interface Parent {
  readonly mind: Pick<Mind, 'runTurn'>;
  readonly context: ToolContext;
}

export async function runChild(task: Task, parent: Parent, signal: AbortSignal): Promise<ChildReport> {
  const { clock, progress } = parent.context;
  const tell = (line: string) => progress(`${task.named}: ${oneLine(line, 200)}\n`);
  const late = () => new TalariaError(`no end within ${SECONDS} s`, { code: 'delegate-timeout' });
  const limit = deadline(clock, signal, SECONDS * 1_000, late);
  const events: TurnEvent[] = [];
  const play = async (text: string) => {
    for await (const event of parent.mind.runTurn(requestOf(task, { text, ...parent, events }), limit.signal)) {
      if (event.type === 'tool-start') tell(event.summary);
      if (TRAIL.has(event.type)) events.push(event);
    }
    return limit.signal.aborted && !signal.aborted ? late().message : outcomeOf(events);
  };
  try {
    tell('begins');
    return reportOf(events, await checked(task, events, play));
  } catch (error) {
    return reportOf(events, signal.aborted ? 'aborted' : `failed: ${oneLine(errorText(error), 300)}`);
  } finally {
    limit.clear();
    tell('ends');
  }
}

/** The outcome, after one repair where the answer does not fit. */
async function checked(
  task: Task,
  events: readonly TurnEvent[],
  play: (text: string) => Promise<string>,
): Promise<string> {
  const { goal, context = '', output_schema: schema } = task;
  const check = schema && answerCheck(schema);
  const form = schema ? `Answer with nothing but JSON that fits this JSON Schema:\n${JSON.stringify(schema)}` : '';
  const outcome = await play([goal, context, form].filter((part) => part.trim() !== '').join('\n\n'));
  if (outcome !== 'done' || !check?.ok) return outcome;
  const fault = check.value(wordsOf(events));
  if (fault === undefined) return outcome;
  const again = await play(`Your answer does not fit: ${fault}. Answer once more, with nothing but the JSON.`);
  const left = again === 'done' ? check.value(wordsOf(events)) : undefined;
  return left === undefined ? again : `does not fit: ${oneLine(left, 300)}`;
}

interface Asked extends Parent {
  readonly text: string;
  readonly events: readonly TurnEvent[];
}

/** What the parent has read, the child may have been told: its words count as that. */
function requestOf(task: Task, { text, context, events }: Asked): TurnRequest {
  const { toolsets, model, approver, maxCost } = task;
  const { sessionId, callId, cwd, runnable } = context;
  const ends = endsOf(events);
  const [begun] = events.filter((event) => event.type === 'turn-start');
  const steps = ends.reduce((sum, end) => sum + end.steps, 0);
  return {
    ...{ text, purpose: 'delegate', tier: 'T2', source: 'subagent', cwd, memory: false },
    parent: { sessionId, callId },
    origin: isTainted(context.history()) ? 'foreign' : 'model',
    tools: { without: WITHOUT, ...(toolsets ? { toolsets } : {}), ...(runnable ? { within: runnable } : {}) },
    maxSteps: Math.max(1, MOST_STEPS - steps),
    ...(begun ? { resume: begun.sessionId } : {}),
    ...(model === undefined ? {} : { model }),
    ...(approver ? { approver } : {}),
    ...(maxCost === undefined ? {} : { maxCost: Math.max(0, maxCost - (costOf(ends) ?? 0)) }),
  };
}

/** What of a turn is kept. */
const TRAIL = new Set<TurnEvent['type']>(['turn-start', 'tool-start', 'tool-end', 'file-change', 'turn-end']);

type Event<Type extends TurnEvent['type']> = Extract<TurnEvent, { type: Type }>;

function endsOf(events: readonly TurnEvent[]): readonly Event<'turn-end'>[] {
  return events.filter((event) => event.type === 'turn-end');
}

function wordsOf(events: readonly TurnEvent[]): string {
  return endsOf(events).at(-1)?.text ?? '';
}

function outcomeOf(events: readonly TurnEvent[]): string {
  const { outcome = 'failed', error, stopped } = endsOf(events).at(-1) ?? {};
  const why = error ? `${error.code}, ${oneLine(error.message, 300)}` : stopped;
  return why === undefined ? outcome : `${outcome}: ${why}`;
}

function costOf(ends: readonly Event<'turn-end'>[]): number | null {
  return ends.reduce<number | null>((sum, { cost }) => (sum === null || cost === null ? null : sum + cost), 0);
}

function reportOf(events: readonly TurnEvent[], outcome: string): ChildReport {
  const cost = costOf(endsOf(events));
  return { outcome, isDone: outcome === 'done', words: wordsOf(events), trail: trailOf(events, cost), cost };
}

function trailOf(events: readonly TurnEvent[], cost: number | null): readonly string[] {
  const starts = events.filter((event) => event.type === 'tool-start');
  const calls = Object.entries(Object.groupBy(starts, ({ name }) => name)).map(
    ([name, all]) => `${name} ${all?.length}`,
  );
  const summaries = new Map(starts.map(({ callId, summary }) => [callId, summary]));
  const failures = events
    .filter((event) => event.type === 'tool-end')
    .filter(({ result: { isError, observed } }) => isError || (observed.exitCode ?? 0) !== 0)
    .map(
      ({
        callId,
        name,
        result: {
          observed: { exitCode, refused = 'error' },
        },
      }) => {
        const why = exitCode === undefined ? refused : `exit ${exitCode}`;
        return `- failed: ${oneLine(summaries.get(callId) ?? name, 200)} (${why})`;
      },
    );
  const changes = events.filter((event) => event.type === 'file-change');
  const files = Object.entries(Object.groupBy(changes, ({ path }) => path)).map(([path, all = []]) => {
    const [first, last] = [all[0]?.kind, all.at(-1)?.kind];
    return `- ${first === 'created' && last === 'changed' ? first : last} ${path}`;
  });
  return [
    `Calls: ${calls.join(', ') || 'none'}; failed ${failures.length}; cost ${cost === null ? 'not known' : `$${cost.toFixed(4)}`}`,
    ...failures.slice(0, MOST_LINES),
    ...files.slice(0, MOST_LINES),
    ...[failures, files].flatMap(({ length }) => (length > MOST_LINES ? [`- and ${length - MOST_LINES} more`] : [])),
  ];
}

/** What is wrong with an answer, undefined when it fits. JSON Schema as zod reads it: what it cannot read is refused; where no `type` stands, nothing is checked there. */
export function answerCheck(
  schema: Readonly<Record<string, unknown>>,
): Result<(text: string) => string | undefined, 'schema-unread'> {
  const kinds = ['type', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const'];
  if (!kinds.some((key) => schema[key] !== undefined))
    return refuse('schema-unread', 'its output_schema names no type, so nothing of an answer could be checked');
  let shape: z.ZodType;
  try {
    shape = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (error) {
    return refuse('schema-unread', `its output_schema cannot be checked: ${oneLine(errorText(error), 300)}`);
  }
  return ok((text) => {
    const value = parseJson(/```(?:json)?\s*\n([\s\S]*?)```/.exec(text)?.[1] ?? text);
    if (!value.ok) return 'it is no JSON';
    const read = shape.safeParse(value.value);
    const faults = read.error?.issues
      .slice(0, 5)
      .map((one) => `${one.path.join('.') || 'the answer'} ${issueText(one)}`);
    return faults?.join('; ');
  });
}
