// Owns the demo of recursion: a real file taken apart, put together from cited claims, a false claim refused, a handle repaired, all of it
// replayed and checked, a page for each run; in a folder of its own that is kept. What is told is what was found: a stage that does not come
// out as it should ends it. Invariant: never the person's own home; a folder that holds something already is not used.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { type Clock, timeStamp } from '#base/clock.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import { demoFolder, privateFolder } from '#base/platform.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { ellipsize, plural } from '#base/text.ts';
import { type CommandOutput, failed, line } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import type { InnerCall } from './call/inner-call.ts';
import { runEngine, startRun } from './engine.ts';
import { renderRunPage } from './page/render-run-page.ts';
import { callByRule } from './reflex-tasks.ts';
import { prepareRun } from './run/prepare-run.ts';
import { replayRun } from './trace/replay.ts';
import { newRunId, readRunRecord } from './trace/run-record.ts';
import { openTraceStore, type TraceStore } from './trace/trace-store.ts';
import { verifyRun } from './trace/verify-run.ts';

export interface DemoPlace {
  readonly root: string;
  readonly home: string;
  /** Holds the file that is read. */
  readonly folder: string;
  /** Name of the file in it. */
  readonly file: string;
}

const FILE = 'README.md';

/** `keep`: absolute, or undefined for one with a name of its own. */
export function openDemoPlace(
  { variables, places, clock }: Ground,
  keep: string | undefined,
): Result<DemoPlace, 'folder-not-empty' | 'folder-unusable' | 'file-missing'> {
  const original = ownReadme(import.meta.dirname);
  if (original === undefined)
    return refuse('file-missing', 'the README.md of this program is not where it was installed');
  const demos = () => demoFolder(variables.XDG_DATA_HOME, places.userHome);
  const root = keep ?? join(demos(), `${timeStamp(clock.now())}-rlm-${randomHex(2)}`);
  const [home, folder] = [join(root, 'home'), join(root, 'folder')];
  try {
    if (existsSync(root) && (!statSync(root).isDirectory() || readdirSync(root).length > 0))
      return refuse('folder-not-empty', `${root} is there already and is no empty folder`);
    privateFolder(root);
    privateFolder(home);
    mkdirSync(folder, { mode: 0o700 });
    copyFileSync(original, join(folder, FILE));
  } catch (error) {
    return refuse('folder-unusable', `${root}: ${errorText(error)}`);
  }
  return ok({ root, home, folder, file: FILE });
}

/** Of the package that this code belongs to: beside its package.json, in a checkout and installed. */
function ownReadme(from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const [readme, manifest] = [join(folder, FILE), join(folder, 'package.json')];
    const isThere = existsSync(readme) && existsSync(manifest);
    const read = parseJsonObject(isThere ? readFileSync(manifest, 'utf8') : '');
    if (read.ok && read.value.name === 'talaria') return readme;
    if (dirname(folder) === folder) return undefined;
  }
}

interface Stage {
  readonly name: string;
  /** The first beside the name, the others below it. */
  readonly lines: readonly string[];
  readonly data: JsonObject;
}

const NAME_WIDTH = 13;

/** Throws what is no failure of a stage. */
export async function* runRlmDemo(
  { clock }: Ground,
  place: DemoPlace,
  signal: AbortSignal,
): AsyncGenerator<CommandOutput> {
  const store = openTraceStore(place.home, { clock });
  const stages: Record<string, JsonValue> = {};
  yield line('Talaria takes a file apart: no key, no language model (reflex/1, which is rules), nothing staged.');
  yield line(`home    ${place.home}`);
  yield line(`folder  ${place.folder}`);
  try {
    for await (const { name, lines, data } of story({ clock, store, place }, signal)) {
      stages[name] = data;
      const [first = '', ...rest] = lines;
      yield line(`${`${Object.keys(stages).length}. ${name}`.padEnd(NAME_WIDTH)}${first}`);
      for (const text of rest) yield line(`${' '.repeat(NAME_WIDTH)}${text}`);
    }
  } catch (error) {
    if (errorCode(error) !== DEMO_FAILED) throw error;
    const fix = `What there is of it is kept: ${place.root}`;
    yield failed(DEMO_FAILED, `the demo failed at its stage ${errorText(error)}`, fix);
    return;
  } finally {
    store.close();
  }
  yield line(`Look around: TALARIA_HOME=${place.home} talaria rlm runs`);
  yield { type: 'data', value: { home: place.home, folder: place.folder, stages } };
}

