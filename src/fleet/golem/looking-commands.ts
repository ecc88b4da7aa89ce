// Owns the commands that only look at golems: who there is, one of them whole, its ticks, why it did something or knows something, its playbook, its
// trajectories; and what `doctor` says. Knows no life. Invariants: nothing is changed and nothing of a golem's home is opened that is not shown;
// a chain of why ends at a tick, or says what is gone.
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { isoTime } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import type { JsonValue } from '#base/json.ts';
import { readIfThere } from '#base/platform.ts';
import { ok, type Refusal, type Result, refuse } from '#base/result.ts';
import { redactSecrets } from '#base/secrets.ts';
import { ellipsize, oneLine } from '#base/text.ts';
import * as command from '#core/agent/command-spec.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, line } from '#core/agent/command-spec.ts';
import { fault, good, type HealthLine, warning } from '#core/agent/health.ts';
import type { Ground } from '#core/agent/room.ts';
import type { SkillRecord } from '#mind/skills/skill.ts';
import { withBirths } from './births.ts';
import { type GolemPlaces, golemNames, type OpenGolem, type OpenRefusal, openGolem } from './golem-home.ts';
import type { TickRecord } from './hooks.ts';
import { stateOf, tickLine } from './told.ts';

export const count = z.coerce.number().int().min(1);
export const named = z.object({ name: z.string().describe('Name of the golem') });

const ranged = named.extend({
  from: count.optional().describe('First tick; default the last twenty'),
  to: count.optional().describe('Last tick'),
});

/** What was typed wrongly, or does not fit the machine; all else may not be as things stand. */
const WRONG =
  'invalid-name no-such-golem golem-toml-missing golem-toml-torn golem-toml-invalid no-folder no-repository bare-repository no-test-command no-such-bundle';

export function failureOf({ reason, detail }: Refusal, fix = ''): command.Failure {
  return (WRONG.split(' ').includes(reason) ? command.wrongUse : command.refused)(reason, detail, fix);
}

type Spec<Input> = Omit<command.CommandSpec<Input>, 'name' | 'surfaces' | 'examples'>;

/** `example`: what stands behind `talaria golem`. */
export function golemCommand<Input>(word: string, example: string, spec: Spec<Input>): AnyCommand {
  const examples = [`talaria golem ${example}`];
  return command.defineCommand({ name: `golem ${word}`, surfaces: ['cli'], examples, positional: ['name'], ...spec });
}

/** Its files are open meanwhile. */
export async function withGolem<T>(
  { places, clock }: Ground,
  name: string,
  work: (golem: OpenGolem) => T | Promise<T>,
): Promise<Result<T, OpenRefusal>> {
  const opened = await openGolem(places.home, name, { clock });
  if (!opened.ok) return opened;
  try {
    return ok(await work(opened.value));
  } finally {
    opened.value.close();
  }
}

interface Looking<Input> extends Omit<Spec<Input>, 'run'> {
  readonly look: (golem: OpenGolem, input: Input, context: CommandContext) => AsyncIterable<CommandOutput>;
  readonly example?: string;
}

/** A command about one golem that is there, its files open meanwhile. */
function lookingCommand<Input extends { readonly name: string }>(
  ground: Ground,
  word: string,
  { example = `${word} ledger`, look, ...spec }: Looking<Input>,
): AnyCommand {
  const run = async function* (input: Input, context: CommandContext): AsyncGenerator<CommandOutput> {
    const opened = await openGolem(ground.places.home, input.name, { clock: ground.clock });
    if (!opened.ok) return yield failureOf(opened);
    try {
      yield* look(opened.value, input, context);
    } finally {
      opened.value.close();
    }
  };
  return golemCommand(word, example, { readOnly: true, ...spec, run });
}

export function lookingCommands(ground: Ground): readonly AnyCommand[] {
  return [
    listCommand(ground),
    lookingCommand(ground, 'show', {
      summary: 'Show one golem: how it is, what it knows, what it did last',
      input: named,
      look: (golem) => show(ground, golem),
    }),
    lookingCommand(ground, 'ticks', {
      summary: 'List what a golem did, heartbeat by heartbeat',
      input: ranged,
      example: 'ticks ledger --from 100 --to 120',
      look: ticks,
    }),
    lookingCommand(ground, 'why', {
      summary: 'Why a golem did what it did at a tick, or where a skill of it comes from',
      input: named.extend({ what: z.string().describe('Number of a tick, or name of a skill') }),
      positional: ['name', 'what'],
      example: 'why ledger 847',
      look: (golem, { name, what }) =>
        /^\d+$/.test(what) ? whyTick(golem, Number(what)) : whySkill(ground, name, what),
    }),
    lookingCommand(ground, 'playbook', { summary: 'Show what a golem holds to be so', input: named, look: playbook }),
    lookingCommand(ground, 'export', {
      summary: 'Write what a golem saw and did as JSON lines, keys taken out',
      input: named.extend({
        trajectories: z.string().describe('File to write'),
        force: z.boolean().default(false).describe('Write over a file that is already there'),
      }),
      readOnly: () => false,
      example: 'export ledger --trajectories ledger.jsonl',
      look: exportTicks,
    }),
  ];
}

