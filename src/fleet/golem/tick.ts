// Owns one tick (hierarchy notes A1): observe, retrieve, analyse, gate, simulate, validate, execute, verify, reflect. Knows its domain and its mind by
// their contracts alone, and nothing of the time between ticks. Invariants: nothing is acted before its prediction is stored; every act passes
// the guard; the record is committed once, and a tick that was cut off before leaves nothing but a prediction that is replaced.
import { deadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { readIfThere } from '#base/platform.ts';
import { oneLine } from '#base/text.ts';
import type { Mind } from '#core/agent/room.ts';
import type { Heeded } from '#fleet/styx/words.ts';
import type { Act, AgentTool, Answer, Deliberation } from './deliberate.ts';
import { answerByModel, answerByRule, bestProcedure, isNamed } from './deliberate.ts';
import type { Acted, DomainPlugin, Observation } from './domains/domain.ts';
import type { OpenGolem } from './golem-home.ts';
import type { LifeState, Owed } from './golem-rows.ts';
import type { ActionRecord, Cost, GolemHooks, Prediction, Procedure, Reply, Step, TickRecord } from './hooks.ts';
import { NO_COST } from './hooks.ts';
import { Grimoire } from './mind/grimoire.ts';
import type { GolemTier, Mood, Phase } from './vitals.ts';
import * as vitals from './vitals.ts';

export interface TickParts {
  readonly golem: OpenGolem;
  readonly domain: DomainPlugin;
  readonly hooks: GolemHooks;
  readonly clock: Clock;
  /** Absent: rules alone answer. */
  readonly mind?: Pick<Mind, 'runTurn'>;
  /** Money of today, from the ledger of the golem's home. */
  readonly spentToday: () => Promise<Cost>;
  /** Of the tick that runs, for the tool of a model's turn. */
  readonly live: { current?: Deliberation };
  readonly call: CallMind;
}

/** Undefined: it failed or took too long, which is a fault; its events go out otherwise. */
export type CallMind = <Value>(hook: () => Promise<Reply<Value>>, faults: string[]) => Promise<Value | undefined>;

/** What the owner said since the last tick. */
export interface Heard extends Heeded {
  readonly steers: readonly string[];
  readonly upTo: number;
  readonly dreams: boolean;
  readonly retires: boolean;
  readonly isPaused: boolean;
}

interface Gate extends Pick<TickRecord, 'pe' | 'threshold' | 'tier' | 'gate_reason' | 'phase' | 'vitality'> {
  readonly category: string;
  /** Money allows a model. */
  readonly mayAsk: boolean;
}

interface Run {
  readonly tick: number;
  readonly observation: Observation;
  readonly gate: Gate;
  readonly heard: Heard;
  readonly faults: string[];
  readonly procedures: readonly Procedure[];
  readonly prediction: Prediction;
  readonly actions: ActionRecord[];
  /** What a model said so far. */
  readonly said: { text: string };
  isPredicted: boolean;
}

type Thought = Omit<
  TickRecord,
  'tick' | 'at' | 'observation' | 'steers' | 'pad_before' | 'pad_after' | 'faults' | keyof Gate
>;

const QUIET: readonly Step[] = ['OBSERVE', 'RETRIEVE', 'ANALYZE', 'GATE', 'REFLECT'];
const NOBODY = { deviated: false, cost: NO_COST };
/** Below it for so many ticks in a row a golem is past its time. */
const SENESCENT = 0.35;
/** How long the turn of a model may take, ms. */
const TURN_MS = 1_800_000;

/** Undefined: the signal cut it off, and it will be lived again. */
export async function liveTick(
  parts: TickParts,
  heard: Heard,
  faults: string[],
  signal: AbortSignal,
): Promise<TickRecord | undefined> {
  const { golem, clock } = parts;
  const { rows } = golem;
  const state = rows.state() as LifeState;
  const [tick, at] = [state.tick + 1, clock.now()];
  try {
    const observation = await observe(parts, faults, signal);
    const { category, mayAsk, ...gate } = await decide(parts, state, observation, heard);
    const about = { tick, observation, gate: { ...gate, category, mayAsk }, heard, faults };
    const thought: Thought =
      gate.tier === 'T0'
        ? { ...NOBODY, steps: QUIET, procedures: [], answered_by: 'nobody', actions: [] }
        : await think(parts, state.mood, about, signal);
    const mood = moodAfter(parts, state.mood, thought);
    const before = { tick, at, observation, steers: heard.steers, pad_before: state.mood };
    const record = { ...before, ...gate, pad_after: mood, ...thought, faults };
    const took = heard.known && { words: heard.known, owed: owedFor(golem.identity.id, tick, heard) };
    await rows.commitTick(record, stateAfter(parts, state, record, heard), took);
    return record;
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

function owedFor(golem: string, tick: number, { words, refused, dreams, retires }: Heard): Owed {
  const taken = words.map(({ id }) => ({ golem, id, tick, refused: null }));
  const meant = words.filter(({ kind }) => kind === 'rollback');
  const rollbacks = meant.map(({ skill = '', version = 0 }) => ({ skill, version }));
  return { heard: [...refused, ...taken], rollbacks, dreams, retires };
}

function stateAfter({ golem }: TickParts, state: LifeState, record: TickRecord, heard: Heard): LifeState {
  const { tick, phase, tier, pad_after: mood, cost } = record;
  const isQuiet = tier === 'T0';
  // Nothing was predicted on a quiet tick: it stands as it stood.
  const right = isQuiet ? undefined : vitals.accuracy(golem.rows.resolved(100));
  const isWrong = isQuiet ? state.wrongTicks > 0 : right !== undefined && right < SENESCENT;
  return {
    ...(golem.rows.state() ?? state),
    ...{ tick, mood, phase, heardUpTo: heard.upTo, isPaused: heard.isPaused },
    quietTicks: isQuiet ? state.quietTicks + 1 : 0,
    wrongTicks: isWrong ? state.wrongTicks + 1 : 0,
    spentUsd: state.spentUsd + cost.usd,
  };
}

/** Moved by what was expected and came otherwise, and by nothing else. */
function moodAfter({ golem }: TickParts, mood: Mood, { prediction, outcome }: Thought): Mood {
  if (prediction === undefined || !outcome?.verified) return mood;
  const now = { p: prediction.p, success: outcome.success };
  const before = golem.rows.resolved(10);
  const right = (list: typeof before) => list.filter(vitals.isCorrect).length / Math.max(1, list.length);
  const trend = before.length === 0 ? 0 : right([...before.slice(-9), now]) - right(before);
  return vitals.moodAfter(mood, { ...now, trend });
}

async function observe({ domain }: TickParts, faults: string[], signal: AbortSignal): Promise<Observation> {
  try {
    const seen = await domain.observe(signal);
    if (seen.tag === 'unseen') faults.push(`unseen: ${oneLine(seen.text, 200)}`);
    return seen;
  } catch (error) {
    signal.throwIfAborted();
    faults.push(`observe-failed: ${oneLine(errorText(error), 200)}`);
    return { text: '', tag: 'unseen', signals: [] };
  }
}

/** How surprised it is, how surprised it would have to be, and what it may spend on it. */
async function decide(parts: TickParts, state: LifeState, { signals, tag }: Observation, heard: Heard): Promise<Gate> {
  const { golem, domain, spentToday } = parts;
  const { settings, rows } = golem;
  const pe = Math.max(0, ...signals.map(({ value }) => value));
  const category = domain.categories.includes(tag) ? tag : (domain.categories[0] ?? tag);
  const right = vitals.accuracy(rows.resolved(100));
  const { credit_usd: given = Number.POSITIVE_INFINITY } = settings.golem;
  const credit = Math.max(0, 1 - state.spentUsd / given);
  const age = state.tick / settings.golem.max_ticks;
  const vitality = vitals.vitality({ credit, age, ...(right === undefined ? {} : { accuracy: right }) });
  const phase: Phase = vitals.phaseAfter(state.phase, vitality);
  const confidence = vitals.accuracy(rows.resolved(50, category)) ?? 0;
  const { base_deliberation_threshold: base } = settings.heartbeat;
  const threshold = vitals.surpriseThreshold(base, { confidence, vitality, arousal: state.mood.arousal });
  const isChanged = phase !== state.phase;
  const asked = vitals.tierOf(pe, threshold, heard.steers.length > 0 || isChanged);
  const surprise = `surprise ${pe.toFixed(2)} against ${threshold.toFixed(2)}`;
  const why = heard.steers.length > 0 ? 'steer' : isChanged ? `phase ${phase}` : surprise;
  const about = { pe, threshold, phase, vitality, category };
  if (asked === 'T0') return { ...about, tier: asked, mayAsk: false, gate_reason: why };
  const spent = shareOfDay(await spentToday(), settings.heartbeat);
  const { tier, mayAsk } = vitals.withinMeans(asked, spent);
  const held = tier !== asked || !mayAsk ? `; ${Math.round(spent * 100)} % of the day is spent` : '';
  return { ...about, tier, mayAsk, gate_reason: `${why}${held}` };
}

function shareOfDay({ usd, tokens }: Cost, caps: OpenGolem['settings']['heartbeat']): number {
  const { max_daily_cost_usd: most, max_daily_tokens: mostTokens } = caps;
  const money = most === 0 ? Number(usd > 0) : usd / most;
  return Math.max(money, mostTokens ? tokens / mostTokens : 0);
}

async function think(
  parts: TickParts,
  mood: Mood,
  about: Pick<Run, 'tick' | 'observation' | 'gate' | 'heard' | 'faults'>,
  signal: AbortSignal,
): Promise<Thought> {
  const { hooks, domain, golem, call } = parts;
  const { tick, observation, gate, faults } = about;
  const context = { tick, observation, pad: mood, categories: [gate.category] };
  const procedures = (await call(() => hooks.context(context), faults))?.procedures ?? [];
  const steps: Step[] = ['OBSERVE', 'RETRIEVE', 'ANALYZE', 'GATE'];
  const best = simulated(domain, bestProcedure(procedures), observation, { tier: gate.tier, steps });
  const prediction = predict(golem, best, observation, gate.category);
  const run: Run = { ...about, procedures, prediction, actions: [], said: { text: '' }, isPredicted: false };
  const { actions, said } = run;
  const maxActions = golem.settings.heartbeat.max_actions;
  const candidates = domain.candidates(observation);
  const act = actor(parts, run, signal);
  const deliberation = { tick, observation, procedures, candidates, maxActions, act, done: () => actions, said };
  const answer = await answerOf(parts, run, { deliberation, best }, signal);
  const outcome = actions.length > 0 ? await domain.verify(observation, signal) : undefined;
  const needsOwner = (domain.needsOwner?.() ?? []).map((action): ActionRecord => {
    return { ...action, status: 'blocked', has_changed: false, ms: 0, block_reason: 'needs-owner' };
  });
  const { followed, session, fault } = answer;
  if (fault !== undefined) faults.push(fault);
  return {
    steps: [...steps, 'VALIDATE', 'EXECUTE', 'VERIFY', 'REFLECT'],
    ...{ actions: [...actions, ...needsOwner], deviated: answer.deviated, answered_by: answer.by, cost: answer.cost },
    procedures: procedures.map(({ name, version, weight, parts: made }) => ({ name, version, weight, parts: made })),
    ...(followed ? { followed: { name: followed.name, version: followed.version } } : {}),
    ...(actions.length > 0 ? { prediction } : {}),
    ...(outcome ? { outcome } : {}),
    ...(session ? { session } : {}),
  };
}

/** Where the domain can tell that it would fail, it is not followed. */
function simulated(
  domain: DomainPlugin,
  best: Procedure | undefined,
  observation: Observation,
  at: { readonly tier: GolemTier; readonly steps: Step[] },
): Procedure | undefined {
  if (best === undefined || at.tier !== 'T2' || domain.simulate === undefined) return best;
  at.steps.push('SIMULATE');
  const told = domain.simulate(observation, best.steps);
  return told?.verified && !told.success ? undefined : best;
}

function predict({ rows }: OpenGolem, best: Procedure | undefined, { tag }: Observation, category: string): Prediction {
  const claim = best ? `${best.name} answers ${tag}` : `something known here answers ${tag}`;
  return { category, claim, p: best?.confidence ?? vitals.baseRate(rows.tried(category)) };
}

/** Everything that is done goes through here: guard, prediction, act, record, feedback. */
function actor(parts: TickParts, run: Run, signal: AbortSignal): Act {
  const { domain } = parts;
  return async (action, skill) => {
    const guarded = domain.guard(action);
    const blockReason = guarded === 'deny' ? 'denied' : 'needs-owner';
    const blocked: Acted = { status: 'blocked', blockReason, text: '', hasChanged: false, isOver: false, ms: 0 };
    if (guarded === 'allow') await storePrediction(parts, run);
    const acted = guarded === 'allow' ? await domain.act(action, signal) : blocked;
    const { status, hasChanged, ms } = acted;
    const reason = acted.blockReason ? { block_reason: acted.blockReason } : {};
    run.actions.push({ tool: action.tool, label: action.label, status, has_changed: hasChanged, ms, ...reason });
    const did = { ...action, success: status === 'ok' && hasChanged };
    await feedBack(parts, run, did, skill ?? guideOf(run, action.label));
    return acted;
  };
}

/** Durable before the first act. */
async function storePrediction({ golem, clock }: TickParts, run: Run): Promise<void> {
  if (run.isPredicted) return;
  const names = run.procedures.map(({ name }) => name);
  await golem.rows.predict(run.tick, run.prediction, names, clock.now());
  run.isPredicted = true;
}

async function feedBack(
  { hooks, call }: TickParts,
  { tick, observation, faults }: Run,
  did: { readonly tool: string; readonly label: string; readonly success: boolean },
  skill: Procedure | undefined,
): Promise<void> {
  const about = skill ? { skill: { name: skill.name, version: skill.version } } : {};
  const context = `${observation.tag}: ${did.label}`;
  const feedback = { ...about, tool: did.tool, success: did.success, outcome_value: null, tick, context };
  await call(() => hooks.toolResult({ feedback }), faults);
}

/** The procedure that was named before this was done and has it among its steps; one without steps covers all. */
function guideOf({ procedures, said }: Run, label: string): Procedure | undefined {
  const covers = ({ steps }: Procedure) => steps.length === 0 || steps.includes(label);
  return procedures.find((one) => covers(one) && isNamed(one.name, said.text));
}

async function answerOf(
  parts: TickParts,
  run: Run,
  { deliberation, best }: { readonly deliberation: Deliberation; readonly best: Procedure | undefined },
  signal: AbortSignal,
): Promise<Answer> {
  const { mind, golem, domain, live, clock } = parts;
  const { gate, observation, heard, actions } = run;
  // A quiet day with a word of the owner, or one on which a check passes and prints something else: a rule has nothing to put right.
  const hasWork = gate.pe > 0 && observation.tag !== 'unseen' && observation.tag !== 'quiet';
  const byRule = async (): Promise<Answer> =>
    hasWork ? answerByRule(deliberation, best) : { ...NOBODY, by: 'nobody' };
  if (mind === undefined || !gate.mayAsk) return byRule();
  const known = new Grimoire(golem.rows, clock).search(observation.text, 5, 'episode');
  const turn = {
    ...({ mind, tier: gate.tier === 'T1' ? 'T1' : 'T2', tools: domain.tools, steers: heard.steers } as const),
    strategy: (readIfThere(golem.places.strategy) ?? '').replace(/<!--[\s\S]*?-->/g, ''),
    heuristics: known.map(({ id, text }) => `[h-${id}] ${text}`),
    ended: (event: AgentTool, hasChanged: boolean) => ofAgent(parts, run, event, hasChanged),
  };
  live.current = deliberation;
  const limit = deadline(clock, signal, TURN_MS, () => new Error('the turn took too long'));
  try {
    const answer = await answerByModel(deliberation, turn, limit.signal);
    signal.throwIfAborted();
    // A model that failed before it did anything leaves the work to the rule, and the record says so.
    if (answer.fault === undefined || actions.length > 0 || !hasWork) return answer;
    return { ...(await byRule()), fault: answer.fault, cost: answer.cost };
  } finally {
    limit.clear();
    delete live.current;
  }
}

/** A tool of the agent itself ended: it counts as an act as any other. */
async function ofAgent(parts: TickParts, run: Run, { name, result }: AgentTool, has_changed: boolean): Promise<void> {
  await storePrediction(parts, run);
  const success = !result.isError;
  run.actions.push({ tool: name, label: name, status: success ? 'ok' : 'failed', has_changed, ms: result.observed.ms });
  await feedBack(parts, run, { tool: name, label: name, success }, guideOf(run, name));
}
