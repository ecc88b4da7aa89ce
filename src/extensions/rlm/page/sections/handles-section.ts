// Owns the list of all handles of an ask: spans of the source, claims of sub-calls, values that code computed; used or not.
import type { AskOutcome, Handle } from '../../ask/ask-outcome.ts';
import { firstOf, leftNote, shortText } from '../markup/cut-text.ts';
import { type Html, html } from '../markup/html.ts';
import type { PageGround } from '../page-input.ts';
import { callLink } from '../parts/draw-call.ts';
import type { Section } from '../parts/section.ts';
import { type HandleBook, handleLink, handleLinks } from '../source/handle-book.ts';
import type { SourcePane } from '../source/source-pane.ts';

export const MOST_HANDLES = 500;

const KINDS: Readonly<Record<Handle['kind'], string>> = { span: 'span', child: 'claim', computed: 'computed' };

export function handlesSection(
  ground: PageGround,
  { handles, sentences }: AskOutcome,
  { book, pane }: { readonly book: HandleBook; readonly pane: SourcePane },
): Section {
  const cited = new Set(
    sentences.filter(({ grade }) => grade !== 'not-supported').flatMap((sentence) => sentence.handles),
  );
  const { shown, left } = firstOf(handles, MOST_HANDLES);
  const rows = shown.map((handle, at) => {
    const anchor = book.all[at]?.anchor ?? '';
    return html`<tr id="${pane.placed.has(anchor) ? `row-${anchor}` : anchor}"><td>${handleLink(book, handle.id)}</td><td>${KINDS[handle.kind]}</td>
<td dir="auto">${what(ground, handle, book)}</td><td>${cited.has(handle.id) ? 'cited' : html`<span class="dim">not used</span>`}</td></tr>
`;
  });
  const table = html`<div class="scroll" tabindex="0"><table class="evidence"><thead><tr><th scope="col">Handle</th><th scope="col">Kind</th><th scope="col">Holds</th><th scope="col">Use</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
  const body =
    handles.length === 0 ? html`<p class="dim">None.</p>` : html`${table}${leftNote(left, 'handle', ground.whole)}`;
  return { id: 'evidence', title: 'Handles', count: handles.length, body };
}

const LONGEST = 400;

function what(ground: PageGround, handle: Handle, book: HandleBook): Html {
  switch (handle.kind) {
    case 'span':
      return shortText(handle.quote, LONGEST);
    case 'child':
      return html`${shortText(handle.text, LONGEST)} <span class="dim">by ${callLink(ground, handle.call_id)} over</span> ${handleLink(book, handle.over)}`;
    case 'computed':
      return html`<code>${shortText(handle.output, LONGEST)}</code> <span class="dim">from</span> ${handleLinks(book, handle.inputs.slice(0, 12))}`;
  }
}
