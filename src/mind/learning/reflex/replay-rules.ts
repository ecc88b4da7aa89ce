// Owns the intents `replay` and `repeat`: a recorded procedure by its name and with its values, and what was done for something before,
// here or in another session (reflex 5). Invariants: the steps are those of the skill as it stands now, read by skill_view so that the
// use is recorded, or recorded calls that worked; those of another session are always shown and asked about first.
import { isJsonObject, type JsonObject, parseJsonObject } from '#base/json.ts';
import type { ReflexInput, ReflexMatch, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import type { KeptEntry } from '#mind/memory/reflex/kept-entries.ts';
import { clearMatch, overlap } from '#mind/memory/reflex/match-entries.ts';
import { textArgument } from '../counters/done-calls.ts';
import { isRepeat } from '../counters/own-turns.ts';
import { ownerWords, splitTurns } from '../counters/split-turns.ts';
import { isKnownSkill, playSteps, readSkillAnswer, readSkillList, type SeenSkill } from './play-steps.ts';
import { type CallStep, fillStep, parametersOf } from './procedure/step.ts';
import { traceOf } from './procedure/trace.ts';

const NAMED: readonly string[] = [
  '(do|run|replay|repeat|redo|use|follow|apply|execute|start) [my|our] (skill|procedure|recipe|routine) [called|named] {name:name} [again] [(with|using) {with:rest}]',
  '(do|run|replay|repeat|redo|use|follow|apply|execute|start) [my|our] {name:name} (skill|procedure|recipe|routine) [again] [(with|using) {with:rest}]',
];
const PLAIN: readonly string[] = [
  '(do|replay|repeat|redo|follow|apply|run|execute|start) [my|our] {name:name} [again] [(with|using) {with:rest}]',
  '(do|replay|repeat|redo|follow|run|execute|start) [my|our] {name:words} [thing|steps|job] [again|as usual|as always|like last time|like (i|we) taught you]',
];
const DIRECT = /^[`"']?(?<name>[a-z0-9][a-z0-9._-]{1,63})[`"']?\s+(?<with>[a-z][\w-]*=.+)$/i;

export const replayRule: ReflexRule = {
  purpose: 'act',
  intent: 'replay',
  effect: 'write',
  examples: ['do the skill release', 'replay deploy-site with host=staging'],

  match(input) {
    const named = input.fit(NAMED);
    if (named !== undefined) return matchOf(named.slots);
    const direct = DIRECT.exec(input.words)?.groups;
    if (direct?.name !== undefined && isKnownSkill(direct.name, input)) return matchOf(direct);
    const slots = input.fit(PLAIN)?.slots;
    const name = slots?.name?.toLowerCase().replace(/\s+/g, '-') ?? '';
    if (slots === undefined || name === '') return undefined;
    const isName =
      isKnownSkill(name, input) ||
      (/^(?:do|replay)\b/i.test(input.words) && /^[a-z0-9]+(?:-[a-z0-9]+)+$/.test(slots.name ?? ''));
    return isName ? matchOf({ ...slots, name }) : undefined;
  },

  restate: ({ slots }) => replayLine(slots.name ?? '', valuesOf(slots.with ?? '')),

  act({ slots }, input, [view, ...played]) {
    if (view === undefined)
      return { type: 'call', calls: [{ name: 'skill_view', arguments: { name: slots.name ?? '' } }] };
    return playSkill({ view, played, values: valuesOf(slots.with ?? ''), input });
  },
};

function matchOf({ name = '', with: values }: Readonly<Record<string, string | undefined>>): ReflexMatch {
  return { score: 1, slots: { name: name.toLowerCase(), ...(values === undefined ? {} : { with: values }) } };
}

interface SkillPlay {
  readonly view: ToolResultPart;
  readonly played: readonly ToolResultPart[];
  readonly values: Readonly<Record<string, string>>;
  readonly input: ReflexInput;
}

/** After skill_view: asks for what is missing, then plays. */
function playSkill({ view, played, values, input }: SkillPlay): ReflexStep {
  const seen = readSkillAnswer(view);
  if (!seen.ok) return { type: 'say', text: '', quotes: [{ source: 'skill_view', text: seen.detail }] };
  const { name, items } = seen.value;
  const steps = items.flatMap(({ step }) => (step.kind === 'call' ? [step] : []));
  if (steps.length === 0 || steps.length < items.length) return notByRule(seen.value);
  const missing = parametersOf(steps).filter((parameter) => values[parameter] === undefined);
  if (missing.length > 0) return askFor(name, missing, values);
  const filled = steps.map((step) => fillStep(step, values));
  return playSteps({ title: name, steps: filled, results: played, input, line: replayLine(name, values) });
}

function notByRule({ name, items }: SeenSkill): ReflexStep {
  const at = items.findIndex(({ step }) => step.kind === 'words');
  if (at < 0) return { type: 'say', text: `The skill ${name} has no steps that I can replay.` };
  const text = `Step ${at + 1} of ${name} is for a reader, not for a rule. Nothing was run:`;
  return { type: 'say', text, quotes: [{ source: `skill ${name}`, text: items[at]?.source ?? '' }] };
}

function askFor(name: string, missing: readonly string[], values: Readonly<Record<string, string>>): ReflexStep {
  const joint = Object.keys(values).length > 0 ? ', ' : ' with ';
  return {
    type: 'ask',
    question: `The skill ${name} needs ${missing.join(', ')}.`,
    choices: [`show the skill ${name}`],
    fill: `${replayLine(name, values)}${joint}${missing[0]}={}`,
  };
}

function replayLine(name: string, values: Readonly<Record<string, string>>): string {
  const given = Object.entries(values).map(
    ([key, value]) => `${key}=${/[\s,"]/.test(value) ? JSON.stringify(value) : value}`,
  );
  return `do the skill ${name}${given.length > 0 ? ` with ${given.join(', ')}` : ''}`;
}

const VALUE = /([a-z][\w-]*)=(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|`([^`]*)`|([^\s,]+))/gi;

/** `host=staging, tag="v 2"` */
function valuesOf(text: string): Readonly<Record<string, string>> {
  const pairs = [...text.matchAll(VALUE)].map(([, key = '', quoted, ...others]) => {
    const value = quoted === undefined ? others.find((one) => one !== undefined) : quoted.replace(/\\(.)/g, '$1');
    return [key.toLowerCase(), value ?? ''];
  });
  return Object.fromEntries(pairs);
}

const REPEAT: readonly string[] = [
  '(do|repeat|redo|replay|run) [again] (what|same as|same thing as|same thing|the steps that) (we|i|you) did [last time] (for|with|on|about|to) {topic:rest}',
  '(do|repeat|redo) [it|that] [again] (like|as) (we|i|you) did (for|with|on|about|to) {topic:rest}',
];
const CLOSE = 0.5;
const AROUND = 20;

export const repeatRule: ReflexRule = {
  purpose: 'act',
  intent: 'repeat',
  effect: 'write',
  examples: ['do what we did for the release', 'do the same as we did for the staging server'],
  match: (input) => input.fit(REPEAT),
  restate: ({ slots }) => `do what we did for ${slots.topic}`,

  act({ slots }, input, results) {
    const topic = slots.topic ?? '';
    const search = { topic, line: `do what we did for ${topic}`, input };
    const steps = stepsHere(topic, input);
    if (steps !== undefined) return playSteps({ title: topic, steps, results, ...search });
    return fromSkills(search, results);
  },
};

interface Search {
  readonly topic: string;
  readonly line: string;
  readonly input: ReflexInput;
}

/** The newest turn of this conversation that was about it and did something. */
function stepsHere(topic: string, { history }: ReflexInput): readonly CallStep[] | undefined {
  const turn = splitTurns(history).findLast((one) => {
    const line = ownerWords(one[0]);
    return !isRepeat(line) && overlap(topic, line) >= CLOSE && traceOf(one).steps.length > 0;
  });
  return turn && traceOf(turn).steps;
}

function fromSkills(search: Search, [list, ...rest]: readonly ToolResultPart[]): ReflexStep {
  const { topic, input } = search;
  if (!input.tools.has('skills_list')) return fromSessions(search, list === undefined ? [] : [list, ...rest]);
  if (list === undefined) return { type: 'call', calls: [{ name: 'skills_list', arguments: {} }] };
  const skills: readonly KeptEntry[] = readSkillList(list).map(({ name, description }) => ({
    target: 'memory',
    text: `${name.replaceAll('-', ' ')} ${description}\n${name}`,
  }));
  const name = clearMatch(topic, skills)?.text.split('\n')[1];
  if (name === undefined) return fromSessions(search, rest);
  const [view, ...played] = rest;
  if (view === undefined) return { type: 'call', calls: [{ name: 'skill_view', arguments: { name } }] };
  return playSkill({ view, played, values: {}, input });
}

function fromSessions(search: Search, [found, around, ...played]: readonly ToolResultPart[]): ReflexStep {
  const { topic, line, input } = search;
  const nothing: ReflexStep = { type: 'say', text: `I find nothing that we did for "${topic}".` };
  if (!input.tools.has('session_search')) return nothing;
  if (found === undefined) return searchCall({ query: topic, role_filter: 'user', limit: 5 });
  const hit = bestHit(found, search);
  if (hit === undefined) return nothing;
  const window = { around_message_id: hit.message, window: AROUND, role_filter: 'user,assistant,tool' };
  if (around === undefined) return searchCall({ session_id: hit.session, ...window });
  const steps = stepsAfter(around, hit.message);
  if (steps.length === 0) return nothing;
  const title = `what we did for "${topic}" (session ${hit.session}, message ${hit.message})`;
  return playSteps({ title, steps, results: played, input, line, alwaysAsk: true });
}

function searchCall(given: JsonObject): ReflexStep {
  return { type: 'call', calls: [{ name: 'session_search', arguments: given }] };
}

/** A line of the owner that was about it; the lines that only asked for a repetition are passed over. */
function bestHit(
  result: ToolResultPart,
  { topic, input }: Search,
): { readonly session: string; readonly message: number } | undefined {
  for (const one of resultsOf(result)) {
    const lines = objects(one.messages).filter((message) => {
      const text = textArgument(message, 'text');
      return message.role === 'user' && text !== input.text && !isRepeat(text) && overlap(topic, text) >= CLOSE;
    });
    const best = lines.find(({ id }) => id === one.match_message_id) ?? lines.at(-1);
    if (typeof best?.id === 'number') return { session: textArgument(one, 'session_id'), message: best.id };
  }
  return undefined;
}

/** Calls that worked between the found line and the owner's next one. */
function stepsAfter(result: ToolResultPart, message: number): readonly CallStep[] {
  const messages = objects(resultsOf(result)[0]?.messages);
  const after = messages.slice(messages.findIndex(({ id }) => id === message) + 1);
  const end = after.findIndex(({ role }) => role === 'user');
  return (end < 0 ? after : after.slice(0, end)).flatMap(({ call }) => {
    if (!isJsonObject(call) || call.ok !== true || !isJsonObject(call.arguments) || typeof call.name !== 'string')
      return [];
    return [{ kind: 'call', tool: call.name, arguments: call.arguments } as const];
  });
}

function resultsOf(result: ToolResultPart): readonly JsonObject[] {
  const parsed = parseJsonObject(result.text);
  return parsed.ok ? objects(parsed.value.results) : [];
}

function objects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
