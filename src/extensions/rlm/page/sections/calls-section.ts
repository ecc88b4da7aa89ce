// Owns the calls of an ask as they were made: each root call wrote code, below it the calls that its code made.
// Invariant: a call is drawn once; one whose parent is not there stands at the top.
import type { CallRecord } from '../../call/call-record.ts';
import { type Html, html } from '../markup/html.ts';
import type { PageGround } from '../page-input.ts';
import { drawCall, shownCalls } from '../parts/draw-call.ts';
import type { Section } from '../parts/section.ts';
import { callsNote } from './tree-section.ts';

export function callsSection(ground: PageGround): Section {
  const shown = shownCalls(ground.calls);
  const known = new Set(shown.map(({ call_id }) => call_id));
  const parentOf = ({ call_id, parent_call_id }: CallRecord) =>
    parent_call_id !== null && parent_call_id !== call_id && known.has(parent_call_id) ? parent_call_id : null;
  const below = Map.groupBy(shown, parentOf);
  const drawn = new Set<CallRecord>();
  const draw = (call: CallRecord): Html | null => {
    if (drawn.has(call)) return null;
    drawn.add(call);
    const children = (below.get(call.call_id) ?? []).map(draw);
    return html`<li>${drawCall(ground, call)}${children.some((child) => child !== null) && html`<ul>${children}</ul>`}</li>
`;
  };
  const top = [...(below.get(null) ?? []), ...shown].map(draw);
  const list = shown.length === 0 ? html`<p class="dim">No call was made.</p>` : html`<ul class="tree">${top}</ul>`;
  return { id: 'tree', title: 'Calls', count: ground.calls.length, body: html`${list}${callsNote(ground)}` };
}
