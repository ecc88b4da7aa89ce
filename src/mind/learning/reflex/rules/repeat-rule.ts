// Owns the intent `repeat`: what was done for something before, here or in another session, step by step again (reflex 5).
// Invariants: the steps are recorded calls that worked; those of another session are always shown and asked about first.
import { isJsonObject, type JsonObject, parseJsonObject } from '#base/json.ts';
import type { ReflexInput, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import type { KeptEntry } from '#mind/memory/reflex/kept-entries.ts';
import { clearMatch, overlap } from '#mind/memory/reflex/match-entries.ts';
import { textArgument } from '../../counters/done-calls.ts';
import { isRepeat } from '../../counters/own-turns.ts';
import { ownerWords, splitTurns } from '../../counters/split-turns.ts';
import type { CallStep } from '../procedure/step.ts';
import { traceOf } from '../procedure/trace.ts';
import { fill, forms, texts } from './english.ts';
import { playSteps } from './play-steps.ts';
import { playSkill } from './replay-rule.ts';
import { readSkillList } from './skill-answer.ts';

const CLOSE = 0.5;
const AROUND = 20;

export const repeatRule: ReflexRule = {
  purpose: 'act',
  intent: 'repeat',
  effect: 'write',
  examples: ['do what we did for the release', 'do the same as we did for the staging server'],

  match: (input) => input.fit(forms.repeat),

  restate: ({ slots }) => `do what we did for ${slots.topic}`,

  act({ slots }, input, results) {
    const topic = slots.topic ?? '';
    const here = stepsHere(topic, input);
    const line = `do what we did for ${topic}`;
    if (here !== undefined) return playSteps({ title: topic, steps: here, results, input, line });
    return fromSkills({ topic, line, input }, results);
  },
};

interface Search {
  readonly topic: string;
  readonly line: string;
  readonly input: ReflexInput;
}

/** The newest turn of this conversation that was about it and did something. */
function stepsHere(topic: string, { history }: ReflexInput): readonly CallStep[] | undefined {
  const turn = splitTurns(history).findLast(
    (one) =>
      !isRepeat(ownerWords(one[0])) && overlap(topic, ownerWords(one[0])) >= CLOSE && traceOf(one).steps.length > 0,
  );
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
  const nothing: ReflexStep = { type: 'say', text: fill(texts.notFound, topic) };
  if (!input.tools.has('session_search')) return nothing;
  if (found === undefined)
    return {
      type: 'call',
      calls: [{ name: 'session_search', arguments: { query: topic, role_filter: 'user', limit: 5 } }],
    };
  const hit = bestHit(found, search);
  if (hit === undefined) return nothing;
  if (around === undefined)
    return {
      type: 'call',
      calls: [
        {
          name: 'session_search',
          arguments: {
            session_id: hit.session,
            around_message_id: hit.message,
            window: AROUND,
            role_filter: 'user,assistant,tool',
          },
        },
      ],
    };
  const steps = stepsAfter(around, hit.message);
  if (steps.length === 0) return nothing;
  const title = `what we did for "${topic}" (session ${hit.session}, message ${hit.message})`;
  return playSteps({ title, steps, results: played, input, line, alwaysAsk: true });
}

/** A line of the owner that was about it; the lines that only asked for a repetition are passed over. */
function bestHit(
  result: ToolResultPart,
  { topic, input }: Search,
): { readonly session: string; readonly message: number } | undefined {
  for (const one of listIn(result, 'results')) {
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
  const messages = objects(listIn(result, 'results')[0]?.messages);
  const after = messages.slice(messages.findIndex(({ id }) => id === message) + 1);
  const end = after.findIndex(({ role }) => role === 'user');
  return (end < 0 ? after : after.slice(0, end)).flatMap(({ call }) => {
    if (!isJsonObject(call) || call.ok !== true || !isJsonObject(call.arguments) || typeof call.name !== 'string')
      return [];
    return [{ kind: 'call', tool: call.name, arguments: call.arguments } as const];
  });
}

function listIn(result: ToolResultPart, key: string): readonly JsonObject[] {
  const parsed = parseJsonObject(result.text);
  return parsed.ok ? objects(parsed.value[key]) : [];
}

function objects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
