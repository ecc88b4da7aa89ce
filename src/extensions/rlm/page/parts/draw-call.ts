// Owns one call on a page: who answered, what it took, what went in and what came out. Knows no tree.
import type { CallRecord } from '../../call/call-record.ts';
import { shortText } from '../markup/cut-text.ts';
import { duration, money, thousands } from '../markup/figures.ts';
import { type Html, html } from '../markup/html.ts';
import type { PageGround } from '../page-input.ts';
import { foldedText } from './folded-text.ts';
import { modeWords } from './page-words.ts';

/** Of a run, at most, with input and output; the first ones. */
const MOST_CALLS = 400;

export function shownCalls<T>(calls: readonly T[]): readonly T[] {
  return calls.slice(0, MOST_CALLS);
}

export function drawCall(ground: PageGround, call: CallRecord): Html {
  const at = ground.calls.indexOf(call);
  const failure =
    call.adapter_error &&
    html`<p class="failure"><code>${call.adapter_error.type}</code> ${shortText(call.adapter_error.detail, 600)}</p>`;
  const reply =
    call.completion === null ? html`<p class="dim">No reply.</p>` : foldedText(ground, 'Output', call.completion);
  return html`<div class="call" id="call-${at + 1}">
<p class="call-line"><strong>${modeWords(call.mode)}</strong>${chunksOf(call)}<span class="dim"> · call ${at + 1} · ${figuresOf(call)}</span></p>
${failure}${foldedText(ground, 'Input', call.prompt)}${reply}</div>
`;
}

/** Link to the call of an id, or the id. */
export function callLink({ calls }: PageGround, call_id: string): Html {
  const at = shownCalls(calls).findIndex((call) => call.call_id === call_id);
  return at < 0 ? html`<code>${shortText(call_id, 80)}</code>` : html`<a href="#call-${at + 1}">call ${at + 1}</a>`;
}

const CHUNKS = 3;

function chunksOf({ selected_chunk_ids }: CallRecord): Html | null {
  if (selected_chunk_ids.length === 0) return null;
  const names = selected_chunk_ids.slice(0, CHUNKS).map((id) => html` <code>${shortText(id, 120)}</code>`);
  const more = selected_chunk_ids.length - names.length;
  return html`${names}${more > 0 && html` and ${thousands(more)} more`}`;
}

function figuresOf({ model, runtime, usage, cost, elapsed_ms, success }: CallRecord): Html {
  const tokens = usage
    ? `${thousands(usage.input_tokens)} → ${thousands(usage.output_tokens)} tokens`
    : 'tokens unknown';
  const cents = cost === null ? 'cost unknown' : money(cost);
  return html`${success ? '' : 'failed · '}${shortText(model ?? runtime, 120)} · ${tokens} · ${cents} · ${duration(elapsed_ms)}`;
}
