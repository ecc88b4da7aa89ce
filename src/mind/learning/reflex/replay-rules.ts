// Owns the intent `replay`: a recorded procedure by its name and with its values (reflex 5).
// Invariant: the steps are those of the skill as it stands now, read by skill_view so that the use is recorded.
import type { ReflexInput, ReflexMatch, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import { fillStep, parametersOf } from '../procedure/steps.ts';
import { isKnownSkill, playSteps, readSkillAnswer, type SeenSkill } from './play-steps.ts';

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
    choices: [],
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
