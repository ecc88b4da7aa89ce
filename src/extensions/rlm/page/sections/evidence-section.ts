// Owns the list of what the children quoted, whether a claim cites it or not. The ledger of a run; its words stand in the source pane.
import type { RunOutcome } from '../../run/run-outcome.ts';
import { firstOf, leftNote, shortText } from '../markup/cut-text.ts';
import { type Html, html } from '../markup/html.ts';
import type { PageGround } from '../page-input.ts';
import { callLink } from '../parts/draw-call.ts';
import type { Section } from '../parts/section.ts';
import { type HandleBook, handleLink } from '../source/handle-book.ts';
import type { SourcePane } from '../source/source-pane.ts';

/** Also how many quotations are looked up in their chunks. */
export const MOST_EVIDENCE = 500;

export function evidenceSection(
  ground: PageGround,
  { evidence, claims }: RunOutcome,
  { book, pane }: { readonly book: HandleBook; readonly pane: SourcePane },
): Section {
  const cited = new Set(claims.flatMap(({ fact_ids }) => fact_ids));
  const { shown, left } = firstOf(evidence, MOST_EVIDENCE);
  const rows = shown.map(({ fact_id, text, child_call_id }, at) => {
    const anchor = book.all[at]?.anchor ?? '';
    return html`<tr id="${pane.placed.has(anchor) ? `row-${anchor}` : anchor}"><td>${handleLink(book, fact_id)}</td>
<td dir="auto">${shortText(text, 800)}</td><td>${callLink(ground, child_call_id)}</td><td>${cited.has(fact_id) ? 'cited' : html`<span class="dim">not used</span>`}</td></tr>
`;
  });
  const body =
    evidence.length === 0
      ? html`<p class="dim">None.</p>`
      : html`${table(rows)}${leftNote(left, 'quotation', ground.whole)}`;
  return { id: 'evidence', title: 'Evidence', count: evidence.length, body };
}

function table(rows: readonly Html[]): Html {
  return html`<p class="hint">What the calls quoted and their chunks hold, word for word.</p>
<div class="scroll" tabindex="0"><table class="evidence"><thead><tr><th scope="col">Handle</th><th scope="col">Quotation</th><th scope="col">By</th><th scope="col">Use</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}
