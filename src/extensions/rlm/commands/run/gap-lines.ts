// Owns the gaps of a run as a person reads them: equal ones of several chunks in one line, in words, without ids of calls and nodes; `show`
// and the JSON keep those. Pure. Invariant: no gap is left out; a list that is cut says by how much.
import type { CallRecord } from '../../call/call-record.ts';
import type { RunGap, RunOutcome } from '../../run/run-outcome.ts';

export type GapCall = Pick<CallRecord, 'call_id' | 'mode' | 'selected_chunk_ids'>;

/** What stands in the place of a chunk that a sentence names. */
const HERE = '\u0000';

interface Group {
  readonly text: string;
  readonly kind: 'said' | 'why';
  readonly places: string[];
}

export function gapLines(
  { gaps, selected_chunk_ids }: Pick<RunOutcome, 'gaps' | 'selected_chunk_ids'>,
  calls: readonly GapCall[],
): readonly string[] {
  const byId = new Map(calls.map((call) => [call.call_id, call]));
  const groups = new Map<string, Group>();
  for (const gap of gaps) {
    const { text, kind, places } = groupOf(gap, byId);
    const group = groups.get(`${kind} ${text}`) ?? { text, kind, places: [] };
    group.places.push(...places);
    groups.set(`${kind} ${text}`, group);
  }
  return [...groups.values()].map((group) => lineOf(group, selected_chunk_ids.length));
}

function groupOf({ what, why }: RunGap, calls: ReadonlyMap<string, GapCall>): Group {
  const call = calls.get(/^said by (\S+)$/.exec(why)?.[1] ?? '');
  if (call === undefined) return ownGap({ what, why });
  if (call.selected_chunk_ids.length === 0)
    return { text: `${bare(what)} (so the synthesis)`, kind: 'said', places: [] };
  const places = [...call.selected_chunk_ids];
  const text = places.reduce((said, id) => said.replaceAll(id, HERE), bare(what));
  return { text, kind: 'said', places };
}

/** Of the controller: a chunk or a node, and what became of it. */
function ownGap({ what, why }: RunGap): Group {
  if (!what.startsWith('rlm_node_')) return { text: why, kind: 'why', places: [bare(what)] };
  const name = what === 'rlm_node_root' ? 'The synthesis' : 'The synthesis of a part';
  const refused = /^its synthesis (was refused[\s\S]*)$/.exec(why)?.[1];
  return { text: refused === undefined ? `${name} failed (${why})` : `${name} ${refused}`, kind: 'said', places: [] };
}

function lineOf({ text, kind, places }: Group, total: number): string {
  const chunks = [...new Set(places)];
  const list = listed(chunks);
  if (kind === 'why') return `${list} (${text})`;
  if (chunks.length === 0) return text;
  if (!text.includes(HERE)) return `${text} (${list})`;
  if (chunks.length === 1) return text.replaceAll(HERE, list);
  return `${text.replace(HERE, `${chunks.length} of ${total} chunks`).replaceAll(HERE, 'there')}: ${list}`;
}

const MOST_LISTED = 8;

function listed(places: readonly string[]): string {
  const more = places.length > MOST_LISTED ? ` and ${places.length - MOST_LISTED} more` : '';
  return `${places.slice(0, MOST_LISTED).join(', ')}${more}`;
}

/** A sentence that goes on. */
function bare(text: string): string {
  return text.trim().replace(/[.\s]+$/, '');
}
