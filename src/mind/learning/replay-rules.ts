// Owns the intent `replay`, a recorded procedure by its name and with its values (reflex 5), and playing its steps until one fails.

import { type JsonObject, parseJsonObject } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { splitFrontMatter } from '#base/text/front-matter.ts';
import type { ReflexInput, ReflexMatch, ReflexQuote, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import { type Message, type ToolResultPart, toolCalls } from '#core/model/message.ts';
import { ownQuestion } from '#core/tools/reflex-commands.ts';
import { quoteCommand, quoteResult } from '#core/tools/reflex-files.ts';
import { doneCalls, textArgument } from '#mind/memory/kept-entries.ts';
import { type CallStep, fillStep, parametersOf, readSteps, type StepItem, shortStep } from './procedure.ts';
import { splitTurns, workCalls } from './read-turns.ts';

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
    if (view === undefined) return callTool('skill_view', { name: slots.name ?? '' });
    return playSkill(view, played, valuesOf(slots.with ?? ''), input);
  },
};

function matchOf({ name = '', with: values }: Readonly<Record<string, string | undefined>>): ReflexMatch {
  return { score: 1, slots: { name: name.toLowerCase(), ...(values === undefined ? {} : { with: values }) } };
}

export function callTool(name: string, given: JsonObject): ReflexStep {
  return { type: 'call', calls: [{ name, arguments: given }] };
}

type Values = Readonly<Record<string, string>>;

/** After skill_view: asks for what is missing, then plays. */
function playSkill(
  view: ToolResultPart,
  played: readonly ToolResultPart[],
  values: Values,
  input: ReflexInput,
): ReflexStep {
  const seen = readSkillAnswer(view);
  if (!seen.ok) return { type: 'say', text: '', quotes: [{ source: 'skill_view', text: seen.detail }] };
  const { name, items } = seen.value;
  const steps = items.flatMap(({ step }) => (step.kind === 'call' ? [step] : []));
  if (steps.length === 0 || steps.length < items.length) return notByRule(name, items);
  const [missing, ...more] = parametersOf(steps).filter((parameter) => values[parameter] === undefined);
  const line = replayLine(name, values);
  if (missing !== undefined) {
    const question = `The skill ${name} needs ${[missing, ...more].join(', ')}.`;
    const joint = Object.keys(values).length > 0 ? ', ' : ' with ';
    return { type: 'ask', question, choices: [], fill: `${line}${joint}${missing}={}` };
  }
  const filled = steps.map((step) => fillStep(step, values));
  const last = played.at(-1);
  if (last !== undefined && hasFailed(last)) {
    const text = `Stopped: step ${played.length} of ${steps.length} failed.`;
    return { type: 'say', text, quotes: quotesOf(filled, played) };
  }
  if (played.length === 0 && !input.confirmed && filled.some(mayWrite)) {
    const shown = filled.map((step, index) => `  ${index + 1}. ${shortStep(step).replace(/\s*\n\s*/g, ' ⏎ ')}`);
    return { type: 'ask', question: [`Replay ${name}?`, ...shown].join('\n'), choices: [line], confirms: true };
  }
  const next = filled[played.length];
  if (next !== undefined) return callTool(next.tool, next.arguments);
  const text = `Replayed ${name}: ${played.length} of ${steps.length} steps.`;
  return { type: 'say', text, quotes: quotesOf(filled, played) };
}

function notByRule(name: string, items: readonly StepItem[]): ReflexStep {
  const at = items.findIndex(({ step }) => step.kind === 'words');
  if (at < 0) return { type: 'say', text: `The skill ${name} has no steps that I can replay.` };
  const text = `Step ${at + 1} of ${name} is for a reader, not for a rule. Nothing was run:`;
  return { type: 'say', text, quotes: [{ source: `skill ${name}`, text: items[at]?.source ?? '' }] };
}

function replayLine(name: string, values: Values): string {
  const given = Object.entries(values).map(
    ([key, value]) => `${key}=${/[\s,"]/.test(value) ? JSON.stringify(value) : value}`,
  );
  return `do the skill ${name}${given.length > 0 ? ` with ${given.join(', ')}` : ''}`;
}

