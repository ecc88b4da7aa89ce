// Owns which skill a tool call belongs to (curator notes 3). Pure. The original knows only calls that name a skill; ours also counts
// the ordinary calls that are made while a skill is active.
import { isJsonObject } from '#base/json.ts';
import type { CompatOptions } from './compact-preview.ts';
import { isTruthy, plainText } from './upstream-value.ts';

export interface AttributionOptions extends CompatOptions {
  /** The skill that was viewed last in this turn. Not heard in `compat`. */
  readonly active?: string;
}

const NAMING = ['skill_view', 'skill_manage'];
const KEYS = ['name', 'skill', 'skill_name'];

/**
 * The name of the skill that a tool call counts for, or null (seed 002, evidence; notes 3). `skill_view` and `skill_manage`: the first
 * truthy of the arguments `name`, `skill`, `skill_name`, as text; any other tool: the first truthy element of the list `skills`.
 * Ours takes texts only, and else the skill that is `active`. `args`: the call's arguments, anything but an object names nothing.
 * Throws nothing.
 */
export function attributeSkill(tool: string, args: unknown, options: AttributionOptions = {}): string | null {
  const named = namedSkill(tool, isJsonObject(args) ? args : {}, options.compat === 'upstream');
  if (named !== null || options.compat === 'upstream') return named;
  return options.active ?? null;
}

function namedSkill(tool: string, args: Readonly<Record<string, unknown>>, upstream: boolean): string | null {
  const given = NAMING.includes(tool) ? KEYS.map((key) => args[key]) : Array.isArray(args.skills) ? args.skills : [];
  const first = given.find((value) => (upstream ? isTruthy(value) : typeof value === 'string' && value.trim() !== ''));
  if (first === undefined) return null;
  return upstream ? plainText(first) : String(first).trim();
}