function summaryOf(golem: OpenGolem, now: number) {
  const { golem: id, status, cause, ...told } = stateOf(golem, { now });
  const { name, domain, phase, tick, accuracy, spent_usd } = told;
  const words = status === 'killed' ? 'was killed' : status;
  return { name, id, domain, status: cause === null ? words : `dead (${cause})`, phase, tick, accuracy, spent_usd };
}

async function lookAtAll(ground: Ground) {
  return Promise.all(
    golemNames(ground.places.home).map(async (name) => {
      try {
        return { name, looked: await withGolem(ground, name, (golem) => summaryOf(golem, ground.clock.now())) };
      } catch (error) {
        return { name, looked: refuse('golem-torn', errorText(error)) };
      }
    }),
  );
}

/** What `doctor` says: those that were killed, and those whose golem.toml or life cannot be read. */
export async function golemHealth(ground: Ground): Promise<readonly HealthLine[]> {
  const all = await lookAtAll(ground);
  const lines = all.flatMap(({ name, looked }): readonly HealthLine[] => {
    if (!looked.ok)
      return [fault('golem', `${name}: ${looked.detail}`, 'Mend what is named, or put it back from a backup.')];
    const { status, tick } = looked.value;
    const next = `To go on: talaria golem run ${name}. To end it: talaria golem bury ${name}`;
    return status === 'was killed' ? [warning('golem', `${name} was killed at tick ${tick}`, next)] : [];
  });
  return all.length > 0 && lines.length === 0 ? [good('golem', all.map(({ name }) => name).join(', '))] : lines;
}

function percent(value: number | null): string {
  return value === null ? '–' : `${Math.round(value * 100)} %`;
}

function listCommand(ground: Ground): AnyCommand {
  return golemCommand('list', 'list', {
    summary: 'List the golems of this home',
    readOnly: true,
    positional: [],
    input: z.object({}),
    async *run() {
      const all = await lookAtAll(ground);
      for (const { name, looked } of all) if (!looked.ok) yield line(`${name}: ${looked.detail}`);
      const known = all.flatMap(({ looked }) => (looked.ok ? [looked.value] : []));
      if (all.length === 0) yield line('There is no golem yet: talaria golem create NAME');
      const columns = ['name', 'id', 'domain', 'status', 'phase', 'ticks', 'right', 'spent'];
      const rows = known.map(({ name, id, domain, status, phase, tick, accuracy: right, spent_usd: spent }) => {
        return [name, id, domain, status, phase, String(tick), percent(right), `$${spent.toFixed(2)}`];
      });
      if (known.length > 0) yield { type: 'table', columns, rows };
      yield { type: 'data', value: known };
    },
  });
}

function notTakenLine({ outcome, name, source, reason }: ReturnType<OpenGolem['rows']['notTakenIn']>[number]): string {
  return `${outcome} ${name}${name === source ? '' : ` of ${source}`}: ${oneLine(reason, 120)}`;
}

async function* show(ground: Ground, golem: OpenGolem): AsyncGenerator<CommandOutput> {
  const { identity, places, rows } = golem;
  const summary = summaryOf(golem, ground.clock.now());
  const records = await recordsOf(ground, golem);
  const { mood } = rows.state() ?? {};
  const path = rows.death()?.path ?? null;
  const { id, domain, status, phase, tick, accuracy: right, spent_usd: spent } = summary;
  yield line(
    `${id} · ${domain} · ${status} · ${phase} · tick ${tick} · right ${percent(right)} · $${spent.toFixed(2)}`,
  );
  yield line(`home ${places.root} · born ${isoTime(identity.bornAt)} · lineage ${identity.lineage.join(' → ')}`);
  if (mood) yield line(moodLine(mood));
  if (path !== null) yield line(`testament ${path}`);
  for (const unused of rows.value<readonly string[]>('unusedInference') ?? []) yield line(`inference: ${unused}`);
  for (const one of rows.notTakenIn()) yield line(notTakenLine(one));
  const columns = ['skill', 'confidence', 'held', 'failed', 'status', 'from'];
  const cells = ({ name, confidence, successCount, failureCount, status: state, lineage }: SkillRecord) => {
    return [name, confidence.toFixed(2), String(successCount), String(failureCount), state, lineage.at(-1) ?? 'itself'];
  };
  if (records.length > 0) yield { type: 'table', columns, rows: records.map(cells) };
  for (const record of rows.ticks({ acted: true, limit: 5 })) yield line(tickLine(record) ?? '');
  const value = { ...summary, lineage: identity.lineage, mood: mood ?? null, skills: records, testament: path };
  yield { type: 'data', value: value as unknown as JsonValue };
}

