// Owns what was refused: claims of the synthesis, and quotations of children that their chunk does not hold. Each with code and words.
import type { RejectedClaim } from '../../guard/parent-claim.ts';
import type { RunOutcome } from '../../run/run-outcome.ts';
import { firstOf, leftNote, shortText } from '../markup/cut-text.ts';
import { type Html, html } from '../markup/html.ts';
import type { PageGround } from '../page-input.ts';
import { callLink } from '../parts/draw-call.ts';
import { reasonWords } from '../parts/page-words.ts';
import type { Section } from '../parts/section.ts';
import { type HandleBook, handleLink } from '../source/handle-book.ts';

const MOST = 200;

export function refusedSection(ground: PageGround, outcome: RunOutcome, book: HandleBook): Section | null {
  const { refused, refused_facts } = outcome;
  const count = refused.length + refused_facts.length;
  if (count === 0) return null;
  return {
    id: 'refused',
    title: 'Refused',
    count,
    body: html`${ofParent(ground, refused, book)}${ofChildren(ground, outcome)}`,
  };
}

function ofParent({ whole }: PageGround, refused: readonly RejectedClaim[], book: HandleBook): Html | null {
  if (refused.length === 0) return null;
  const { shown, left } = firstOf(refused, MOST);
  return html`<h3>By the gate, in the synthesis</h3>
<ul class="refusals">${shown.map((one) => drawRefusal(one, book))}</ul>${leftNote(left, 'refused claim', whole)}`;
}

function drawRefusal({ reason, claim, detail }: RejectedClaim, book: HandleBook): Html {
  const said = claim.text.trim() !== '' && html`<blockquote dir="auto">${shortText(claim.text)}</blockquote>`;
  const fact = claim.fact_id !== null && html`<span>fact ${handleLink(book, claim.fact_id)}</span>`;
  const chunk =
    claim.chunk_id !== null && html`<span>chunk <code><bdi>${shortText(claim.chunk_id, 200)}</bdi></code></span>`;
  return html`<li>${reasonLine(reason)}${said}<p>${shortText(detail, 600)}</p>
<p class="cited dim">${fact} ${chunk} <span>in <code>${shortText(claim.surface, 120)}</code></span></p></li>
`;
}

function ofChildren(ground: PageGround, { refused_facts }: RunOutcome): Html | null {
  if (refused_facts.length === 0) return null;
  const { shown, left } = firstOf(refused_facts, MOST);
  const rows = shown.map(
    ({ call_id, text, reason }) => html`<li>${reasonLine(reason)}<blockquote dir="auto">${shortText(text)}</blockquote>
<p class="cited dim">said by ${callLink(ground, call_id)}</p></li>
`,
  );
  return html`<h3>Quotations of children that their chunk does not hold</h3>
<ul class="refusals">${rows}</ul>${leftNote(left, 'refused quotation', ground.whole)}`;
}

function reasonLine(reason: string): Html {
  const words = reasonWords(reason);
  return html`<p class="reason"><code class="code">${shortText(reason, 120)}</code>${words !== null && html` ${words}`}</p>`;
}
