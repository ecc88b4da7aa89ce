// Owns what a run did not read and what it says is missing: gaps, omitted chunks, where reading stopped. Nothing is dropped silently.
import type { TruncationBoundary } from '../../chunk/select-chunks.ts';
import type { RunGap, RunOutcome } from '../../run/run-outcome.ts';
import { firstOf, leftNote, shortText } from '../markup/cut-text.ts';
import { counted, thousands } from '../markup/figures.ts';
import { type Html, html } from '../markup/html.ts';
import type { PageGround } from '../page-input.ts';
import { reasonWords } from '../parts/page-words.ts';
import type { Section } from '../parts/section.ts';

const MOST = 300;

export function unreadSection({ whole }: PageGround, outcome: RunOutcome): Section {
  const { gaps, omitted, boundaries } = outcome;
  const count = gaps.length + omitted.length;
  const nothing =
    count + boundaries.length === 0 && html`<p class="dim">The whole target was read, and no gap was reported.</p>`;
  const body = html`${nothing}${stops(boundaries)}${gapList(gaps, whole)}${omittedList(outcome, whole)}`;
  return { id: 'unread', title: 'Not read, not known', count, body };
}

function stops(boundaries: readonly TruncationBoundary[]): Html | null {
  if (boundaries.length === 0) return null;
  const { shown, left } = firstOf(boundaries, MOST);
  const rows = shown.map(
    ({
      source_path,
      last_retained_line,
      omitted_line_count,
    }) => html`<li><code><bdi>${shortText(source_path, 200)}</bdi></code>
was read up to line ${thousands(last_retained_line)}; ${counted(omitted_line_count, 'line')} after it ${omitted_line_count === 1 ? 'was' : 'were'} not.</li>
`,
  );
  return html`<ul>${rows}</ul>${left > 0 && html`<p class="cut">${counted(left, 'more file')} of which something was not read.</p>`}`;
}

/** Of an ask; null: none was reported. */
export function gapSection({ whole }: PageGround, gaps: readonly RunGap[]): Section | null {
  if (gaps.length === 0) return null;
  return { id: 'unread', title: 'Not read, not known', count: gaps.length, body: html`${gapList(gaps, whole)}` };
}

function gapList(gaps: readonly RunGap[], whole: string): Html | null {
  if (gaps.length === 0) return null;
  const { shown, left } = firstOf(gaps, MOST);
  const rows = shown.map(
    ({
      what,
      why,
    }) => html`<li dir="auto">${shortText(what, 600)}<br><span class="dim">${shortText(why, 600)}</span></li>
`,
  );
  return html`<h3>Gaps</h3><ul>${rows}</ul>${leftNote(left, 'gap', whole)}`;
}

function omittedList({ omitted }: RunOutcome, whole: string): Html | null {
  if (omitted.length === 0) return null;
  const { shown, left } = firstOf(omitted, MOST);
  const rows = shown.map(
    ({ chunk_id, reason }) =>
      html`<tr><td><code><bdi>${shortText(chunk_id, 200)}</bdi></code></td><td>${reasonWords(reason) ?? reason}</td></tr>
`,
  );
  return html`<details><summary>${counted(omitted.length, 'chunk')} not read</summary>
<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Chunk</th><th scope="col">Why</th></tr></thead><tbody>${rows}</tbody></table></div>
${leftNote(left, 'chunk', whole)}</details>`;
}
