// Owns how a run is shown in a terminal: claims with their sources, what was refused and why, what was not read. Pure.
// Invariant: "cited", never "verified"; the model's own prose is shown as unchecked; a list that is cut says by how much.
import { oneLine, plural } from '#base/text.ts';
import type { CallRecord } from '../../call/call-record.ts';
import { rootPlan } from '../../run/loop/first-plans.ts';
import { nodesOf } from '../../run/loop/node-plan.ts';
import { placeText } from '../../run/place-text.ts';
import { AMBIGUITY_TERMS } from '../../run/prepare/ambiguity.ts';
import type { PreparedRun } from '../../run/prepare/prepare-run.ts';
import type { FreshFact, RunOutcome, RunTotals } from '../../run/run-outcome.ts';
import { type GapCall, gapLines } from './gap-lines.ts';

const MOST = 40;
const LONGEST = 300;
/** A gap names several chunks. */
const LONGEST_GAP = 600;

/** `calls`: of the run, to tell which chunks a gap is about. */
export function runLines(outcome: RunOutcome, calls: readonly GapCall[]): readonly string[] {
  const { claims, evidence, refused, refused_facts, summary, verdict } = outcome;
  const accepted = verdict === 'accepted';
  const facts = new Map(evidence.map((fact) => [fact.fact_id, fact]));
  return [
    headLine(outcome),
    ...claims
      .slice(0, MOST)
      .flatMap(({ text, fact_ids }, at) => [
        `${String(at + 1).padStart(3)}. ${oneLine(text, LONGEST)}`,
        ...fact_ids.flatMap((id) => sourceLines(facts.get(id), text)),
      ]),
    ...more(claims.length),
    ...(summary === null
      ? []
      : ['Summary, in the words of the model and not checked:', `  ${oneLine(summary, LONGEST)}`]),
    ...block(
      'Refused by the gate:',
      refused.map(({ reason, claim, detail }) => `${reason}: ${oneLine(claim.text || detail, LONGEST)}`),
    ),
    ...(accepted ? [] : block('What the chunks say, word for word:', evidence.map(quoteLine))),
    ...block(
      'Quotations that do not stand in their chunk:',
      refused_facts.map(({ text, reason }) => `${reason}: ${oneLine(text, LONGEST)}`),
    ),
    ...block(
      'Gaps:',
      gapLines(outcome, calls).map((line) => oneLine(line, LONGEST_GAP)),
    ),
    ...block(
      'Not read:',
      outcome.omitted.map(({ chunk_id, reason }) => `${chunk_id} (${reason})`),
    ),
    `Run ${outcome.run_id}: ${totalsText(outcome.totals)}. Every step: talaria rlm show ${outcome.run_id}`,
  ];
}

function headLine({ verdict, claims, evidence, detail, selected_chunk_ids }: RunOutcome): string {
  const read = `${plural(selected_chunk_ids.length, 'chunk')}, ${plural(evidence.length, 'quotation')}`;
  if (verdict === 'accepted') return `Accepted: ${plural(claims.length, 'claim')} cited (${read}).`;
  return `${HEAD[verdict]} (${read}): ${detail ?? 'no claim was accepted'}`;
}

const HEAD: Readonly<Record<Exclude<RunOutcome['verdict'], 'accepted'>, string>> = {
  refused: 'Refused',
  no_evidence: 'No evidence',
  failed: 'Failed',
  cancelled: 'Cancelled',
  dry_run: 'Dry run',
};

function sourceLines(fact: FreshFact | undefined, claim: string): readonly string[] {
  if (fact === undefined) return [];
  const place = whereOf(fact);
  return fact.text.includes(claim) && fact.text.length < claim.length + 40
    ? [`     [${fact.fact_id}] ${place}`]
    : [`     [${fact.fact_id}] ${place} "${oneLine(fact.text, LONGEST)}"`];
}

function quoteLine(fact: FreshFact): string {
  return `[${fact.fact_id}] ${whereOf(fact)} "${oneLine(fact.text, LONGEST)}"`;
}

function whereOf({ place, chunk_id }: FreshFact): string {
  return place === null ? chunk_id : placeText(place);
}

function totalsText({ calls, input_tokens, output_tokens, cost }: RunTotals): string {
  const tokens =
    input_tokens === null || output_tokens === null ? 'tokens not told' : `${input_tokens} + ${output_tokens} tokens`;
  return `${plural(calls, 'call')}, ${tokens}, ${cost === null ? 'cost not told' : `$${cost.toFixed(4)}`}`;
}

/** What a run would do. */
export function dryLines({ request, terms }: PreparedRun): readonly string[] {
  const { chunks, omitted, skipped, ambiguity, limits, question, target, target_kind } = request;
  const calls = nodesOf(rootPlan(request)).length;
  const { ambiguity_score: score, ambiguity_threshold: threshold } = ambiguity;
  return [
    `Dry run: nothing was asked. ${target_kind === 'prompt' ? 'A text' : target}, ${plural(chunks.length, 'chunk')}, ${plural(calls, 'call')}${request.decompose ? ' for each sub-question, and one to split' : ''}.`,
    `Question: ${oneLine(question, LONGEST)}`,
    `Depth ${limits.max_depth}, ${limits.max_iterations} iterations, ${plural(limits.max_in_flight, 'call')} at once.`,
    `Ambiguity ${score} of ${threshold}${ambiguity.passed ? '' : `: it would ask back: ${ambiguity.question}`}`,
    ...terms.map(
      ({ term, weight, fault }) =>
        `  ${fault === 0 ? 'ok  ' : 'open'} ${weight * fault} ${AMBIGUITY_TERMS[term].means}`,
    ),
    ...block(
      'Would be read:',
      chunks.map(
        ({ chunk_id, token_estimate, lossy }) =>
          `${chunk_id} (${token_estimate} words${lossy ? ', not all UTF-8' : ''})`,
      ),
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

export function callLines(calls: readonly CallRecord[]): readonly string[] {
  return block(
    'Calls:',
    calls.map(({ call_id, mode, runtime, model, elapsed_ms, adapter_error }) => {
      const how = adapter_error === null ? 'ok' : `${adapter_error.type}: ${oneLine(adapter_error.detail, LONGEST)}`;
      return `${call_id} ${mode} ${model ?? runtime} ${elapsed_ms} ms ${how}`;
    }),
  );
}

function block(heading: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  return [heading, ...lines.slice(0, MOST).map((line) => `  - ${line}`), ...more(lines.length)];
}

function more(count: number): readonly string[] {
  return count > MOST ? [`  … and ${count - MOST} more (--json shows all)`] : [];
}
