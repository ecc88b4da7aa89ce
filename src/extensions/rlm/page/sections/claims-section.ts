// Owns what a run claims: the accepted claims with their handles, and the parent's prose, which nobody checks. Knows no source text.
import type { RunOutcome } from '../../run/run-outcome.ts';
import { firstOf, leftNote, shortText } from '../markup/cut-text.ts';
import { type Html, html } from '../markup/html.ts';
import type { PageGround } from '../page-input.ts';
import type { Section } from '../parts/section.ts';
import { type HandleBook, handleLinks } from '../source/handle-book.ts';

const MOST = 500;

export function claimsSection({ whole }: PageGround, outcome: RunOutcome, book: HandleBook): Section {
  const { shown, left } = firstOf(outcome.claims, MOST);
  const claims = shown.map(
    ({ text, fact_ids }, at) =>
      html`<li id="claim-${at + 1}"><p dir="auto">${shortText(text)}</p>${handleLinks(book, fact_ids)}</li>
`,
  );
  const list =
    claims.length === 0 ? html`<p class="dim">No claim was accepted.</p>` : html`<ol class="claims">${claims}</ol>`;
  const body = html`${list}${leftNote(left, 'claim', whole)}${summaryOf(outcome)}`;
  return { id: 'claims', title: 'Claims', count: outcome.claims.length, body };
}

function summaryOf({ summary }: RunOutcome): Html | null {
  if (summary === null || summary.trim() === '') return null;
  return html`<div class="summary"><h3>In the model's own words</h3>
<p class="hint">Nobody has checked this paragraph; the claims above are what counts.</p>
<p dir="auto">${shortText(summary, 4_000)}</p></div>`;
}
