// Owns the intent `amend`: right after a replay, the owner's correction becomes a patch of the skill (reflex 5, seed 001 ch 12).
// Invariants: only a skill that was just replayed is changed; an added command is run first, and kept only when it worked.
import type { JsonObject } from '#base/json.ts';
import type { ReflexInput, ReflexMatch, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import { quoteCommand, quoteResult } from '#core/tools/reflex/answers.ts';
import { bareCertainty } from '#core/tools/reflex/command/bare-command.ts';
import { commandRisk } from '#core/tools/reflex/command/command-risk.ts';
import { readCommand } from '#core/tools/reflex/command/read-command.ts';
import { type Amendment, amendSteps } from '../procedure/amend-steps.ts';
import { fill, patterns, texts } from './english.ts';
import { lastReplay } from './last-replay.ts';
import { pendingId, readSkillAnswer } from './skill-answer.ts';

type Slots = Readonly<Record<string, string>>;

export const amendRule: ReflexRule = {
  purpose: 'memory',
  intent: 'amend',
  effect: 'home',
  examples: ['skip step 2', 'leave out step 3 next time'],

  match(input) {
    const line = input.text.trim();
    if (patterns.condition.test(line.replace(/`[^`]*`/g, '').replace(/\b(?:next time|from now on)\b/gi, '')))
      return undefined;
    const skip = patterns.skip.exec(line)?.groups;
    if (skip) return { score: 0.97, slots: { step: skip.step ?? '' } };
    // Without a replay before them the other corrections mean something else.
    if (lastReplay(input.history) === undefined) return undefined;
    const instead = (patterns.instead.exec(line) ?? patterns.insteadAfter.exec(line))?.groups;
    if (instead) return commandMatch(instead.command ?? '', { old: instead.old ?? '' }, true);
    const said = patterns.also.exec(line) ?? patterns.tooRun.exec(line);
    return said ? commandMatch(said.groups?.command ?? '', {}, /\b(?:run|do|execute|call)\b/i.test(line)) : undefined;
  },

  restate({ slots }) {
    if (slots.step !== undefined && slots.command === undefined) return `skip step ${slots.step}`;
    const command = `\`${slots.command}\``;
    if (slots.old !== undefined) return `instead of ${slots.old} run ${command}`;
    const place = slots.side === undefined ? '' : ` ${slots.side} step ${slots.step}`;
    return `also run ${command}${place}`;
  },

  act(match, input, results) {
    const name = lastReplay(input.history);
    if (name === undefined) return { type: 'say', text: texts.noReplay };
    const amendment = amendmentOf(match.slots);
    if (amendment.kind !== 'add') return patchSkill({ name, amendment, before: [] }, results);
    const [run, ...rest] = results;
    if (run === undefined) return runFirst(name, amendment.command, input);
    if (run.isError || run.observed.refused !== undefined || (run.observed.exitCode ?? 0) !== 0) {
      const said = quoteCommand(amendment.command, run);
      return said.type === 'say' ? { ...said, text: fill(texts.notPatched, name) } : said;
    }
    return patchSkill({ name, amendment, before: [run] }, rest);
  },
};

function runFirst(name: string, command: string, { confirmed }: ReflexInput): ReflexStep {
  const risk = commandRisk(command);
  if (risk !== undefined && !confirmed)
    return {
      type: 'ask',
      question: fill(texts.writes, risk, command, name),
      choices: [amendRule.restate({ score: 1, slots: { command } })],
      confirms: true,
    };
  return { type: 'call', calls: [{ name: 'terminal', arguments: { command } }] };
}

interface Patching {
  readonly name: string;
  readonly amendment: Amendment;
  /** The run of the added command, to be quoted. */
  readonly before: readonly ToolResultPart[];
}

function patchSkill({ name, amendment, before }: Patching, [view, patched]: readonly ToolResultPart[]): ReflexStep {
  if (view === undefined) return { type: 'call', calls: [{ name: 'skill_view', arguments: { name } }] };
  const seen = readSkillAnswer(view);
  if (!seen.ok)
    return { type: 'say', text: fill(texts.notPatched, name), quotes: [{ source: 'skill_view', text: seen.detail }] };
  const patch = amendSteps(seen.value.items, amendment);
  if (!patch.ok) return { type: 'say', text: fill(texts.noStep, name) };
  const { oldString, newString, added } = patch.value;
  const change: JsonObject = { action: 'patch', name, old_string: oldString, new_string: newString };
  if (patched === undefined) return { type: 'call', calls: [{ name: 'skill_manage', arguments: change }] };
  const quoted = before.flatMap((run) => quotesOf(amendment, run));
  if (patched.isError || patched.observed.refused !== undefined || /"success":\s*false/.test(patched.text)) {
    const refusal = quoteResult('skill_manage', patched);
    return {
      type: 'say',
      text: fill(texts.notPatched, name),
      quotes: [...quoted, ...(refusal.type === 'say' ? (refusal.quotes ?? []) : [])],
    };
  }
  const gone = amendment.kind === 'skip' ? seen.value.items[amendment.step - 1]?.source : undefined;
  const waiting = pendingId(patched);
  const quote = { source: gone === undefined ? `skill ${name}` : `taken out of ${name}`, text: gone ?? added };
  return { type: 'say', text: doneText(name, amendment, waiting), quotes: [...quoted, quote] };
}

function doneText(name: string, amendment: Amendment, waiting: string | undefined): string {
  if (waiting !== undefined) return fill(texts.patchWaits, waiting, name);
  return amendment.kind === 'skip' ? fill(texts.skipped, name, amendment.step) : fill(texts.patched, name);
}

function quotesOf(amendment: Amendment, run: ToolResultPart) {
  const said = amendment.kind === 'add' ? quoteCommand(amendment.command, run) : undefined;
  return said?.type === 'say' ? (said.quotes ?? []) : [];
}

function commandMatch(spoken: string, more: Slots, isRun: boolean): ReflexMatch | undefined {
  const { words, place } = takePlace(spoken.trim().replace(/[.!]$/, ''));
  const quoted = /^`([^`]+)`$/.exec(words)?.[1] ?? /^"([^"]+)"$/.exec(words)?.[1];
  const read = readCommand(words);
  const certainty =
    quoted === undefined ? (isRun ? read.certainty : Math.min(read.certainty, bareCertainty(words))) : 1;
  const command = quoted ?? read.command;
  return command === '' || certainty === 0
    ? undefined
    : { score: 0.97 * certainty, slots: { ...more, ...place, command } };
}

/** Takes words about the place off the end; what stands in code is never one. */
function takePlace(spoken: string): { readonly words: string; readonly place: Slots } {
  let words = spoken;
  let place: Slots = {};
  for (let found = patterns.position.exec(words); found; found = patterns.position.exec(words)) {
    const { first, side, step } = found.groups ?? {};
    if (first !== undefined) place = { side: 'before', step: '1' };
    if (side !== undefined && step !== undefined) place = { side, step };
    words = words.slice(0, found.index).trim();
  }
  return { words, place };
}

function amendmentOf({ command, old, step, side }: Slots): Amendment {
  if (command === undefined) return { kind: 'skip', step: Number(step) };
  if (old !== undefined) return { kind: 'replace', old, command };
  const at = side === 'before' || side === 'after' ? ({ side, step: Number(step) } as const) : undefined;
  return { kind: 'add', command, ...(at ? { at } : {}) };
}
