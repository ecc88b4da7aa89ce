// Owns a long text behind a line that opens it: prompts, replies, code, outputs. JSON is indented for reading.
// Invariant: what the budget of the page does not hold is counted and named, never dropped silently.
import { isJsonObject, parseJson } from '#base/json.ts';
import { cutNote, cutText } from '../markup/cut-text.ts';
import { counted } from '../markup/figures.ts';
import { type Html, html } from '../markup/html.ts';
import type { PageGround } from '../page-input.ts';

const LONGEST = 20_000;
/** Beyond it a JSON text is shown as it is: indenting would make it several times as long. */
const LONGEST_INDENTED = 200_000;

export function foldedText(ground: PageGround, title: string, text: string): Html {
  return html`<details class="text"><summary>${title} <span class="dim">${counted(text.length, 'character')}</span></summary>
${plainText(ground, text)}</details>
`;
}

export function plainText({ budget, whole }: PageGround, text: string): Html {
  const { text: kept, cut } = cutText(indented(text), LONGEST, budget);
  const note = cut > 0 && html`<p class="cut">${cutNote(cut)}; <code>${whole}</code> has all.</p>`;
  return html`<pre dir="auto" tabindex="0">${kept}</pre>${note}`;
}

function indented(text: string): string {
  if (text.length > LONGEST_INDENTED || !text.trimStart().startsWith('{')) return text;
  const parsed = parseJson(text);
  return parsed.ok && isJsonObject(parsed.value) ? JSON.stringify(parsed.value, null, 2) : text;
}
