// Owns a run as text for the terminal: what came of it, its nodes, its calls, the list of runs, and what one would do. Equal gaps of several chunks are one
// line, in words. Pure. Invariant: "cited", never "verified"; the model's own prose is shown as unchecked; no gap is left out; a list that is cut says by
// how much; a run that was killed, and an outcome that this version does not know, are shown for what they are.
import { instant } from '#base/clock.ts';
import { canonicalJson } from '#base/json.ts';
import { counted, duration, money, share, size, thousands } from '#base/text/page.ts';
import { ellipsize, oneLine, plural } from '#base/text.ts';
import { answerLines } from '../ask/ask-lines.ts';
import type { CallRecord } from '../call/call-record.ts';
import {
  type FreshFact,
  placeText,
  type ReadOutcome,
  type RunGap,
  type RunOutcome,
  type RunTotals,
  readOutcome,
} from '../outcome.ts';
import { AMBIGUITY_TERMS } from '../run/ambiguity.ts';
import { nodesOf, rootPlan } from '../run/plan.ts';
import type { PreparedRun } from '../run/prepare-run.ts';
import type { RlmNode, RlmTree } from '../scaffold/run-tree.ts';
import type { RunEvent, RunRecord, RunRow } from '../trace/run-record.ts';
import { verdictWords } from './page-words.ts';

const MOST = 40;
const LONGEST = 300;

/** What a run came to. `calls`: to tell which chunks a gap is about. */
export function runLines(outcome: RunOutcome, calls: readonly GapCall[]): readonly string[] {
  const { claims, evidence, refused, refused_facts, summary, omitted } = outcome;
  const facts = new Map(evidence.map((fact) => [fact.fact_id, fact]));
  const cited = claims.slice(0, MOST).flatMap(({ text, fact_ids }, at) => {
    const sources = fact_ids.flatMap((id) => facts.get(id) ?? []).map((fact) => `     ${quoteLine(fact, text)}`);
    return [`${String(at + 1).padStart(3)}. ${oneLine(text, LONGEST)}`, ...sources];
  });
  return [
    headLine(outcome),
    ...cited,
    ...more(claims.length),
    ...block('Summary, in the words of the model and not checked:', summary === null ? [] : [summary]),
    ...block(
      'Refused by the gate:',
      refused.map(({ reason, claim, detail }) => `${reason}: ${claim.text === '' ? '' : `"${claim.text}" `}${detail}`),
    ),
    ...repairLines(outcome),
    ...block(
      'What the chunks say, word for word:',
      outcome.verdict === 'accepted' ? [] : evidence.map((fact) => quoteLine(fact)),
    ),
    ...block(
      'Quotations that do not stand in their chunk:',
      refused_facts.map(({ text, reason }) => `${reason}: "${text}"`),
    ),
    ...block('Gaps:', gapLines(outcome, calls)),
    ...block(
      'Not read:',
      omitted.map(({ chunk_id, reason }) => `${chunk_id} (${reason})`),
    ),
    `Run ${outcome.run_id}: ${totalsText(outcome.totals)}. Every step: talaria rlm show ${outcome.run_id}`,
  ];
}

function headLine({ verdict, claims, evidence, detail, selected_chunk_ids }: RunOutcome): string {
  const read = `${plural(selected_chunk_ids.length, 'chunk')}, ${plural(evidence.length, 'quotation')}`;
  if (verdict === 'accepted') return `Accepted: ${plural(claims.length, 'claim')} cited (${read}).`;
  return `${verdictWords('run', verdict)[0]} (${read}): ${detail ?? 'no claim was accepted'}`;
}

/** Without the quotation when a claim says just that. */
function quoteLine({ fact_id, place, chunk_id, text }: FreshFact, claim = ''): string {
  const where = `[${fact_id}] ${place === null ? chunk_id : placeText(place)}`;
  return text.includes(claim) && text.length < claim.length + 40 && claim !== ''
    ? where
    : `${where} "${oneLine(text, LONGEST)}"`;
}

function repairLines({ repair }: RunOutcome): readonly string[] {
  if (repair === null || !repair.repair_attempted) return [];
  const ended = repair.repair_accept === true ? 'accepted' : `refused (${repair.repair_failure_reason ?? 'no reason'})`;
  const changes = repair.before_after_diff.map(({ path, before, after }) => `${path}: ${before} → ${after}`);
  return block(`Repair: missing handles were filled in from the evidence, then ${ended}:`, changes);
}

