/** A home with Meta in it, and golems that are only told of: how they stand, what they answer, and what they were told, as the test gives it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Ground } from '#core/agent/room.ts';
import { type Conversation, openConversation } from '#fleet/meta/conversation.ts';
import { room } from '#fleet/meta/room.ts';
import type { CladeOutput, GolemAnswer, GolemState, GolemsDoor, Question, Word } from '#fleet/styx/clade.ts';
import { openHomeLog } from '#fleet/styx/home-log.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import type { TestClock } from '../../ground.ts';
import { createStage, groundOf, runSpec } from '../../surfaces/app/app-fixture.ts';

export const never = new AbortController().signal;

type Given = NonNullable<Parameters<typeof openConversation>[1]>;
export type Hands = NonNullable<Given['library']>;
type Asked = Parameters<NonNullable<Given['say']>>[0];

let signers = 0;

export function golem(name: string, fields: Partial<GolemState> = {}): GolemState {
  signers += 1;
  return {
    ...{ golem: `${name}-gen1`, name, signer: `0x${signers.toString(16).padStart(40, '0')}`, generation: 1 },
    ...{ lineage: [`${name}-gen1`], archetype: 'observer', domain: 'sim', status: 'lives', cause: null, tick: 900 },
    ...{ at: 0, phase: 'stable', vitality: 0.6, mood: { pleasure: 0, arousal: 0, dominance: 0 }, accuracy: 0.8 },
    ...{ skills: 2, spent_usd: 1.5, today_usd: 0.25, last: 'tick 899 · T1 · rule · incident' },
    ...fields,
  };
}

/** Those of the labelled lines. */
export function five(): readonly GolemState[] {
  return [
    golem('alpha', { domain: 'watch' }),
    golem('beta', { domain: 'coding', archetype: 'coder' }),
    golem('gamma', { domain: 'coding', archetype: 'coder' }),
    golem('delta'),
    golem('ledger', { domain: 'watch' }),
  ];
}

export interface StageOptions {
  readonly golems?: readonly GolemState[];
  readonly clock?: TestClock & { advance?: (ms: number) => Promise<void> };
  /** Answers to routing, wording and what is asked of the owner's preferences. Absent: no model is set up. */
  readonly model?: (asked: Asked) => string;
  readonly answer?: (name: string, question: Question) => Partial<GolemAnswer> | undefined;
  readonly library?: Partial<Hands>;
}

export const EMPTY: Hands = {
  ...{
    entries: async () => [],
    search: async () => [],
    aggregate: async () => null,
    worse: async () => [],
    sent: async () => undefined,
  },
  propose: async () => ({ ok: true, value: { lines: [] } }),
  equip: async ({ golem: { called }, names }) => ({ ok: true, value: `${called} gets ${names.join(', ')}` }),
  promote: async (_bundle, skill) => ({ ok: true, value: `${skill} stands in the library` }),
  merge: async (one, other) => ({ ok: true, value: `${other} is part of ${one}` }),
};

export function createCladeStage(t: TestContext, options: StageOptions = {}) {
  const { clock = createManualClock(), model, answer = () => undefined, library = {} } = options;
  const states = [...(options.golems ?? five())];
  const stage = createStage(t);
  mkdirSync(stage.root, { recursive: true });
  const prompts: Asked[] = [];
  const born: Parameters<GolemsDoor['create']>[0][] = [];
  const ended: string[] = [];
  const golems: GolemsDoor = {
    states: async () => states,
    ask: async (name, question) => {
      const found = states.find((one) => one.name === name);
      const given = answer(name, question);
      if (!found || !given) return { ok: false, reason: 'no-such-tick', detail: `${name} keeps nothing on that` };
      return { ok: true, value: { golem: found.golem, lines: [], value: null, ...given } };
    },
    create: async (asked) => {
      born.push(asked);
      states.push(
        golem(asked.name, { domain: asked.domain, archetype: asked.archetype ?? 'observer', status: 'rests' }),
      );
      return { ok: true, value: { name: asked.name, root: join(stage.root, 'golems', asked.name) } };
    },
    retire: async (name) => {
      ended.push(name);
      return { ok: true, value: { testament: `${name}-gen1.json` } };
    },
    purse: async () => undefined,
    tags: async () => 'all',
  };
  const home = groundOf(t, { environment: stage.environment, clock });
  const door = ((name) => (name === 'golems' ? golems : home.door(name))) as Ground['door'];
  const ground: Ground = { ...home, door };
  const given: Given = {
    golems: async () => golems,
    noModel: async () => (model === undefined ? 'no model is set up' : undefined),
    say: async (asked) => {
      prompts.push(asked);
      return model === undefined
        ? { ok: false, reason: 'no-model', detail: 'no model is set up' }
        : { ok: true, value: { text: model(asked), model: 'scripted/model' } };
    },
    library: { ...EMPTY, ...library },
  };
  const open = (more: Given = {}, ...talk: readonly string[]): Conversation => {
    const opened = openConversation(ground, { ...given, ...more }, ...talk);
    t.after(() => opened.close());
    return opened;
  };
  const conversation = open();
  const log = openHomeLog({ path: join(stage.root, 'styx.db'), clock });
  t.after(() => log.close());
  const say = (text: string, focus?: string) =>
    Array.fromAsync(
      conversation.say(text, { signal: never, cwd: stage.cwd, ...(focus === undefined ? {} : { focus }) }),
    );
  return {
    ...{ ground, root: stage.root, clock, states, prompts, born, ended, conversation, open, log, say },
    /** Words in the log, the oldest first. */
    told: () => log.read(['golem.*.steer'], 0, 1_000).map(({ body }) => (body as unknown as { word: Word }).word),
    /** Whom was told what, as `alpha: text`. */
    reached: () =>
      log
        .read(['golem.*.steer'], 0, 1_000)
        .map(({ topic, body }) => `${topic.split('.')[1]}: ${(body as unknown as { word: Word }).word.text}`),
    /** A command of the room, as it is typed; its golems are those of the stage, its library and its models those of the home. */
    run: async (name: string, input: unknown = {}, ask?: (question: string) => Promise<string>) => {
      const command = (await room.commands?.(ground))?.find((one) => one.name === name);
      if (command === undefined) throw new Error(`no command ${name}`);
      return runSpec(command, input, { cwd: stage.cwd, ...(ask ? { ask } : {}) });
    },
  };
}

export type CladeStage = ReturnType<typeof createCladeStage>;

/** The action that was taken, or `question`, or how it failed. */
export function decided(outputs: readonly CladeOutput[]): Readonly<Record<string, unknown>> | string {
  const [first] = outputs;
  if (first?.type === 'action') return first.action;
  return first?.type === 'failed' ? first.reason : (first?.type ?? 'nothing');
}

export function textOf(outputs: readonly CladeOutput[]): string {
  return outputs.map((output) => ('text' in output ? output.text : JSON.stringify(output.action))).join('\n');
}

export function choicesOf(outputs: readonly CladeOutput[]): readonly string[] {
  const asked = outputs.find((output) => output.type === 'question');
  return asked?.type === 'question' ? asked.choices : [];
}
