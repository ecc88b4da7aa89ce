// Owns the stages of the demo: each does one thing with the real engine, looks whether it came out as it should, and says so in a line or two.
// Invariant: every figure that is printed was counted on what happened; a stage that did not do what it should throws `demo-failed`.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import type { Clock } from '#base/clock.ts';
import { canonicalJson, type JsonValue } from '#base/json.ts';
import { ellipsize, plural } from '#base/text.ts';
import type { InnerCall } from '../call/inner-call.ts';
import { renderRunPage } from '../page/render-run-page.ts';
import { findWords } from '../page/source/kept-chunk.ts';
import { type PreparedRun, prepareRun } from '../run/prepare/prepare-run.ts';
import type { RunOutcome } from '../run/run-outcome.ts';
import { runEngine } from '../trace/engines/run-engine.ts';
import { replayRun } from '../trace/replay/replay-run.ts';
import type { TraceStore } from '../trace/trace-store.ts';
import { verifyRun } from '../trace/verify/verify-run.ts';
import { mustHold } from './demo-failed.ts';
import type { DemoPlace } from './demo-place.ts';
import { type DemoRun, demoRun } from './demo-run.ts';
import { faultyCall, INJECTED, missingHandle, unsupportedClaim } from './faulty-call.ts';

export interface DemoGround {
  readonly clock: Clock;
  readonly store: TraceStore;
  readonly place: DemoPlace;
  readonly inner: InnerCall;
}

export interface StageReport {
  /** The first beside the name of the stage, the others below it. */
  readonly lines: readonly string[];
  readonly data: Readonly<Record<string, JsonValue>>;
}

export interface Staged<T> extends StageReport {
  readonly made: T;
}

const QUESTION = 'What becomes a skill, and what waits for your yes?';
const CHUNK_LINES = 40;
const MAX_CHUNKS = 40;
const QUOTED = 64;

export async function splitStage({ place }: DemoGround, signal: AbortSignal): Promise<Staged<PreparedRun>> {
  const ground = { cwd: place.folder, userHome: place.home };
  const options = { chunk_lines: CHUNK_LINES, max_chunks: MAX_CHUNKS, concurrency: 4, fan_out: MAX_CHUNKS };
  const ask = {
    ground,
    target: place.file,
    question: QUESTION,
    options,
    memory_path: join(place.home, 'rlm', 'memory.jsonl'),
  };
  const prepared = await prepareRun(ask, signal);
  mustHold(prepared.ok, 'split', prepared.ok ? '' : prepared.detail);
  const { chunks, omitted, ambiguity } = prepared.value.request;
  mustHold(ambiguity.passed, 'split', `the question counts as ambiguous (${ambiguity.ambiguity_score})`);
  mustHold(chunks.length > 1, 'split', 'one chunk is nothing to take apart');
  const bytes = statSync(join(place.folder, place.file)).size;
  const size = `${bytes.toLocaleString('en-US')} bytes`;
  return {
    made: prepared.value,
    lines: [
      `${place.file}, ${size}: ${plural(chunks.length, 'chunk')} of ${CHUNK_LINES} lines at most, ${omitted.length} left out`,
    ],
    data: { question: QUESTION, file: place.original, bytes, chunks: chunks.length, omitted: omitted.length },
  };
}

/** Split, child calls, synthesis and gate are one run; what the children did and what the gate said are two stages of telling. */
export async function runStage(
  ground: DemoGround,
  prepared: PreparedRun,
  signal: AbortSignal,
): Promise<Staged<DemoRun>> {
  const run = await demoRun({ ...ground, prepared }, signal);
  const { outcome, record } = run;
  const children = record.calls.filter(({ mode }) => mode === 'execute_atomic');
  const answered = children.filter(({ success }) => success).length;
  mustHold(
    answered === prepared.request.chunks.length,
    'children',
    `${answered} calls answered, not one for each chunk`,
  );
  mustHold(outcome.evidence.length > 0, 'children', 'no call quoted anything');
  const file = readFileSync(join(ground.place.folder, ground.place.file), 'utf8');
  const standing = outcome.evidence.filter(({ text }) => findWords(file, text) !== null).length;
  mustHold(standing === outcome.evidence.length, 'children', 'a quotation does not stand in the file');
  const models = [...new Set(record.calls.map(({ model }) => model ?? 'unknown'))].join(', ');
  return {
    made: run,
    lines: [
      `${plural(answered, 'call')} to ${models}, which is rules and no language model: ${plural(outcome.evidence.length, 'quotation')}`,
      `all ${standing} stand in the file word for word; ${outcome.refused_facts.length} refused`,
    ],
    data: { calls: answered, model: models, evidence: outcome.evidence.length, refused: outcome.refused_facts.length },
  };
}

export function gateStage({ outcome }: DemoRun): StageReport {
  const { verdict, claims, evidence, refused } = outcome;
  mustHold(verdict === 'accepted', 'gate', `the verdict is ${verdict}: ${outcome.detail ?? ''}`);
  const known = new Map(evidence.map((fact) => [fact.fact_id, fact]));
  const cited = claims.filter(({ fact_ids }) => fact_ids.length > 0 && fact_ids.every((id) => known.has(id)));
  mustHold(claims.length > 0 && cited.length === claims.length, 'gate', 'a claim was accepted that cites no evidence');
  const first = cited[0];
  const place = known.get(first?.fact_ids[0] ?? '')?.place;
  return {
    lines: [
      `accepted: ${plural(claims.length, 'claim')}, all ${cited.length} cited, ${refused.length} refused`,
      `e.g. ${place?.source_path}:${place?.start_line} "${quoted(first?.text ?? '')}"`,
    ],
    data: { verdict, claims: claims.length, cited: cited.length },
  };
}

