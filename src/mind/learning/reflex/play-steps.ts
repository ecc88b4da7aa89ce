// Owns playing recorded steps, one call after the other until one fails, and reading what the skill tools answer. Knows no source of steps.
// Invariants: each step is approved as any call; what changes something and is approved by nobody else is asked about once, with every
// step shown (reflex 8); nothing runs after a failed step.
import { parseJsonObject } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { splitFrontMatter } from '#base/text/front-matter.ts';
import type { ReflexInput, ReflexQuote, ReflexStep } from '#core/agent/reflex-rule.ts';
import { type Message, type ToolResultPart, toolCalls } from '#core/model/message.ts';
import { quoteCommand, quoteResult } from '#core/tools/reflex/answers.ts';
import { ownQuestion } from '#core/tools/reflex/command-line.ts';
import { doneCalls, textArgument, workCalls } from '../counters/done-calls.ts';
import { splitTurns } from '../counters/split-turns.ts';
import { type CallStep, readSteps, type StepItem } from '../procedure/steps.ts';
import { shortStep } from '../procedure/traces.ts';

export interface Play {
  /** What is replayed, for people. */
  readonly title: string;
  readonly steps: readonly CallStep[];
  /** Results of the steps so far. */
  readonly results: readonly ToolResultPart[];
  readonly input: Pick<ReflexInput, 'confirmed'>;
  /** The line that starts this play, for the question before it. */
  readonly line: string;
}

const READS: ReadonlySet<string> = new Set([
  'read_file',
  'search_files',
  'session_search',
  'skill_view',
  'skills_list',
  'web_fetch',
]);

export function playSteps(play: Play): ReflexStep {
  const { steps, results, title } = play;
  const last = results.at(-1);
  if (last !== undefined && hasFailed(last))
    return { type: 'say', text: `Stopped: step ${results.length} of ${steps.length} failed.`, quotes: quotesOf(play) };
  if (results.length === 0 && !play.input.confirmed && steps.some(mayWrite)) {
    const shown = steps.map((step, index) => `  ${index + 1}. ${shortStep(step).replace(/\s*\n\s*/g, ' ⏎ ')}`);
    return { type: 'ask', question: [`Replay ${title}?`, ...shown].join('\n'), choices: [play.line], confirms: true };
  }
  const next = steps[results.length];
  if (next !== undefined) return { type: 'call', calls: [{ name: next.tool, arguments: next.arguments }] };
  return {
    type: 'say',
    text: `Replayed ${title}: ${results.length} of ${steps.length} steps.`,
    quotes: quotesOf(play),
  };
}

export function hasFailed({ isError, observed }: ToolResultPart): boolean {
  return isError || observed.refused !== undefined || (observed.exitCode ?? 0) !== 0;
}

function mayWrite({ tool, arguments: given }: CallStep): boolean {
  return tool === 'terminal' ? ownQuestion(textArgument(given, 'command')) !== undefined : !READS.has(tool);
}

function quotesOf({ steps, results }: Play): readonly ReflexQuote[] {
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

export interface SeenSkill {
  readonly name: string;
  /** Whole SKILL.md, as the tool showed it. */
  readonly content: string;
  readonly items: readonly StepItem[];
}

export function readSkillAnswer(result: ToolResultPart): Result<SeenSkill, 'not-shown'> {
  const parsed = parseJsonObject(result.text);
  const { name, content, error } = parsed.ok ? parsed.value : {};
  if (result.isError || typeof name !== 'string' || typeof content !== 'string')
    return refuse('not-shown', typeof error === 'string' ? error : result.text);
  return ok({ name, content, items: readSteps(splitFrontMatter(content).body) });
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
export function isKnownSkill(name: string, { system, history }: Pick<ReflexInput, 'system' | 'history'>): boolean {
  const wanted = name.toLowerCase();
  const index = /<available_skills>([\s\S]*?)<\/available_skills>/.exec(system)?.[1] ?? '';
  if (index.split('\n').some((line) => line.toLowerCase().startsWith(`- ${wanted}:`))) return true;
  const used = history.flatMap(toolCalls).filter((call) => call.name === 'skill_view' || call.name === 'skill_manage');
  return used.some((call) => textArgument(call.arguments, 'name').toLowerCase() === wanted);
}
