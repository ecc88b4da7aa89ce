// Owns reading the answers of the skill tools as rules need them. Pure. Invariant: what cannot be read is a refusal in the tool's words.
import { isJsonObject, parseJsonObject } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { splitFrontMatter } from '#base/text/front-matter.ts';
import type { ReflexInput } from '#core/agent/reflex-rule.ts';
import { type Message, type ToolResultPart, toolCalls } from '#core/model/message.ts';
import { textArgument } from '../../counters/done-calls.ts';
import { readSteps, type StepItem } from '../procedure/step-text.ts';

export interface SeenSkill {
  readonly name: string;
  /** Whole SKILL.md, as the tool showed it. */
  readonly content: string;
  readonly items: readonly StepItem[];
}

export function readSkillAnswer(result: ToolResultPart): Result<SeenSkill, 'not-shown'> {
  const parsed = parseJsonObject(result.text);
  const value = parsed.ok ? parsed.value : {};
  const { name, content } = value;
  if (result.isError || typeof name !== 'string' || typeof content !== 'string')
    return refuse('not-shown', typeof value.error === 'string' ? value.error : result.text);
  return ok({ name, content, items: readSteps(splitFrontMatter(content).body) });
}

/** Under which id a change waits for the owner; undefined when it was made. */
export function pendingId(result: ToolResultPart): string | undefined {
  const parsed = parseJsonObject(result.text);
  const id = parsed.ok ? textArgument(parsed.value, 'pending') : '';
  return id === '' ? undefined : id;
}

export interface ListedSkill {
  readonly name: string;
  readonly description: string;
}

export function readSkillList(result: ToolResultPart): readonly ListedSkill[] {
  const parsed = parseJsonObject(result.text);
  const skills = parsed.ok && Array.isArray(parsed.value.skills) ? parsed.value.skills : [];
  return skills
    .filter(isJsonObject)
    .map((skill) => ({ name: textArgument(skill, 'name'), description: textArgument(skill, 'description') }));
}

/** Does the prompt list it, or did this conversation use it? */
export function isKnownSkill(name: string, { system, history }: Pick<ReflexInput, 'system' | 'history'>): boolean {
  const wanted = name.toLowerCase();
  const index = /<available_skills>([\s\S]*?)<\/available_skills>/.exec(system)?.[1] ?? '';
  const listed = index.split('\n').some((line) => line.toLowerCase().startsWith(`- ${wanted}:`));
  return listed || history.some((message) => namedIn(message).includes(wanted));
}

function namedIn(message: Message): readonly string[] {
  return toolCalls(message)
    .filter(({ name }) => name === 'skill_view' || name === 'skill_manage')
    .map((call) => textArgument(call.arguments, 'name').toLowerCase());
}
