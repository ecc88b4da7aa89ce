// Owns which skill a tool call belongs to (curator notes 3). Pure. The original knows only calls that name a skill; ours also counts
// the ordinary calls that are made while a skill is active.
import { isJsonObject } from '#base/json.ts';
import type { CompatOptions } from './compact-preview.ts';

export interface AttributionOptions extends CompatOptions {
  /** The skill that was viewed last in this turn. Not heard in `compat`. */
  readonly active?: string;
}

const NAMING = ['skill_view', 'skill_manage'];
const KEYS = ['name', 'skill', 'skill_name'];

export function attributeSkill(tool: string, args: unknown, options: AttributionOptions = {}): string | null {
  const named = namedSkill(tool, isJsonObject(args) ? args : {}, options.compat === 'upstream');
  if (named !== null || options.compat === 'upstream') return named;
  return options.active ?? null;
}

function namedSkill(tool: string, args: Readonly<Record<string, unknown>>, upstream: boolean): string | null {
  const given = NAMING.includes(tool) ? KEYS.map((key) => args[key]) : Array.isArray(args.skills) ? args.skills : [];
  const first = given.find((value) => (upstream ? isTruthy(value) : typeof value === 'string' && value.trim() !== ''));
  if (first === undefined) return null;
  return typeof first === 'string' ? (upstream ? first : first.trim()) : shown(first);
}

function isTruthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isJsonObject(value) ? Object.keys(value).length > 0 : Boolean(value);
}

function shown(value: unknown): string {
  if (value === true) return 'True';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