function moodLine({ pleasure, arousal, dominance }: TickRecord['pad_before']): string {
  return `mood     pleasure ${pleasure.toFixed(2)}, arousal ${arousal.toFixed(2)}, dominance ${dominance.toFixed(2)}`;
}

/** The best first. Nothing of its home is opened when it has none yet. */
async function recordsOf(ground: Ground, { places }: OpenGolem): Promise<readonly SkillRecord[]> {
  if (!existsSync(`${places.root}/state.db`)) return [];
  const all = await inHome(ground, places, async (home) => (await home.door('skillRecords'))().list());
  return all.filter(({ status }) => status !== 'retired').toSorted((a, b) => b.confidence - a.confidence);
}

export async function inHome<T>(
  ground: Ground,
  { root, work }: GolemPlaces,
  look: (home: Ground) => Promise<T>,
): Promise<T> {
  const opened = ground.homeAt({ root, cwd: work });
  return look(opened.ground).finally(() => opened.shutdown());
}

async function* ticks(
  { rows, identity }: OpenGolem,
  { from, to }: z.output<typeof ranged>,
): AsyncGenerator<CommandOutput> {
  const limit = from === undefined ? 20 : 1_000;
  const found = rows.ticks({ ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }), limit });
  for (const record of found)
    yield line(tickLine(record) ?? `tick ${record.tick} · T0 · quiet · surprise ${record.pe.toFixed(2)}`);
  if (found.length === 0) yield line('No tick is stored in this range.');
  const next = (found.at(-1)?.tick ?? Number.MAX_SAFE_INTEGER) + 1;
  if (from !== undefined && next <= (to ?? next) && rows.tick(next))
    yield line(`There is more: talaria golem ticks ${identity.name} --from ${next}`);
  yield { type: 'data', value: found as unknown as JsonValue };
}

async function* whyTick({ identity, rows }: OpenGolem, tick: number): AsyncGenerator<CommandOutput> {
  const record = rows.tick(tick);
  if (record === undefined) {
    const lived = rows.state()?.tick ?? 0;
    return yield command.wrongUse('no-such-tick', `${identity.name} has no tick ${tick}; it lived ${lived}.`);
  }
  for (const text of whyLines(record)) yield line(text);
  yield { type: 'data', value: record as unknown as JsonValue };
}

export function whyLines(record: TickRecord): readonly string[] {
  const { observation, prediction, outcome, actions, procedures, followed, session } = record;
  const left = record.deviated ? ', and left it' : '';
  const signals = observation.signals.map(({ name, value }) => `${name} ${value.toFixed(2)}`);
  return [
    `tick ${record.tick}, ${isoTime(record.at)}, ${record.phase} (${record.vitality.toFixed(2)})`,
    `saw      ${observation.tag}: ${oneLine(ellipsize(observation.text, 400))}`,
    `signals  ${signals.join(', ') || 'none'}`,
    `gate     ${record.tier}, ${record.gate_reason}`,
    moodLine(record.pad_before),
    ...procedures.map(({ name, version, weight, parts }) => {
      const made = Object.entries(parts).map(([part, value]) => `${part} ${value.toFixed(2)}`);
      return `knew     ${name} version ${version}, weight ${weight.toFixed(2)} = ${made.join(' × ')}`;
    }),
    ...(followed ? [`followed ${followed.name} version ${followed.version}${left}`] : []),
    ...(prediction ? [`expected ${prediction.claim}, p ${prediction.p.toFixed(2)} (${prediction.category})`] : []),
    `answered ${record.answered_by}${session ? `, session ${session.id}` : ''}`,
    ...actions.map(({ label, status, has_changed, ms, block_reason: why }) => {
      return `did      ${label}: ${why ?? status}${has_changed ? ', changed something' : ''}, ${ms} ms`;
    }),
    ...(outcome ? [`came     ${outcome.success ? 'success' : 'failure'}, ${outcome.summary} (${outcome.source})`] : []),
    ...record.faults.map((text) => `fault    ${text}`),
  ];
}

