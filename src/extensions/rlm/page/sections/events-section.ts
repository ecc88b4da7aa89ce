// Owns the timeline of a run: its events in order, each with when it was and what it says. Knows no event's meaning.
import type { RunEvent } from '../../trace/run-event.ts';
import { firstOf, leftNote, shortText } from '../markup/cut-text.ts';
import { duration, thousands } from '../markup/figures.ts';
import { type Html, html } from '../markup/html.ts';
import type { PageGround } from '../page-input.ts';
import { foldedText } from '../parts/folded-text.ts';
import { eventWords } from '../parts/page-words.ts';
import type { Section } from '../parts/section.ts';

const MOST = 600;

export function eventsSection(ground: PageGround): Section {
  const { events, row } = ground;
  const { shown, left } = firstOf(events, MOST);
  const rows = shown.map((event) => drawEvent(ground, event, row.started_at));
  const body = html`<details><summary>All events, in order</summary>
<div class="scroll" tabindex="0"><table class="events"><thead><tr><th scope="col">No.</th><th scope="col">After</th><th scope="col">Event</th><th scope="col">Node</th><th scope="col">Says</th></tr></thead>
<tbody>${rows}</tbody></table></div>${leftNote(left, 'event', ground.whole)}</details>`;
  return { id: 'events', title: 'Events', count: events.length, body };
}

function drawEvent(ground: PageGround, { seq, at, type, node_id, data }: RunEvent, start: number): Html {
  const says = Object.keys(data).length > 0 && foldedText(ground, 'data', JSON.stringify(data));
  return html`<tr><td class="figure">${thousands(seq)}</td><td class="figure">${duration(Math.max(0, at - start))}</td>
<td title="${type}">${eventWords(type)}</td><td>${node_id !== null && html`<code>${shortText(node_id, 80)}</code>`}</td><td>${says}</td></tr>
`;
}
