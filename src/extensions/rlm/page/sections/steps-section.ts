// Owns the steps of an ask: the code that the model wrote, what it printed, which handles it made. Read from the events of the run.
// Invariant: an event that tells of no code is no step; output that was cut is counted.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { RunEvent } from '../../trace/run-event.ts';
import { firstOf, leftNote, shortText } from '../markup/cut-text.ts';
import { counted, thousands } from '../markup/figures.ts';
import { type Html, html } from '../markup/html.ts';
import type { PageGround } from '../page-input.ts';
import { callLink } from '../parts/draw-call.ts';
import { plainText } from '../parts/folded-text.ts';
import type { Section } from '../parts/section.ts';
import { type HandleBook, handleLinks } from '../source/handle-book.ts';

const MOST = 200;
const MOST_HANDLES = 40;

interface Step {
  readonly number: number;
  readonly code: string;
  readonly output: string;
  readonly cut: number;
  readonly failure: string | null;
  readonly handles: readonly string[];
  readonly node_id: string | null;
}

/** Null: no code ran. */
export function stepsSection(ground: PageGround, book: HandleBook): Section | null {
  const steps = ground.events.flatMap((event) => readStep(event) ?? []);
  if (steps.length === 0) return null;
  const { shown, left } = firstOf(steps, MOST);
  const list = html`<ul class="steps">${shown.map((step) => drawStep(ground, step, book))}</ul>${leftNote(left, 'step', ground.whole)}`;
  return { id: 'steps', title: 'Steps', count: steps.length, body: list };
}

function readStep({ type, data, node_id }: RunEvent): Step | undefined {
  const { step, code, output, cut, failure, handles } = data;
  if (type !== 'rlm.state.committed' || typeof step !== 'number' || typeof code !== 'string') return undefined;
  return {
    number: step,
    code,
    output: typeof output === 'string' ? output : '',
    cut: typeof cut === 'number' ? cut : 0,
    failure: typeof failure === 'string' ? failure : null,
    handles: idsOf(handles),
    node_id,
  };
}

function idsOf(handles: JsonValue | undefined): readonly string[] {
  const list: readonly JsonValue[] = Array.isArray(handles) ? handles : [];
  return list.flatMap((handle) => (isJsonObject(handle) ? idOf(handle) : typeof handle === 'string' ? [handle] : []));
}

function idOf({ id }: JsonObject): readonly string[] {
  return typeof id === 'string' ? [id] : [];
}

function drawStep(ground: PageGround, step: Step, book: HandleBook): Html {
  const call = ground.calls.find(({ rlm_node_id }) => rlm_node_id === step.node_id);
  const by = call && html` <span class="dim">by ${callLink(ground, call.call_id)}</span>`;
  const failure = step.failure !== null && html`<p class="failure">${shortText(step.failure, 600)}</p>`;
  const more = step.handles.length - MOST_HANDLES;
  const made =
    step.handles.length > 0 &&
    html`<p class="dim">Made ${handleLinks(book, step.handles.slice(0, MOST_HANDLES))}${more > 0 && html` and ${thousands(more)} more`}</p>`;
  const cut =
    step.cut > 0 &&
    html`<p class="cut">${counted(step.cut, 'more character')} of output were not shown to the model.</p>`;
  const output = step.output === '' ? html`<p class="dim">Nothing was printed.</p>` : plainText(ground, step.output);
  return html`<li><p><strong>Step ${step.number}</strong>${by}</p>
${plainText(ground, step.code)}${failure}<details class="text"><summary>Printed <span class="dim">${counted(step.output.length, 'character')}</span></summary>
${output}${cut}</details>${made}</li>
`;
}
