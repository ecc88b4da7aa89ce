// Owns texts that are too large for one row, bundles and testaments: how they go over the log in parts, and how they are put together. Invariants: a
// text comes out whole, as its hash says, or not at all; each comes out once with what was said of it, however often and in whatever order its
// parts arrived.
import { sha256 } from '#base/ids.ts';
import { canonicalJson, isJsonObject, type JsonObject } from '#base/json.ts';
import type { StyxRow, StyxTransport } from './home-log.ts';

/** UTF-16 units of one part: as JSON at most six bytes each, so that a row stays under 512 KB. */
const PART_UNITS = 80_000;

export interface Parcel {
  readonly topic: string;
  /** Of the log that it was sent from. */
  readonly origin: string;
  /** Lower-case hex SHA-256 of the text. */
  readonly hash: string;
  readonly text: string;
  /** What was said of it beside. */
  readonly about: JsonObject;
  /** Of its last row here. */
  readonly seq: number;
}

/** `about` stands in the first row, with the hash. Throws as `append`; what was sent by then is no parcel. */
export async function sendParcel(log: StyxTransport, topic: string, text: string, about: JsonObject): Promise<void> {
  const hash = sha256(text);
  const parts = Math.max(1, Math.ceil(text.length / PART_UNITS));
  for (let part = 0; part < parts; part += 1) {
    const piece = text.slice(part * PART_UNITS, (part + 1) * PART_UNITS);
    await log.append(topic, { ...(part === 0 ? about : {}), hash, part, parts, text: piece });
  }
}

/** Those of which every part is among the rows, in the order in which they became whole. One text sent with other words is another parcel. */
export function wholeParcels(rows: readonly StyxRow[]): readonly Parcel[] {
  const open = new Map<string, { readonly firsts: Map<string, StyxRow>; readonly others: Map<number, StyxRow> }>();
  const whole = new Map<string, Parcel>();
  for (const row of rows) {
    const part = partOf(row);
    if (part === undefined) continue;
    const own = `${row.origin} ${part.parts} ${row.topic} ${part.hash}`;
    const found = open.get(own) ?? { firsts: new Map<string, StyxRow>(), others: new Map<number, StyxRow>() };
    open.set(own, found);
    if (part.part === 0) found.firsts.set(nameOf(row), row);
    else found.others.set(part.part, row);
    for (const [name, first] of found.firsts) {
      const parcel = whole.has(name) ? undefined : together(part, first, found.others);
      if (parcel) whole.set(name, { ...parcel, seq: row.seq });
    }
  }
  return [...whole.values()];
}

/** Of the parcel that a first part begins. */
function nameOf({ topic, body }: StyxRow): string {
  return `${topic} ${canonicalJson({ ...(isJsonObject(body) ? body : {}), text: null, parts: null })}`;
}

type Part = Readonly<Record<'part' | 'parts', number> & Record<'hash' | 'text', string>>;

function partOf({ body }: StyxRow): Part | undefined {
  const { hash, part, parts, text } = isJsonObject(body) ? body : {};
  const isNumbered = typeof part === 'number' && typeof parts === 'number';
  return isNumbered && typeof hash === 'string' && typeof text === 'string' ? { hash, part, parts, text } : undefined;
}

function together({ hash, parts }: Part, first: StyxRow, others: ReadonlyMap<number, StyxRow>): Parcel | undefined {
  if (others.size < parts - 1) return undefined;
  const rows = [first, ...Array.from({ length: Math.min(parts - 1, others.size) }, (_, at) => others.get(at + 1))];
  const bodies = rows.flatMap((row) => (row && isJsonObject(row.body) ? [row.body] : []));
  const text = bodies.map((body) => String(body.text)).join('');
  if (sha256(text) !== hash) return undefined;
  const { hash: _hash, part: _part, parts: _parts, text: _text, ...about } = bodies[0] ?? {};
  return { topic: first.topic, origin: first.origin, hash, text, about, seq: first.seq };
}