const VALUE = /([a-z][\w-]*)=(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|`([^`]*)`|([^\s,]+))/gi;

/** `host=staging, tag="v 2"` */
function valuesOf(text: string): Values {
  const pairs = [...text.matchAll(VALUE)].map(([, key = '', quoted, ...others]) => {
    const value = quoted === undefined ? others.find((one) => one !== undefined) : quoted.replace(/\\(.)/g, '$1');
    return [key.toLowerCase(), value ?? ''];
  });
  return Object.fromEntries(pairs);
}

const READS: ReadonlySet<string> = new Set(
  'read_file search_files session_search skill_view skills_list web_fetch'.split(' '),
);

export function hasFailed({ isError, observed }: ToolResultPart): boolean {
  return isError || observed.refused !== undefined || (observed.exitCode ?? 0) !== 0;
}

function mayWrite({ tool, arguments: given }: CallStep): boolean {
  return tool === 'terminal' ? ownQuestion(textArgument(given, 'command')) !== undefined : !READS.has(tool);
}

function quotesOf(steps: readonly CallStep[], results: readonly ToolResultPart[]): readonly ReflexQuote[] {
  return results.flatMap((result, index) => {
    const step = steps[index];
    const isCommand = step?.tool === 'terminal';
    const said = isCommand
      ? quoteCommand(textArgument(step.arguments, 'command'), result)
      : quoteResult(step ? shortStep(step) : result.name, result);
    return (said.quotes ?? []).map((quote) => ({ ...quote, source: `${index + 1}. ${quote.source}` }));
  });
}

/** The skill that was viewed and followed in the newest turn that did anything, or was changed since; undefined otherwise. */
export function lastReplay(history: readonly Message[]): string | undefined {
  for (const turn of splitTurns(history).toReversed()) {
    const calls = doneCalls(turn);
    const viewed = calls.find(({ call, result }) => call.name === 'skill_view' && !result.isError);
    const patched = calls.find(({ call, result }) => call.name === 'skill_manage' && !result.isError);
    const skill = viewed ?? patched;
    if (skill !== undefined && (patched !== undefined || workCalls(turn).length > 0))
      return textArgument(skill.call.arguments, 'name');
    if (workCalls(turn).length > 0) return undefined;
  }
  return undefined;
}

/** The skill as the tool showed it. */
export function readSkillAnswer(
  result: ToolResultPart,
): Result<{ readonly name: string; readonly items: readonly StepItem[] }, 'not-shown'> {
  const parsed = parseJsonObject(result.text);
  const { name, content, error } = parsed.ok ? parsed.value : {};
  if (result.isError || typeof name !== 'string' || typeof content !== 'string')
    return refuse('not-shown', typeof error === 'string' ? error : result.text);
  return ok({ name, items: readSteps(splitFrontMatter(content).body) });
}

/** What skill_manage did: the id under which the change waits for the owner, or why nothing was changed. */
export function readChange(result: ToolResultPart): { readonly waiting?: string; readonly refusal?: string } {
  const parsed = parseJsonObject(result.text);
  const value = parsed.ok ? parsed.value : {};
  const failed = result.isError || result.observed.refused !== undefined || value.success === false;
  if (failed) return { refusal: typeof value.error === 'string' ? value.error : result.text };
  const waiting = textArgument(value, 'pending');
  return waiting === '' ? {} : { waiting };
}

/** Does the prompt list it, or did this conversation use it? */
function isKnownSkill(name: string, { system, history }: Pick<ReflexInput, 'system' | 'history'>): boolean {
  const wanted = name.toLowerCase();
  const index = /<available_skills>([\s\S]*?)<\/available_skills>/.exec(system)?.[1] ?? '';
  if (index.split('\n').some((line) => line.toLowerCase().startsWith(`- ${wanted}:`))) return true;
  const used = history.flatMap(toolCalls).filter((call) => call.name === 'skill_view' || call.name === 'skill_manage');
  return used.some((call) => textArgument(call.arguments, 'name').toLowerCase() === wanted);
}