/** Nothing when there is nothing to list. */
function block(heading: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  return [heading, ...lines.slice(0, MOST).map((line) => `  - ${oneLine(line, 2 * LONGEST)}`), ...more(lines.length)];
}

function more(count: number): readonly string[] {
  return count > MOST ? [`  … and ${count - MOST} more (--json shows all)`] : [];
}

/** As a page and a terminal say them; null is unknown, never zero. */
export function tokensText({ input_tokens, output_tokens, cost }: RunTotals): readonly [tokens: string, cost: string] {
  const isTold = input_tokens !== null && output_tokens !== null;
  return [isTold ? `${thousands(input_tokens)} in, ${thousands(output_tokens)} out` : 'unknown', money(cost)];
}

function totalsText({ calls, input_tokens, output_tokens, cost }: RunTotals): string {
  const tokens =
    input_tokens === null || output_tokens === null ? 'tokens not told' : `${input_tokens} + ${output_tokens} tokens`;
  return `${plural(calls, 'call')}, ${tokens}, ${cost === null ? 'cost not told' : `$${cost.toFixed(4)}`}`;
}

/** What a run would do. */
export function dryLines({ request, terms }: PreparedRun): readonly string[] {
  const { chunks, omitted, skipped, ambiguity, limits, question, target, target_kind } = request;
  const { ambiguity_score: score, ambiguity_threshold: threshold } = ambiguity;
  const split = request.decompose ? ' for each sub-question, and one to split' : '';
  const counts = `${plural(chunks.length, 'chunk')}, ${plural(nodesOf(rootPlan(request)).length, 'call')}${split}`;
  return [
    `Dry run: nothing was asked. ${target_kind === 'prompt' ? 'A text' : target}, ${counts}.`,
    `Question: ${oneLine(question, LONGEST)}`,
    `Depth ${limits.max_depth}, ${limits.max_iterations} iterations, ${plural(limits.max_in_flight, 'call')} at once.`,
    `Ambiguity ${score} of ${threshold}${ambiguity.passed ? '' : `: it would ask back: ${ambiguity.question}`}`,
    ...terms.map(({ term, weight, fault }) => {
      return `  ${fault === 0 ? 'ok  ' : 'open'} ${weight * fault} ${AMBIGUITY_TERMS[term].means}`;
    }),
    ...block(
      'Would be read:',
      chunks.map((one) => `${one.chunk_id} (${one.token_estimate} words${one.lossy ? ', not all UTF-8' : ''})`),
    ),
    ...block(
      'Not read:',
      omitted.map(({ chunk_id, reason }) => `${chunk_id} (${reason})`),
    ),
    ...block(
      'Skipped:',
      skipped.map(({ path, reason }) => `${path} (${reason})`),
    ),
  ];
}

export type GapCall = Pick<CallRecord, 'call_id' | 'mode' | 'selected_chunk_ids'>;

/** What stands in the place of a chunk that a sentence names. */
const HERE = '\u0000';
const MOST_LISTED = 8;

interface Group {
  readonly text: string;
  /** Said by a call of its chunks, or why these were not read. */
  readonly isSaid: boolean;
  readonly places: readonly string[];
}

export function gapLines(
  { gaps, selected_chunk_ids }: Pick<RunOutcome, 'gaps' | 'selected_chunk_ids'>,
  calls: readonly GapCall[],
): readonly string[] {
  const byId = new Map(calls.map((call) => [call.call_id, call]));
  const groups = Map.groupBy(
    gaps.map((gap) => groupOf(gap, byId)),
    ({ isSaid, text }) => `${isSaid} ${text}`,
  );
  return [...groups.values()].flatMap((same) => {
    const [first] = same;
    return first === undefined
      ? []
      : [lineOf(first, [...new Set(same.flatMap(({ places }) => places))], selected_chunk_ids.length)];
  });
}