const DEMO_FAILED = 'demo-failed';

/** Throws `demo-failed` unless it holds. @param why what was found instead */
function mustHold(holds: boolean, stage: string, why: string): asserts holds {
  if (!holds) throw new TalariaError(`${stage}: ${why}`, { code: DEMO_FAILED });
}

interface DemoGround {
  readonly clock: Clock;
  readonly store: TraceStore;
  readonly place: DemoPlace;
}

async function* story(ground: DemoGround, signal: AbortSignal): AsyncGenerator<Stage> {
  const { prepared, stage } = await split(ground, signal);
  yield stage;
  const play = (spoil?: Spoil) => playRun(ground, prepared, spoil, signal);
  const sound = await play();
  yield childrenStage(sound, ground.place, prepared.request.chunks.length);
  yield gateStage(sound);
  const refused = await play(addClaim);
  yield faultStage(refused);
  const repaired = await play(dropHandle);
  yield repairStage(repaired, sound);
  yield await replayStage(sound, signal);
  yield verifyStage([sound, refused, repaired]);
  yield pageStage(ground.place, { accepted: sound, refused, repaired });
}

const QUESTION = 'What becomes a skill, and what waits for your yes?';
const CHUNK_LINES = 40;
const MAX_CHUNKS = 40;

async function split({ place }: DemoGround, signal: AbortSignal) {
  const ask = {
    ground: { cwd: place.folder, userHome: place.home },
    target: place.file,
    question: QUESTION,
    options: { chunk_lines: CHUNK_LINES, max_chunks: MAX_CHUNKS, concurrency: 4, fan_out: MAX_CHUNKS },
    memory_path: join(place.home, 'rlm', 'memory.jsonl'),
  };
  const prepared = await prepareRun(ask, signal);
  mustHold(prepared.ok, 'split', prepared.ok ? '' : prepared.detail);
  const { chunks, omitted, ambiguity } = prepared.value.request;
  mustHold(ambiguity.passed, 'split', `the question counts as ambiguous (${ambiguity.ambiguity_score})`);
  mustHold(chunks.length > 1, 'split', 'one chunk is nothing to take apart');
  const bytes = statSync(join(place.folder, place.file)).size;
  const size = `${bytes.toLocaleString('en-US')} bytes`;
  const made = `${plural(chunks.length, 'chunk')} of ${CHUNK_LINES} lines at most, ${omitted.length} left out`;
  const data = { question: QUESTION, bytes, chunks: chunks.length, omitted: omitted.length };
  return { prepared: prepared.value, stage: { name: 'split', lines: [`${place.file}, ${size}: ${made}`], data } };
}

type Prepared = Awaited<ReturnType<typeof split>>['prepared'];
type DemoRun = Awaited<ReturnType<typeof playRun>>;

/** Split, child calls, synthesis and gate are one run; what the children did and what the gate said are two stages of telling. */
async function playRun(
  { store, clock }: DemoGround,
  { request, texts, sources, root }: Prepared,
  spoil: Spoil | undefined,
  signal: AbortSignal,
) {
  const run = {
    run_id: newRunId('run', clock),
    kind: 'run',
    request: request as unknown as JsonObject,
    root,
    sources,
  } as const;
  const rules = callByRule(clock);
  const spoilt = { times: 0 };
  const inner = new Map([[rules.family, spoil === undefined ? rules : spoiledCall(rules, spoil, spoilt)]]);
  const outcome = await startRun({ store, clock, inner }, run, { texts }, signal);
  const row = store.find(run.run_id);
  mustHold(row.ok, 'trace', row.ok ? '' : row.detail);
  return { outcome, record: readRunRecord(store, row.value), spoilt: spoilt.times };
}