export async function faultStage(
  ground: DemoGround,
  { prepared, sound }: { readonly prepared: PreparedRun; readonly sound: RunOutcome },
  signal: AbortSignal,
): Promise<Staged<DemoRun>> {
  const inner = faultyCall(ground.inner, unsupportedClaim);
  const run = await demoRun({ ...ground, prepared, inner }, signal);
  const { verdict, refused, claims, evidence } = run.outcome;
  mustHold(inner.changed > 0, 'fault', 'there was no synthesis into which a claim could be put');
  const hit = refused.find(({ claim }) => claim.fact_id === INJECTED.fact_id);
  mustHold(hit !== undefined, 'fault', 'the claim that was put in was not refused');
  mustHold(
    verdict === 'refused' && claims.length === 0,
    'fault',
    `the verdict is ${verdict} with ${claims.length} claims`,
  );
  mustHold(sameJson(evidence, sound.evidence), 'fault', 'the children reported something else than before');
  return {
    made: run,
    lines: [
      `the same synthesis with a claim that no call reported: "${quoted(hit.claim.text)}"`,
      `refused ${plural(inner.changed, 'time')}, nothing accepted: ${hit.reason}, ${hit.detail}`,
    ],
    data: { verdict, reason: hit.reason, detail: hit.detail, asked: inner.changed, accepted: claims.length },
  };
}

export async function repairStage(
  ground: DemoGround,
  { prepared, sound }: { readonly prepared: PreparedRun; readonly sound: DemoRun },
  signal: AbortSignal,
): Promise<Staged<DemoRun>> {
  const inner = faultyCall(ground.inner, missingHandle);
  const run = await demoRun({ ...ground, prepared, inner }, signal);
  const { verdict, repair, claims } = run.outcome;
  mustHold(inner.changed > 0, 'repair', 'there was no synthesis from which a handle could be taken');
  mustHold(repair?.repair_accept === true && verdict === 'accepted', 'repair', `the verdict is ${verdict}`);
  const [change] = repair.before_after_diff;
  mustHold(
    change !== undefined && repair.before_after_diff.length === 1,
    'repair',
    'not exactly one handle was filled in',
  );
  const calls = run.record.calls.length;
  mustHold(calls === sound.record.calls.length, 'repair', `it took ${calls} calls, not ${sound.record.calls.length}`);
  mustHold(sameJson(claims, sound.outcome.claims), 'repair', 'the claims are not those of the sound synthesis');
  const [reason] = repair.initial_rejection_reasons;
  return {
    made: run,
    lines: [
      `the same synthesis with one handle left out: ${reason}`,
      `filled in with ${change.after} from what the calls had reported, no call more: ${verdict}`,
    ],
    data: { verdict, reason: reason ?? null, path: change.path, handle: change.after, calls },
  };
}

export async function replayStage({ record }: DemoRun, signal: AbortSignal): Promise<StageReport> {
  const replay = await replayRun(record, { run: runEngine }, signal);
  mustHold('result' in replay && replay.result === 'same', 'replay', `it was another run: ${JSON.stringify(replay)}`);
  const { events, calls, state_hash } = replay;
  mustHold(state_hash === record.row.state_hash, 'replay', 'it reached another state');
  return {
    lines: [
      `${plural(events, 'event')} and ${plural(calls, 'reply').replace('replys', 'replies')} again, nobody asked: the same state ${state_hash.slice(0, 23)}…`,
    ],
    data: { events, calls, state_hash },
  };
}

export function verifyStage(runs: readonly DemoRun[]): StageReport {
  const problems = runs.flatMap(({ record }) => verifyRun(record));
  mustHold(problems.length === 0, 'verify', problems.map(({ where, detail }) => `${where}: ${detail}`).join(' '));
  const events = runs.reduce((sum, { record }) => sum + record.events.length, 0);
  const calls = runs.reduce((sum, { record }) => sum + record.calls.length, 0);
  return {
    lines: [
      `${plural(runs.length, 'run')}, ${plural(events, 'event')}, ${plural(calls, 'call')}: ${problems.length} problems`,
    ],
    data: { runs: runs.length, events, calls, problems: problems.length },
  };
}

/** A page for each run; the first is named. */
export function pageStage({ place }: DemoGround, runs: Readonly<Record<string, DemoRun>>): StageReport {
  const pages = Object.entries(runs).map(([name, { record }]) => {
    const path = join(place.root, `${name}.html`);
    const page = renderRunPage(record);
    atomicWrite(path, page);
    mustHold(readFileSync(path, 'utf8') === page, 'page', `${path} is not what was written`);
    return path;
  });
  const [first = '', ...rest] = pages;
  const others = rest.map((path) => path.slice(place.root.length + 1)).join(', ');
  return {
    lines: [first, `beside it ${others}: open them in a browser, they need nothing else`],
    data: { page: first, pages },
  };
}

function quoted(text: string): string {
  return ellipsize(text.replace(/\s+/g, ' '), QUOTED);
}

function sameJson(one: readonly unknown[], other: readonly unknown[]): boolean {
  return canonicalJson(one as JsonValue) === canonicalJson(other as JsonValue);
}