const MOST_HOPS = 50;

/** Down the line of those that it passed through, to the ticks at which it was found. */
export async function* whySkill(ground: Ground, name: string, skill: string): AsyncGenerator<CommandOutput> {
  const chain: Link[] = [];
  let next: Known | undefined = { name, skill };
  while (next !== undefined && chain.length < MOST_HOPS) {
    const found: Provenance | undefined = await provenanceOf(ground, next);
    chain.push(found ?? { golem: next.name, isGone: true });
    next = found?.parent;
  }
  const [first] = chain;
  if (first === undefined || 'isGone' in first)
    return yield command.refused('no-such-skill', `${name} has no skill ${skill}.`, `See: talaria golem show ${name}`);
  for (const link of chain) for (const text of linkLines(link)) yield line(text);
  yield { type: 'data', value: chain as unknown as JsonValue };
}

type Known = { readonly name: string; readonly skill: string };
type Provenance = NonNullable<Awaited<ReturnType<typeof provenanceOf>>>;
type Link = Provenance | { readonly golem: string; readonly isGone: true };

function linkLines(link: Link): readonly string[] {
  if ('isGone' in link) return [`  ${link.golem}: its home is gone, and with it the ticks.`];
  const { golem, skill, version, confidence, raw, handles } = link;
  const head = `${golem} · ${skill} version ${version} · confidence ${confidence.toFixed(2)}${raw}`;
  return [head, ...handles.map(({ handle, text }) => `  ${handle}${text === undefined ? '' : `: ${text}`}`)];
}

/** Undefined: there is no such golem, or it has no such skill. */
async function provenanceOf(ground: Ground, { name, skill }: Known) {
  const looked = await withGolem(ground, name, ({ places, rows, identity }) =>
    inHome(ground, places, async (home) => {
      const record = (await home.door('skillRecords'))().get(skill);
      if (record === undefined) return undefined;
      const proposals = await home.door('proposals');
      const versions = (await home.door('door')).versions(skill);
      const cited = versions.flatMap(({ version: at }) =>
        proposals.why({ kind: 'skill', target: skill, key: String(at) }),
      );
      const handles = new Set(cited.flatMap(({ proposal }) => proposal.citations.map(({ handle }) => handle)));
      const { version, confidence, lineage, priorConfidence, derivedFrom = '' } = record;
      const [parentId, origin] = derivedFrom.split('/');
      const all = withBirths(ground.places.home, ground.clock, (births) => births.list());
      const born = all.find(({ id }) => id === parentId);
      return {
        ...{ golem: identity.id, skill, version, confidence },
        raw: lineage.length > 0 ? `, taken in at ${priorConfidence.toFixed(2)}` : '',
        handles: [...handles].map((handle) => {
          const tick = handle.startsWith('tick:') ? rows.tick(Number(handle.slice(5))) : undefined;
          return { handle, text: tick && tickLine(tick) };
        }),
        parent: born && origin ? { name: born.name, skill: origin } : undefined,
      };
    }),
  );
  return looked.ok ? looked.value : undefined;
}

async function* playbook({ places, identity }: OpenGolem): AsyncGenerator<CommandOutput> {
  const text = readIfThere(places.playbook) ?? '';
  const none = `${identity.name} has no playbook yet: it writes one every fifty ticks.`;
  yield line(text.trim() === '' ? none : text.trimEnd());
  yield { type: 'data', value: { golem: identity.name, playbook: text } };
}

async function* exportTicks(
  { rows, identity }: OpenGolem,
  { trajectories, force }: { readonly trajectories: string; readonly force: boolean },
  { cwd }: CommandContext,
): AsyncGenerator<CommandOutput> {
  const path = resolve(cwd, trajectories);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory())
    return yield command.wrongUse('file-name', `${path} is a folder.`);
  const other = 'Name another file, or add --force to write over it.';
  if (!force && existsSync(path)) return yield command.refused('file-exists', `${path} is already there.`, other);
  const lines = rows.ticks({ acted: true }).map(({ tick, observation, procedures, actions, prediction, outcome }) => {
    return redactSecrets(JSON.stringify({ tick, observation, procedures, actions, prediction, outcome }));
  });
  atomicWrite(path, lines.map((text) => `${text}\n`).join(''));
  yield line(`${lines.length} acting ticks in ${path}`);
  yield { type: 'data', value: { golem: identity.name, path, ticks: lines.length } };
}