function childrenStage({ outcome, record }: DemoRun, place: DemoPlace, chunks: number): Stage {
  const { evidence, refused_facts } = outcome;
  const answered = record.calls.filter(({ mode, success }) => mode === 'execute_atomic' && success).length;
  mustHold(answered === chunks, 'children', `${answered} calls answered, not one for each chunk`);
  mustHold(evidence.length > 0, 'children', 'no call quoted anything');
  const file = readFileSync(join(place.folder, place.file), 'utf8');
  const standing = evidence.filter(({ text }) => file.includes(text)).length;
  mustHold(standing === evidence.length, 'children', 'a quotation does not stand in the file');
  const model = [...new Set(record.calls.map((call) => call.model ?? 'unknown'))].join(', ');
  const told = `${plural(answered, 'call')} to ${model}, which is rules and no language model`;
  return {
    name: 'children',
    lines: [
      `${told}: ${plural(evidence.length, 'quotation')}`,
      `all ${standing} stand in the file word for word; ${refused_facts.length} refused`,
    ],
    data: { calls: answered, model, evidence: evidence.length, refused: refused_facts.length },
  };
}

function gateStage({ outcome }: DemoRun): Stage {
  const { verdict, claims, evidence, refused, detail } = outcome;
  mustHold(verdict === 'accepted', 'gate', `the verdict is ${verdict}: ${detail ?? ''}`);
  const known = new Map(evidence.map((fact) => [fact.fact_id, fact.place]));
  const cited = claims.filter(({ fact_ids }) => fact_ids.length > 0 && fact_ids.every((id) => known.has(id)));
  const [first] = cited;
  mustHold(first !== undefined && cited.length === claims.length, 'gate', 'a claim was accepted without evidence');
  const place = known.get(first.fact_ids[0] ?? '');
  return {
    name: 'gate',
    lines: [
      `accepted: ${plural(claims.length, 'claim')}, all ${cited.length} cited, ${refused.length} refused`,
      `e.g. ${place?.source_path}:${place?.start_line} "${quoted(first.text)}"`,
    ],
    data: { verdict, claims: claims.length, cited: cited.length },
  };
}

function faultStage({ outcome, spoilt }: DemoRun): Stage {
  const { verdict, refused, claims } = outcome;
  const hit = refused.find(({ claim }) => claim.fact_id === INVENTED.fact_id);
  mustHold(hit !== undefined, 'fault', 'the claim that was put in was not refused');
  mustHold(verdict === 'refused' && claims.length === 0, 'fault', `the verdict is ${verdict}`);
  return {
    name: 'fault',
    lines: [
      `the same synthesis with a claim that no call reported: "${quoted(hit.claim.text)}"`,
      `refused ${plural(spoilt, 'time')}, nothing accepted: ${hit.reason}, ${hit.detail}`,
    ],
    data: { verdict, reason: hit.reason, detail: hit.detail, asked: spoilt, accepted: claims.length },
  };
}

function repairStage({ outcome, record }: DemoRun, sound: DemoRun): Stage {
  const { verdict, repair, claims } = outcome;
  const change = repair?.before_after_diff[0];
  mustHold(change !== undefined && verdict === 'accepted', 'repair', `the verdict is ${verdict}`);
  const calls = record.calls.length;
  const isSame = calls === sound.record.calls.length && claims.length === sound.outcome.claims.length;
  mustHold(isSame, 'repair', 'the claims or the calls are not those of the sound synthesis');
  const reason = repair?.initial_rejection_reasons[0] ?? '';
  return {
    name: 'repair',
    lines: [
      `the same synthesis with one handle left out: ${reason}`,
      `filled in with ${change.after} from what the calls had reported, no call more: ${verdict}`,
    ],
    data: { verdict, reason, path: change.path, handle: change.after, calls },
  };
}