/** Of the controller: a chunk or a node, and what became of it; of a call: what it says is missing, without the names of its chunks. */
function groupOf({ what, why }: RunGap, calls: ReadonlyMap<string, GapCall>): Group {
  const text = what.trim().replace(/[.\s]+$/, '');
  const places = calls.get(/^said by (\S+)$/.exec(why)?.[1] ?? '')?.selected_chunk_ids;
  if (places !== undefined) {
    const bare =
      places.length === 0 ? `${text} (so the synthesis)` : places.reduce((said, id) => said.replaceAll(id, HERE), text);
    return { text: bare, isSaid: true, places };
  }
  if (!what.startsWith('rlm_node_')) return { text: why, isSaid: false, places: [text] };
  const name = what === 'rlm_node_root' ? 'The synthesis' : 'The synthesis of a part';
  const refused = /^its synthesis (was refused[\s\S]*)$/.exec(why)?.[1];
  return { text: refused === undefined ? `${name} failed (${why})` : `${name} ${refused}`, isSaid: true, places: [] };
}

function lineOf({ text, isSaid }: Group, places: readonly string[], total: number): string {
  const more = places.length > MOST_LISTED ? ` and ${places.length - MOST_LISTED} more` : '';
  const list = `${places.slice(0, MOST_LISTED).join(', ')}${more}`;
  if (!isSaid) return `${list} (${text})`;
  if (places.length === 0) return text;
  if (!text.includes(HERE)) return `${text} (${list})`;
  if (places.length === 1) return text.replaceAll(HERE, list);
  return `${text.replace(HERE, `${places.length} of ${total} chunks`).replaceAll(HERE, 'there')}: ${list}`;
}

/** A stored run: what was asked, what came of it, its nodes. */
export function runText({ row, calls }: RunRecord): string {
  const { run_id, kind, started_at, ended_at, outcome, root, sources } = row;
  const took = ended_at === null ? '' : `, ${duration(ended_at - started_at)}`;
  const detail = typeof outcome?.detail === 'string' ? `: ${outcome.detail}` : '';
  const read = sources.slice(0, 8).map(({ path, bytes }) => `${path} (${size(bytes)})`);
  const more = sources.length > read.length ? [`and ${sources.length - read.length} more`] : [];
  return [
    `${kind} ${run_id}`,
    `question  ${oneLine(questionOf(row), 2 * LONGEST)}`,
    `verdict   ${verdictOf(row)}${detail}`,
    `when      ${instant(started_at)}${took}`,
    ...(sources.length === 0 ? [] : [`sources   ${[...read, ...more].join(', ')} in ${root}`]),
    '',
    ...findings(row, calls),
  ].join('\n');
}

function findings(row: RunRow, calls: readonly CallRecord[]): readonly string[] {
  const { run_id, owner } = row;
  const read = readOutcome(row.outcome);
  if (read.outcome === null)
    return [
      `It has not ended: process ${owner ?? 'unknown'} works on it, or was killed. If it was: talaria rlm resume ${run_id}`,
      ...block(
        'Calls so far:',
        calls.map(({ call_id, success }) => `${call_id} ${success ? 'answered' : 'failed'}`),
      ),
    ];
  if (read.kind === 'other')
    return [
      'The outcome, as it is stored:',
      ellipsize(canonicalJson(read.outcome), 4_000),
      `${counted(calls.length, 'call')} in the trace.`,
    ];
  if (read.kind === 'run') return [...runLines(read.outcome, calls), '', ...treeLines(read.outcome.tree, calls)];
  const { outcome } = read;
  const gaps = outcome.gaps.map(({ what, why }) => `${what}: ${why}`);
  const [[, seen = ''] = []] = readText(read);
  return [
    ...answerLines(outcome, false),
    ...block('Gaps:', gaps),
    `A model has seen ${seen}; ${outcome.steps} code blocks ran. ${totalsText(outcome.totals)}.`,
  ];
}

/** What of the material a model was shown. */
export function readText(read: ReadOutcome): readonly (readonly [string, string])[] {
  if (read.kind === 'other') return [];
  if (read.kind === 'ask') {
    const { bytes_read, bytes_total } = read.outcome;
    return [['Shown to a model', `${size(bytes_read)} of ${size(bytes_total)} (${share(bytes_read, bytes_total)})`]];
  }
  const { selected_chunk_ids, omitted } = read.outcome;
  const rest = omitted.length === 0 ? 'nothing left out' : `${thousands(omitted.length)} left out`;
  return [['Read', `${counted(selected_chunk_ids.length, 'chunk')}, ${rest}`]];
}

export function questionOf({ request, run_id }: Pick<RunRow, 'request' | 'run_id'>): string {
  const { question } = request;
  return typeof question === 'string' ? question : run_id;
}

