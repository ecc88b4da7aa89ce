// Owns what it means that a run done again is not the run that is stored: the first event and the field in which they differ. Pure.
import { canonicalJson, isJsonObject, type JsonValue } from '#base/json.ts';
import type { NewRunEvent } from './run-event.ts';

export interface Difference {
  /** Number of the event; null: a call or the outcome differs. */
  readonly seq: number | null;
  /** `type`, `data.facts[2].text`, `outcome.verdict`, … */
  readonly field: string;
  /** Undefined: there is none. */
  readonly stored: JsonValue | undefined;
  readonly replayed: JsonValue | undefined;
}

/** Null: they are the same but for the time. */
export function eventDifference(seq: number, stored: NewRunEvent, replayed: NewRunEvent): Difference | null {
  for (const field of ['type', 'node_id', 'causal_parent_event_id'] as const)
    if (stored[field] !== replayed[field]) return { seq, field, stored: stored[field], replayed: replayed[field] };
  const found = jsonDifference(stored.data, replayed.data, 'data');
  return found === null ? null : { seq, ...found };
}

/** The first place where two values differ, keys in their order; null: equal as canonical JSON. */
export function jsonDifference(
  stored: JsonValue | undefined,
  replayed: JsonValue | undefined,
  field: string,
): Omit<Difference, 'seq'> | null {
  if (canonicalJson(stored) === canonicalJson(replayed)) return null;
  for (const [name, one, other] of partsOf(stored, replayed)) {
    const found = jsonDifference(one, other, `${field}${name}`);
    if (found !== null) return found;
  }
  return { field, stored, replayed };
}

type Part = readonly [name: string, stored: JsonValue | undefined, replayed: JsonValue | undefined];

function partsOf(stored: JsonValue | undefined, replayed: JsonValue | undefined): readonly Part[] {
  if (isJsonObject(stored) && isJsonObject(replayed)) {
    const keys = [...new Set([...Object.keys(stored), ...Object.keys(replayed)])].sort();
    return keys.map((key) => [`.${key}`, stored[key], replayed[key]]);
  }
  if (!Array.isArray(stored) || !Array.isArray(replayed)) return [];
  const [one, other]: readonly (readonly JsonValue[])[] = [stored, replayed];
  const length = Math.max(one?.length ?? 0, other?.length ?? 0);
  return Array.from({ length }, (_, at): Part => [`[${at}]`, one?.[at], other?.[at]]);
}

/** One line, each value cut. */
export function differenceText({ seq, field, stored, replayed }: Difference): string {
  const where = seq === null ? field : `event ${seq}, ${field}`;
  return `${where}: stored ${shown(stored)}, now ${shown(replayed)}`;
}

function shown(value: JsonValue | undefined): string {
  const text = value === undefined ? 'nothing' : canonicalJson(value);
  return text.length > 120 ? `${text.slice(0, 120).toWellFormed()}…` : text;
}