async function replayStage({ record }: DemoRun, signal: AbortSignal): Promise<Stage> {
  const replay = await replayRun(record, { run: runEngine }, signal);
  const isSame = 'result' in replay && replay.result === 'same' && replay.state_hash === record.row.state_hash;
  mustHold(isSame, 'replay', `it was another run: ${JSON.stringify(replay)}`);
  const { events, calls, state_hash } = replay;
  const again = `${plural(events, 'event')} and ${calls} ${calls === 1 ? 'reply' : 'replies'} again, nobody asked`;
  return {
    name: 'replay',
    lines: [`${again}: the same state ${state_hash.slice(0, 23)}…`],
    data: { events, calls, state_hash },
  };
}

function verifyStage(runs: readonly DemoRun[]): Stage {
  const problems = runs.flatMap(({ record }) => verifyRun(record));
  mustHold(problems.length === 0, 'verify', problems.map(({ where, detail }) => `${where}: ${detail}`).join(' '));
  const events = runs.flatMap(({ record }) => record.events).length;
  const calls = runs.flatMap(({ record }) => record.calls).length;
  const checked = `${plural(runs.length, 'run')}, ${plural(events, 'event')}, ${plural(calls, 'call')}`;
  const data = { runs: runs.length, events, calls, problems: problems.length };
  return { name: 'verify', lines: [`${checked}: ${problems.length} problems`], data };
}

/** A page for each run; the first is named. */
function pageStage({ root }: DemoPlace, runs: Readonly<Record<string, DemoRun>>): Stage {
  const pages = Object.entries(runs).map(([name, { record }]) => {
    const path = join(root, `${name}.html`);
    atomicWrite(path, renderRunPage(record));
    return path;
  });
  const [first = '', ...rest] = pages;
  const others = rest.map((path) => path.slice(root.length + 1)).join(', ');
  const lines = [first, `beside it ${others}: open them in a browser, they need nothing else`];
  return { name: 'page', lines, data: { page: first, pages } };
}

function quoted(text: string): string {
  return ellipsize(text.replace(/\s+/g, ' '), 64);
}

/** What is made of the facts of a synthesis. */
type Spoil = (facts: readonly JsonObject[]) => readonly JsonObject[];

const INVENTED = { fact_id: 'made.up', text: 'Talaria has never made a mistake.' };

/** One claim more: a fact that no child reported, with a chunk that is really there. */
const addClaim: Spoil = (facts) => [...facts, { ...INVENTED, evidence_chunk_id: facts[0]?.evidence_chunk_id ?? null }];

/** The handle of the first fact is left out. */
const dropHandle: Spoil = ([first, ...rest]) => [{ ...first, evidence_chunk_id: null }, ...rest];

function spoiledCall(inner: InnerCall, spoil: Spoil, spoilt: { times: number }): InnerCall {
  return {
    family: inner.family,
    call: async (request, signal) => {
      const outcome = await inner.call(request, signal);
      const reply = outcome.ok ? parseJsonObject(outcome.value.completion) : undefined;
      if (!outcome.ok || !reply?.ok || reply.value.mode !== 'synthesize_parent') return outcome;
      const result = isJsonObject(reply.value.result) ? reply.value.result : {};
      const facts: readonly JsonValue[] = Array.isArray(result.retained_facts) ? result.retained_facts : [];
      const retained_facts = spoil(facts.filter(isJsonObject));
      spoilt.times += 1;
      return ok({
        ...outcome.value,
        completion: JSON.stringify({ ...reply.value, result: { ...result, retained_facts } }),
      });
    },
  };
}