/** Of a run that has not ended, that it has not. */
function verdictOf({ outcome, ended_at, state }: RunRow): string {
  if (ended_at === null) return 'not ended';
  return typeof outcome?.verdict === 'string' ? outcome.verdict : state;
}

export const RUN_COLUMNS = ['id', 'when', 'kind', 'question', 'verdict', 'calls', 'tokens', 'cost'] as const;

const MOST_WORDS = 48;

export function runListRow(row: RunRow): readonly string[] {
  const read = readOutcome(row.outcome);
  const head = [row.run_id, instant(row.started_at), row.kind, oneLine(questionOf(row), MOST_WORDS), verdictOf(row)];
  if (read.kind === 'other') return [...head, '-', '-', '-'];
  const { calls, input_tokens: input, output_tokens: output, cost } = read.outcome.totals;
  return [...head, thousands(calls), input === null || output === null ? '-' : thousands(input + output), money(cost)];
}

/** Parents before children; a loop and a child that is not there end it; what hangs on nothing comes last. */
export function treeOrder({ root_id, nodes }: RlmTree): readonly { readonly node: RlmNode; readonly depth: number }[] {
  const found = new Map<string, { readonly node: RlmNode; readonly depth: number }>();
  for (const first of [root_id, ...Object.keys(nodes)]) {
    const open: (readonly [id: string, depth: number])[] = [[first, 0]];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [id, depth] = next;
      const node = Object.hasOwn(nodes, id) ? nodes[id] : undefined;
      if (node === undefined || found.has(id)) continue;
      found.set(id, { node, depth });
      open.push(...node.children_ids.toReversed().map((child) => [child, depth + 1] as const));
    }
  }
  return [...found.values()];
}

function treeLines(tree: RlmTree, calls: readonly CallRecord[]): readonly string[] {
  const chunks = new Map(calls.map((call) => [call.rlm_node_id, call.selected_chunk_ids]));
  const lines = treeOrder(tree).map(({ node: { id, state, retries }, depth }) => {
    const again = retries === 0 ? '' : `, asked again ${retries === 1 ? 'once' : `${retries} times`}`;
    const over = oneLine((chunks.get(id) ?? []).join(', '), 80);
    return `${'  '.repeat(depth + 1)}${id.replace(/^rlm_node_/, '')}  ${state}${again}${over === '' ? '' : `  ${over}`}`;
  });
  return [
    'Nodes:',
    ...lines.slice(0, 5 * MOST),
    ...(lines.length > 5 * MOST ? [`  … and ${lines.length - 5 * MOST} more`] : []),
  ];
}

export function eventLines(events: readonly RunEvent[]): readonly string[] {
  return events.map(({ seq, type, node_id, data }) => {
    const node = node_id === null ? '' : ` ${node_id.replace(/^rlm_node_/, '')}`;
    return `${String(seq).padStart(5)}  ${type.replace(/^rlm\./, '')}${node}  ${oneLine(canonicalJson(data), 160)}`;
  });
}

export const CALL_COLUMNS = ['call', 'mode', 'family', 'model', 'result', 'tokens', 'cost', 'time'] as const;

export function callRow(call: CallRecord): readonly string[] {
  const { call_id, mode, runtime, model, usage, cost, elapsed_ms, adapter_error } = call;
  const tokens = usage === null ? '-' : `${thousands(usage.input_tokens)}+${thousands(usage.output_tokens)}`;
  const result = adapter_error === null ? 'answered' : oneLine(`${adapter_error.type}: ${adapter_error.detail}`, 60);
  return [call_id, mode, runtime, model ?? '-', result, tokens, money(cost), duration(elapsed_ms)];
}

/** Nothing is cut. */
export function callText(call: CallRecord): string {
  const { parent_call_id, started_at, system_prompt, prompt, completion, adapter_error } = call;
  const row = callRow(call).map((value, at) => `${String(CALL_COLUMNS[at]).padEnd(10)}${value}`);
  const texts = [
    `--- rules ---\n${system_prompt}`,
    `--- prompt ---\n${prompt}`,
    `--- reply ---\n${completion ?? `none: ${adapter_error?.detail ?? ''}`}`,
  ];
  return [
    ...row,
    `parent    ${parent_call_id ?? 'none'}`,
    `asked     ${instant(started_at)}`,
    '',
    texts.join('\n\n'),
  ].join('\n');
}
