// Owns the tree of a run: nodes below each other with their state, each with the calls that were made for it.
// Invariant: a damaged tree (a loop, a child that is not there) is drawn as far as it goes; calls of no node stand at its end.
import type { CallRecord } from '../../call/call-record.ts';
import type { RunOutcome } from '../../run/run-outcome.ts';
import type { RlmNode, RlmTree } from '../../tree/rlm-tree.ts';
import { shortText } from '../markup/cut-text.ts';
import { counted } from '../markup/figures.ts';
import { type Html, html } from '../markup/html.ts';
import type { PageGround } from '../page-input.ts';
import { drawCall, shownCalls } from '../parts/draw-call.ts';
import { modeWords, stateTone, stateWords } from '../parts/page-words.ts';
import type { Section } from '../parts/section.ts';

const MOST_NODES = 400;

interface Walk {
  readonly ground: PageGround;
  readonly tree: Pick<RlmTree, 'nodes'>;
  readonly calls: ReadonlyMap<string, readonly CallRecord[]>;
  /** Into which the question was split, by the node that works on it. */
  readonly questions: ReadonlyMap<string, string>;
  readonly seen: Set<string>;
}

export function treeSection(ground: PageGround, { tree, sub_questions = [] }: RunOutcome): Section {
  const calls = Map.groupBy(shownCalls(ground.calls), ({ rlm_node_id }) => rlm_node_id);
  const questions = new Map(sub_questions.map(({ ac_node_id, question }) => [ac_node_id, question]));
  const walk: Walk = { ground, tree, calls, questions, seen: new Set() };
  const nodes = drawNode(walk, tree.root_id);
  const stray = shownCalls(ground.calls).filter(({ rlm_node_id }) => !walk.seen.has(rlm_node_id));
  const others = stray.length > 0 && html`<h3>Calls of no node</h3>${stray.map((call) => drawCall(ground, call))}`;
  const count = Object.keys(tree.nodes).length;
  const more = count - walk.seen.size;
  const notes = [
    more > 0 &&
      html`<p class="cut">${counted(more, 'more node')} not shown here: <code>${ground.whole}</code> has all.</p>`,
    callsNote(ground),
  ];
  return { id: 'tree', title: 'Tree', count, body: html`<ul class="tree">${nodes}</ul>${others}${notes}` };
}

export function callsNote({ calls, whole }: PageGround): Html | null {
  const more = calls.length - shownCalls(calls).length;
  return more === 0
    ? null
    : html`<p class="cut">${counted(more, 'more call')} not shown here: <code>${whole}</code> has all.</p>`;
}

function drawNode(walk: Walk, id: string): Html | null {
  const node = Object.hasOwn(walk.tree.nodes, id) ? walk.tree.nodes[id] : undefined;
  if (node === undefined || walk.seen.has(id) || walk.seen.size >= MOST_NODES) return null;
  walk.seen.add(id);
  const calls = walk.calls.get(id) ?? [];
  const children = node.children_ids.map((child) => drawNode(walk, child));
  const below = children.some((child) => child !== null) && html`<ul>${children}</ul>`;
  const body = calls.map((call) => drawCall(walk.ground, call));
  const question = walk.questions.get(node.ac_node_id);
  const none = calls.length === 0 && html`<p class="dim">No call was made for it.</p>`;
  return html`<li><details class="node"><summary>${nodeLine(node, calls)}${question !== undefined && html` <q dir="auto">${shortText(question, 300)}</q>`}</summary>
<p class="dim ids"><code>${shortText(node.id, 200)}</code> · depth ${node.depth}${node.retries > 0 && html` · went back to the queue ${counted(node.retries, 'time')}`}</p>
${body}${none}</details>${below}</li>
`;
}

function nodeLine(node: RlmNode, calls: readonly CallRecord[]): Html {
  const state = html`<span class="state ${stateTone(node.state)}">${stateWords(node.state)}</span>`;
  const what = calls[0] ? modeWords(calls[0].mode) : node.parent_id === null ? 'the question' : 'a part of it';
  const chunks = calls[0]?.selected_chunk_ids ?? [];
  const over = chunks.length === 1 && html` <code><bdi>${shortText(chunks[0] ?? '', 120)}</bdi></code>`;
  const asked = calls.length > 1 && html` <span class="dim">${counted(calls.length, 'call')}</span>`;
  return html`${state} ${node.parent_id === null ? html`<strong>root</strong> · ${what}` : what}${over}${asked}`;
}
