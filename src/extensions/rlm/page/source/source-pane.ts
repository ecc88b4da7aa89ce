// Owns the pane with the lines that quotations stand on. Knows neither runs nor asks: what it shows are blocks of marked text.

import { shortText } from '../markup/cut-text.ts';
import { counted } from '../markup/figures.ts';
import { type Html, html } from '../markup/html.ts';
import { cutStretches, type LinePiece, type Mark, type ShownLine, type Stretch } from './cut-stretches.ts';

export interface SourceBlock {
  /** A chunk, a span, a piece of code. */
  readonly title: string;
  readonly text: string;
  /** Null: its lines have no number in any source. */
  readonly firstLine: number | null;
  readonly marks: readonly Mark[];
  /** Below the title: which handles stand here, and who cites them. */
  readonly refs: readonly Html[];
  /** Lines that are shown before and after a mark. @default 2 */
  readonly around?: number;
}

/** Lines of the whole pane, at most. */
const MOST_LINES = 4_000;

export interface SourcePane {
  /** Null: there is nothing to show. */
  readonly markup: Html | null;
  /** Anchors that stand in it. */
  readonly placed: ReadonlySet<string>;
}

export function sourcePane(blocks: readonly SourceBlock[], where: string): SourcePane {
  const placed = new Set<string>();
  let left = MOST_LINES;
  let unshown = 0;
  const drawn = blocks.map((block) => {
    const stretches = left > 0 ? cutStretches({ around: 2, ...block, firstLine: block.firstLine ?? 1 }) : [];
    const lines = stretches.flatMap((stretch) => stretch.lines);
    left -= lines.length;
    if (lines.length === 0) unshown += 1;
    for (const anchor of lines.flatMap(({ pieces }) => pieces.flatMap(({ begins }) => begins))) placed.add(anchor);
    return stretches.length === 0 ? null : drawBlock(block, stretches);
  });
  const note =
    unshown > 0 && html`<p class="cut">${counted(unshown, 'more place')} not shown here: <code>${where}</code>.</p>`;
  if (placed.size === 0) return { markup: null, placed };
  const markup = html`<aside class="sources" id="sources" aria-labelledby="sources-title" tabindex="0">
<h2 id="sources-title">Sources</h2>
<p class="hint">Only the lines around what is quoted. A handle in the text lights up its words here.</p>
${drawn}${note}
</aside>
`;
  return { markup, placed };
}

function drawBlock({ title, refs, firstLine }: SourceBlock, stretches: readonly Stretch[]): Html {
  const list = refs.length > 0 && html`<ul class="refs">${refs.map((ref) => html`<li>${ref}</li>`)}</ul>`;
  return html`<section class="block">
<h3><bdi>${shortText(title, 200)}</bdi></h3>
${list}<div class="lines${firstLine === null && ' bare'}">${stretches.map(drawStretch)}</div>
</section>
`;
}

function drawStretch({ skipped, lines }: Stretch): Html {
  const gap = skipped > 0 && html`<div class="skipped">${counted(skipped, 'line')} not shown</div>`;
  return html`${gap}${lines.map(drawLine)}`;
}

function drawLine({ number, pieces }: ShownLine): Html {
  return html`<div class="line"><span class="number">${number}</span><code dir="auto">${pieces.map(drawPiece)}</code></div>`;
}

function drawPiece({ text, cut, cutAt, anchors, begins }: LinePiece): Html {
  const between =
    cut > 0
      ? html`${text.slice(0, cutAt)}<span class="cut"> … ${counted(cut, 'character')} … </span>${text.slice(cutAt)}`
      : text;
  const targets = begins.map((anchor) => html`<span class="anchor" id="${anchor}"></span>`);
  return anchors.length === 0 ? html`${between}` : html`${targets}<mark class="${anchors.join(' ')}">${between}</mark>`;
}
