// Owns the calls of a run on its page: each with what went in and what came out, below its node or by itself.
// Invariant: a damaged tree is drawn as far as it goes, calls of no node stand at its end.
import { isJsonObject, parseJson } from '#base/json.ts';
import { counted, duration, type Html, html, money, shortText, thousands } from '#base/text/page.ts';
import { sliceText } from '#base/text.ts';
import type { CallRecord } from '../call/call-record.ts';
import type { RunOutcome } from '../outcome.ts';
import type { RunRecord } from '../trace/run-record.ts';
import { modeWords, stateTone } from './page-words.ts';
import { treeOrder } from './run-text.ts';

export interface PageGround extends RunRecord {
  /** What prompts, completions, code and outputs together may still take, in characters. */
  readonly budget: { left: number };
  /** Command that prints everything that is left out here. */
  readonly whole: string;
}

export interface Section {
  /** Also its anchor. */
  readonly id: string;
  readonly title: string;
  /** Shown beside the title; null: nothing to count. */
  readonly count: number | null;
  readonly body: Html;
}

const LONGEST = 20_000;
/** Beyond it a JSON text is shown as it is: indenting would make it several times as long. */
const LONGEST_INDENTED = 200_000;

export function foldedText(ground: PageGround, title: string, text: string): Html {
  return html`<details class="text"><summary>${title} <span class="dim">${counted(text.length, 'character')}</span></summary>
${plainText(ground, text)}</details>
`;
}

export function plainText({ budget, whole }: PageGround, text: string): Html {
  const all = indented(text);
  const kept = sliceText(all, Math.max(0, Math.min(LONGEST, budget.left)));
  budget.left -= kept.length;
  const cut = all.length - kept.length;
  const note =
    cut > 0 &&
    html`<p class="cut">… ${thousands(cut)} more characters are not shown here; <code>${whole}</code> has all.</p>`;
  return html`<pre dir="auto" tabindex="0">${kept}</pre>${note}`;
}

function indented(text: string): string {
  if (text.length > LONGEST_INDENTED || !text.trimStart().startsWith('{')) return text;
  const parsed = parseJson(text);
  return parsed.ok && isJsonObject(parsed.value) ? JSON.stringify(parsed.value, null, 2) : text;
}

/** Of a run, at most, with input and output; the first ones. */
const MOST_CALLS = 400;
const MOST_NODES = 400;
const DEEPEST = 5;

function drawCall(ground: PageGround, call: CallRecord): Html {
  const at = ground.calls.indexOf(call);
  const { adapter_error, completion, usage, cost, success, model, runtime, elapsed_ms } = call;
  const chunks = call.selected_chunk_ids.slice(0, 3).map((id) => html` <code><bdi>${shortText(id, 120)}</bdi></code>`);
  const tokens = usage
    ? `${thousands(usage.input_tokens)} → ${thousands(usage.output_tokens)} tokens`
    : 'tokens unknown';
  const figures = `${tokens} · ${cost === null ? 'cost unknown' : money(cost)} · ${duration(elapsed_ms)}`;
  const failure =
    adapter_error &&
    html`<p class="failure"><code>${adapter_error.type}</code> ${shortText(adapter_error.detail, 600)}</p>`;
  const reply = completion === null ? html`<p class="dim">No reply.</p>` : foldedText(ground, 'Output', completion);
  return html`<div class="call" id="call-${at + 1}">
<p><strong>${modeWords(call.mode)}</strong>${chunks}<span class="dim"> · call ${at + 1} · ${success ? '' : 'failed · '}${shortText(model ?? runtime, 120)} · ${figures}</span></p>
${failure}${foldedText(ground, 'Input', call.prompt)}${reply}</div>
`;
}

/** Link to the call of an id, or the id. */
export function callLink({ calls }: PageGround, call_id: string): Html {
  const at = calls.slice(0, MOST_CALLS).findIndex((call) => call.call_id === call_id);
  return at < 0 ? html`<code>${shortText(call_id, 80)}</code>` : html`<a href="#call-${at + 1}">call ${at + 1}</a>`;
}

function cut(ground: PageGround, left: number, noun: string): Html | null {
  return left <= 0
    ? null
    : html`<p class="cut">${counted(left, `more ${noun}`)} not shown here: <code>${ground.whole}</code> has all.</p>`;
}

export function callsSection(ground: PageGround): Section {
  const shown = ground.calls.slice(0, MOST_CALLS).map((call) => drawCall(ground, call));
  const body = html`${shown}${cut(ground, ground.calls.length - shown.length, 'call')}`;
  const none = html`<p class="dim">No call was made.</p>`;
  return { id: 'tree', title: 'Calls', count: ground.calls.length, body: shown.length === 0 ? none : body };
}

export function treeSection(ground: PageGround, { tree, sub_questions = [] }: RunOutcome): Section {
  const calls = ground.calls.slice(0, MOST_CALLS);
  const byNode = Map.groupBy(calls, ({ rlm_node_id }) => rlm_node_id);
  const questions = new Map(sub_questions.map(({ ac_node_id, question }) => [ac_node_id, question]));
  const order = treeOrder(tree);
  const drawn = order.slice(0, MOST_NODES).map(({ node, depth }) => {
    const own = byNode.get(node.id) ?? [];
    byNode.delete(node.id);
    const question = questions.get(node.ac_node_id);
    const what = own[0] ? modeWords(own[0].mode) : node.parent_id === null ? 'the question' : 'a part of it';
    const over =
      own[0]?.selected_chunk_ids.length === 1 &&
      html` <code><bdi>${shortText(own[0].selected_chunk_ids[0] ?? '', 120)}</bdi></code>`;
    const asked = question !== undefined && html` <q dir="auto">${shortText(question, 300)}</q>`;
    const again = node.retries > 0 && html` · went back to the queue ${counted(node.retries, 'time')}`;
    return html`<li class="node d${Math.min(depth, DEEPEST)}"><p><span class="state ${stateTone(node.state)}">${node.state.replaceAll('_', ' ')}</span> ${node.parent_id === null && html`<strong>root</strong> · `}${what}${over}${asked}
<span class="dim"><code>${shortText(node.id, 200)}</code>${again}</span></p>${own.map((call) => drawCall(ground, call))}</li>
`;
  });
  const stray = [...byNode.values()].flat();
  const others = stray.length > 0 && html`<h3>Calls of no node</h3>${stray.map((call) => drawCall(ground, call))}`;
  const count = order.length;
  const notes = [cut(ground, count - drawn.length, 'node'), cut(ground, ground.calls.length - calls.length, 'call')];
  return { id: 'tree', title: 'Tree', count, body: html`<ul class="tree">${drawn}</ul>${others}${notes}` };
}
