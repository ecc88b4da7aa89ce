// Owns mixture_of_agents (seed 001 chapter 16): one question to several models side by side, and one that brings their answers together without
// knowing whose they are. Knows no provider. Invariants: names of models are in no request; fewer than two answers are none; what it cost is told.
import { z } from 'zod';
import { errorText, TalariaError } from '#base/errors.ts';
import { jitter, shuffled } from '#base/ids.ts';
import { ok, refuse } from '#base/result.ts';
import { ellipsize, oneLine } from '#base/text.ts';
import type { Mind, Room, RoomGround } from '#core/agent/room.ts';
import { type AnyTool, defineTool, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';

const model = z.string().trim().min(1);
const settings = z
  .object({
    proposers: z
      .array(model)
      .max(5)
      .default([])
      .describe('Two to five models, `provider/model`, that answer side by side.'),
    aggregator: model.optional().describe('Model that brings the answers together; unset: the first of T2.'),
    max_cost: z.number().positive().optional().describe('US dollars that one question may cost.'),
  })
  .describe('Several models for one question.');
type Mixture = z.infer<typeof settings>;

export const room: Room = {
  name: 'mixture',
  settings: async () => settings,
  open: async (ground) => {
    const config = (await ground.settings()).section('mixture', settings);
    return { tools: [mixtureTool(ground, config)] };
  },
};

function mixtureTool(ground: Pick<RoomGround, 'open'>, config: Mixture): AnyTool {
  const why = 'Set mixture.proposers to two models or more: talaria config set mixture.proposers \'["…", "…"]\'.';
  return defineTool<{ question: string }>({
    name: 'mixture_of_agents',
    description: 'Ask several models one hard question; their answers are weighed and brought together.',
    input: z.object({ question: z.string().min(1).describe('with all that is needed: they see nothing else') }),
    toolset: 'mixture',
    effect: 'read',
    defer: 'rare',
    available: () => (config.proposers.length < 2 ? refuse('not-set-up', why) : ok(true)),
    summary: ({ question }) => `ask ${config.proposers.length} models: ${oneLine(question, 80)}`,
    run: async ({ question }, context, signal) => mix(question, { mind: await ground.open(), config, context }, signal),
  });
}

interface Desk {
  readonly mind: Pick<Mind, 'runTurn'>;
  readonly config: Mixture;
  readonly context: ToolContext;
}

interface Answer {
  readonly model: string;
  readonly text: string;
  readonly cost: number | null;
  readonly error?: string;
}

async function mix(question: string, desk: Desk, signal: AbortSignal): Promise<ToolOutput> {
  const { proposers, aggregator, max_cost: most } = desk.config;
  const left = Math.min(most ?? Number.POSITIVE_INFINITY, desk.context.dollarsLeft ?? Number.POSITIVE_INFINITY);
  const share = left / (proposers.length + 1);
  const answers = await Promise.all(
    proposers.map((name) => ask(desk, { name, system: PROPOSE, text: question, share }, signal)),
  );
  const good = answers.filter(({ error }) => error === undefined);
  const lost = answers.flatMap(({ model: name, error }) =>
    error === undefined ? [] : [`${name} did not answer: ${error}`],
  );
  if (good.length < 2)
    return { text: ['Fewer than two models answered.', ...lost].join('\n'), isError: true, cost: sum(answers) };
  const texts = shuffled(good, jitter).map(({ text }, i) => `Answer ${i + 1}:\n${text}`);
  const asked = { name: aggregator, system: COMBINE, text: [`Question:\n${question}`, ...texts].join('\n\n'), share };
  const whole = await ask(desk, asked, signal);
  const all = [...answers, whole];
  const cost = sum(all);
  const told = cost === null ? 'unknown' : `$${cost.toFixed(4)}`;
  const names = `Asked: ${good.map((one) => one.model).join(', ')}; brought together by ${whole.model}; cost ${told}.`;
  const end =
    whole.error === undefined
      ? whole.text
      : `It could not be brought together: ${whole.error}\n\n${texts.join('\n\n')}`;
  return { text: [end, names, ...lost].join('\n\n'), isError: whole.error !== undefined, cost };
}

const PROPOSE = 'Answer the question as well as you can. Say what you are not sure of.';
const COMBINE = [
  'Several answers to one question follow, in no order. Some may be wrong. Write the one answer that is best supported,',
  'in your own words, and end with a paragraph "Where they differ:" that names each point on which they do.',
].join(' ');

interface Asked {
  /** Undefined: the first of T2. */
  readonly name: string | undefined;
  readonly system: string;
  readonly text: string;
  readonly share: number;
}

/** What fails is an answer too. */
async function ask(desk: Desk, asked: Asked, signal: AbortSignal): Promise<Answer> {
  try {
    return await answerOf(desk, asked, signal);
  } catch (error) {
    signal.throwIfAborted();
    return { model: asked.name ?? 'T2', text: '', cost: 0, error: ellipsize(errorText(error), 200) };
  }
}

async function answerOf({ mind }: Desk, { name, system, text, share }: Asked, signal: AbortSignal): Promise<Answer> {
  const money = Number.isFinite(share) ? { maxCost: share } : {};
  const request = { purpose: 'consult', tier: 'T2', tools: [], maxSteps: 1, system, text, ...money } as const;
  for await (const event of mind.runTurn({ ...request, ...(name ? { model: name } : {}) }, signal)) {
    if (event.type !== 'turn-end') continue;
    const { outcome, text: said, cost, error, model: own } = event;
    const isGood = (outcome === 'done' || outcome === 'length') && said.trim() !== '';
    const why = error?.message ?? event.stopped ?? 'it said nothing';
    return { model: name ?? own, text: said, cost, ...(isGood ? {} : { error: ellipsize(why, 200) }) };
  }
  throw new TalariaError('the turn did not end', { code: 'failed' });
}

function sum(all: readonly Answer[]): number | null {
  return all.reduce<number | null>((total, { cost }) => (total === null || cost === null ? null : total + cost), 0);
}
