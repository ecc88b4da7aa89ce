// Owns the commands of `talaria library …`: what outlived the golems, looked at, taken in and given on. Invariants: what is given was named or
// accepted by the owner; what came on the log is taken in first; whatever was decided is recorded.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { isoTime } from '#base/clock.ts';
import { known } from '#base/errors.ts';
import type { JsonValue } from '#base/json.ts';
import { isYes, oneLine, plural } from '#base/text.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  type CommandSpec,
  defineCommand,
  failed,
  line,
  refused,
  wrongUse,
} from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import type { LibraryEntry } from '#fleet/styx/clade.ts';
import { MOST_BYTES } from '#mind/skills/format/testament.ts';
import { scanStale } from './curation.ts';
import { giveTo, type Meant, search, takeIn, wantedFor } from './hands.ts';
import { type EntryRow, entryOf, type Library, listOf, openLibrary } from './library-home.ts';
import { decide, heldBy, type Line, makeKit, propose } from './loadout.ts';
import { addOwn, receive } from './reception.ts';
import { keepEntry } from './shelves.ts';

export function libraryCommands(ground: Ground): readonly AnyCommand[] {
  return [
    listCommand(ground),
    showCommand(ground),
    whyCommand(ground),
    searchCommand(ground),
    importCommand(ground),
    conflictsCommand(ground),
    labelled(ground, 'stale', 'Skills that nobody tested since their domain changed', 'is_stale = 1'),
    labelled(ground, 'canonical', 'Skills that three generations proved', "status = 'canonical'"),
    equipCommand(ground),
    kitCommand(ground),
  ];
}

type Run<Input> = (library: Library, input: Input, context: CommandContext) => AsyncIterable<CommandOutput>;

/** `words`: as typed behind `library`. Rows of the log are taken in before each. */
function libraryCommand<Input>(
  ground: Ground,
  words: string,
  about: Pick<CommandSpec<Input>, 'summary' | 'input' | 'positional'>,
  run: Run<Input>,
): AnyCommand {
  const [name = ''] = words.split(' ');
  return defineCommand<Input>({
    ...about,
    ...{ name: `library ${name}`, surfaces: ['cli'], examples: [`talaria library ${words}`] },
    async *run(input, context) {
      await ground.writable();
      const library = await openLibrary(ground);
      try {
        await takeIn(library);
        yield* run(library, input, context);
      } finally {
        await library.close();
      }
    },
  });
}

const nothing = z.object({});
const named = z.object({ name: z.string() });
const percent = (value: number) => value.toFixed(2);

function told(value: unknown): CommandOutput {
  return { type: 'data', value: value as JsonValue };
}

function missing(name: string): CommandOutput {
  return failed('no-such-entry', `There is no ${name} in the library.`, 'talaria library list');
}

function table(entries: readonly LibraryEntry[]): CommandOutput {
  const rows = entries.map((entry) => [
    ...[
      entry.name,
      labelOf(entry),
      percent(entry.confidence),
      percent(entry.raw),
      entry.lineage.at(-1) ?? entry.source,
    ],
    ...[entry.equipped > 0 ? `${entry.equipped}, ${entry.validated}, ${entry.contradicted}` : '', entry.description],
  ]);
  const columns = ['skill', 'status', 'confidence', 'raw', 'last of', 'given, validated, contradicted', 'what for'];
  return { type: 'table', columns, rows };
}

function labelOf({ status, isCrossValidated, isStale }: LibraryEntry): string {
  return [status, isCrossValidated ? 'cross-validated' : '', isStale ? 'potentially stale' : '']
    .filter(Boolean)
    .join(', ');
}

function listCommand(ground: Ground): AnyCommand {
  const about = { summary: 'What outlived the golems, canonical first; what waits last', input: nothing };
  return libraryCommand(ground, 'list', about, async function* (library) {
    yield* listed(
      library.entries(),
      'The library is empty. It fills when golems end or rest: talaria golem retire NAME',
    );
    const dead = 'SELECT golem, signer FROM golems WHERE is_dead = 1';
    const sql = `SELECT golem FROM loadouts WHERE decision = 'asked' AND (golem, signer) NOT IN (${dead}) ORDER BY at`;
    for (const { golem } of library.database.all<{ golem: string }>(sql))
      yield line(`${golem} asks for a kit: talaria library kit --for ${golem}`);
    for (const key of library.strangers())
      yield line(`What golems of the home ${key} leave waits. If it is yours: talaria styx trust ${key}`);
  });
}

function* listed(rows: readonly EntryRow[], none: string): Generator<CommandOutput> {
  const entries = rows.map(entryOf);
  yield entries.length === 0 ? line(none) : table(entries);
  yield told(entries);
}

function labelled(ground: Ground, word: string, summary: string, where: string): AnyCommand {
  return libraryCommand(ground, word, { summary, input: nothing }, async function* (library) {
    if (word === 'stale') await scanStale(library);
    yield* listed(library.entries(where), `Nothing in the library is ${word}.`);
  });
}

function showCommand(ground: Ground): AnyCommand {
  const about = {
    summary: 'One skill: what it says, what it is worth, and whom it helped',
    input: named,
    positional: ['name'],
  };
  return libraryCommand(ground, 'show clear-disk', about, async function* (library, { name }) {
    const row = library.entry(name);
    if (row === undefined) return yield missing(name);
    const entry = entryOf(row);
    yield line(`${name}: ${labelOf(entry)}, ${percent(row.confidence)} of ${percent(row.raw)}; ${row.why}`);
    yield line(`for: ${oneLine(row.trigger, 200)}`);
    for (const [at, step] of listOf(row.steps).entries()) yield line(`  ${at + 1}. ${step}`);
    yield line(`lineage: ${entry.lineage.join(' → ') || 'nobody of the clade'}`);
    yield line(row.equipped > 0 ? heldBy(row) : 'given to nobody yet');
    const sql =
      'SELECT golem, signer, at, confidence, outcome, successes, failures FROM equip_history WHERE entry = ? ORDER BY at, golem';
    const history = library.database
      .all<Readonly<Record<string, string | number>>>(sql, name)
      .map((one) => ({ ...one }));
    for (const one of history)
      yield line(
        `  ${one.golem}: ${one.outcome}, ${one.successes} of ${plural(Number(one.successes) + Number(one.failures), 'use')} went well`,
      );
    yield told({ ...entry, why: row.why, steps: listOf(row.steps), trigger: row.trigger, history });
  });
}

function whyCommand(ground: Ground): AnyCommand {
  const about = { summary: 'Who proved a skill, and how it came in', input: named, positional: ['name'] };
  return libraryCommand(ground, 'why clear-disk', about, async function* (library, { name }) {
    const row = library.entry(name);
    if (row === undefined) return yield missing(name);
    yield line(`${name}: ${row.why}`);
    const proofs = library.proofs(name).map((proof) => ({
      ...{ golem: proof.golem, skill: proof.skill, source: proof.source, standing: proof.standing, raw: proof.raw },
      ...{ validated: proof.validated, successes: proof.successes, failures: proof.failures, at: proof.at },
      ...{ signer: proof.signer, path: listOf(proof.path), ancestors: listOf(proof.ancestors) },
    }));
    for (const { golem, skill, raw, validated, path, at } of proofs)
      yield line(
        `  ${golem}:skill ${skill}, ${percent(raw)}, validated ${validated}; ${path.join(' → ')}; ${isoTime(at)}`,
      );
    const sql = 'SELECT at, source, stage, outcome, reason FROM ingestions WHERE name = ? ORDER BY id';
    const attempts = library.database
      .all<Readonly<Record<string, string | number>>>(sql, name)
      .map((one) => ({ ...one }));
    for (const one of attempts) yield line(`  ${one.source}: ${one.stage}, ${one.outcome}: ${one.reason}`);
    yield told({ name, why: row.why, proofs, attempts });
  });
}

function searchCommand(ground: Ground): AnyCommand {
  const input = z.object({ words: z.array(z.string()).min(1) });
  const about = { summary: 'Skills that fit what you ask, the nearest first', input, positional: ['words...'] };
  return libraryCommand(ground, 'search LP skills for Base', about, async function* (library, { words }) {
    const found = await search(library, words.join(' '));
    if (found.length === 0) yield line(`Nothing in the library fits ${words.join(' ')}.`);
    else yield table(found);
    const names = found.slice(0, 5).map(({ name }) => name);
    if (names.length > 0) yield line(`To give them: talaria library equip GOLEM ${names.join(' ')}`);
    yield told(found);
  });
}

function importCommand(ground: Ground): AnyCommand {
  const input = z.object({
    file: z.string(),
    trust: z.boolean().default(false).describe('You know whose it is: take it as from outside the clade'),
    confidence: z.coerce.number().min(0).max(1).default(0.5).describe('Of a SKILL.md of your own'),
  });
  const about = { summary: 'Take in a testament or bundle, or a SKILL.md of your own', input, positional: ['file'] };
  return libraryCommand(ground, 'import ledger-gen1.json', about, async function* (library, asked, { cwd }) {
    const path = resolve(cwd, asked.file);
    const stats = known(() => statSync(path));
    if (!stats?.isFile())
      return yield wrongUse('no-such-file', stats ? `${path} is no file.` : `There is no file ${path}.`);
    if (stats.size > MOST_BYTES)
      return yield failed('too-large', `${path} has more than ${MOST_BYTES / 1024 ** 2} MiB.`);
    const text = readFileSync(path, 'utf8');
    if (/[\0\uFFFD]/.test(text)) return yield failed('no-text', `${path} is no text.`);
    yield* path.endsWith('.md') ? takeOwn(library, text, asked) : takeBundle(library, text, asked);
  });
}

interface Import {
  readonly file: string;
  readonly trust: boolean;
  readonly confidence: number;
}

async function* takeOwn(library: Library, text: string, { file, confidence }: Import): AsyncGenerator<CommandOutput> {
  const own = await addOwn(library, text, confidence);
  if (!own.ok) return yield failed(own.reason, `${file}: ${own.detail}`);
  const { name, isKnown } = own.value;
  yield line(isKnown ? `${name} is here already.` : `${name} stands in the library, as yours.`);
  yield told({ entered: isKnown ? [] : [name] });
}

async function* takeBundle(library: Library, text: string, { file, trust }: Import): AsyncGenerator<CommandOutput> {
  const taken = await receive(library, text, { trusted: trust });
  if (!taken.ok) {
    const isWhose = taken.reason === 'unknown-signer' || taken.reason === 'unsigned';
    const fix = isWhose ? `If you know whose it is: talaria library import ${file} --trust` : '';
    return yield refused(taken.reason, `${file}: ${taken.detail}`, fix);
  }
  const { golem, entered, held, isKnown } = taken.value;
  const counts = `${golem}: ${plural(entered.length, 'skill')} entered, ${held.length} held.`;
  yield line(isKnown ? `It is here already, of ${golem}.` : counts);
  for (const name of held) yield line(`  ${name}: ${library.entry(name)?.why}`);
  yield told(taken.value);
}

function conflictsCommand(ground: Ground): AnyCommand {
  const input = z.object({ keep: z.string().optional().describe('The one that you keep; the other rests') });
  const about = { summary: 'Skills for one situation that say otherwise: you decide', input };
  return libraryCommand(ground, 'conflicts --keep clear-disk', about, async function* (library, { keep }) {
    if (keep !== undefined) {
      const kept = await keepEntry(library, keep);
      if (!kept.ok) return yield failed(kept.reason, kept.detail);
      yield line(`${keep} stands; ${kept.value.join(', ')} rests.`);
      return yield told({ kept: keep, rests: kept.value });
    }
    const sql = 'SELECT one, other, at FROM conflicts WHERE kept IS NULL ORDER BY at, one, other';
    const open = library.database.all<{ one: string; other: string; at: number }>(sql).map((row) => ({ ...row }));
    if (open.length === 0) yield line('No two skills of the library contradict each other.');
    for (const { one, other } of open) {
      yield line(`${one}: ${stepsIn(library, one)}`);
      yield line(`${other}: ${stepsIn(library, other)}`);
      yield line(`  To decide: talaria library conflicts --keep ${one}, or --keep ${other}`);
    }
    yield told(open);
  });
}

function stepsIn(library: Library, name: string): string {
  const entry = library.entry(name);
  return entry === undefined ? 'gone' : `${entry.status}, ${listOf(entry.steps).join(', ')}`;
}

/** A golem of this home, else the newest of its name that the log told of, those first that an owner vouches for; or why none is. */
async function meantBy(library: Library, called: string): Promise<Meant | CommandOutput> {
  const here = await library.golems.alive(called);
  if (here !== undefined) return { ...here, called };
  const sql = `SELECT golem, signer, archetype, domain, is_dead FROM golems
    WHERE golem = ?1 OR signer = lower(?1) OR golem GLOB ?1 || '-gen[0-9]*' ORDER BY at DESC`;
  const all = library.database.all<Omit<Meant, 'called'> & { readonly is_dead: number }>(sql, called);
  const known = all.flatMap(({ is_dead, ...one }) => (is_dead === 0 ? one : []));
  const vouched = known.filter((one) => library.isVouched(one));
  const [best, ...more] = vouched.length > 0 ? vouched : known;
  if (best === undefined)
    return all.length > 0
      ? failed('dead', `${called} is dead.`, `talaria library kit --archetype ${all[0]?.archetype}`)
      : failed('no-such-golem', `No golem ${called} lives here or was heard of.`, 'talaria clade');
  const same = [best, ...more.filter(({ golem }) => golem === best.golem)].map(({ signer }) => signer);
  return same.length === 1
    ? { ...best, called }
    : wrongUse('two-golems', `Which ${called}? Say its address: ${same.join(', ')}.`);
}

function equipCommand(ground: Ground): AnyCommand {
  const input = z.object({ golem: z.string(), names: z.array(z.string()).default([]) });
  const about = {
    summary: 'Give a golem these skills; without names what fits it',
    input,
    positional: ['golem', 'names...'],
  };
  return libraryCommand(ground, 'equip ledger clear-disk', about, async function* (library, { golem, names }, context) {
    const meant = await meantBy(library, golem);
    if ('type' in meant) return yield meant;
    if (names.length > 0) return yield* given(library, meant, names, names);
    yield* chosen(library, meant, await wantedFor(library, { golem: meant }), { ...ANY, context });
  });
}

const ANY = { accept: false, reject: false, without: [] as readonly string[], out: undefined as string | undefined };

function kitCommand(ground: Ground): AnyCommand {
  const input = z.object({
    archetype: z.string().optional().describe('What it is for; default that of the golem'),
    for: z.string().optional().describe('Golem that it is sent to'),
    words: z.string().default('').describe('What you want, in your words'),
    most: z.coerce.number().int().positive().max(1_000).default(100).describe('Skills at most'),
    without: z.string().default('').describe('Names that are left out, between commas'),
    accept: z.boolean().default(false).describe('Yes to all of it that is not left out'),
    reject: z.boolean().default(false).describe('No: it gets nothing'),
    out: z.string().optional().describe('File of the kit; default kit-ARCHETYPE.json'),
  });
  const one = input.refine(({ accept, reject }) => !accept || !reject, 'Say --accept or --reject, not both.');
  const about = { summary: 'What a golem of this kind would be given, for your yes, changes or no', input: one };
  return libraryCommand(ground, 'kit --archetype coder', about, async function* (library, asked, context) {
    const meant = asked.for === undefined ? undefined : await meantBy(library, asked.for);
    if (meant !== undefined && 'type' in meant) return yield meant;
    const archetype = asked.archetype ?? meant?.archetype;
    if (archetype === undefined) return yield wrongUse('no-archetype', 'Say --archetype, or --for a golem.');
    const { words, most, accept, reject, out } = asked;
    const without = asked.without
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean);
    const about = meant ? await wantedFor(library, { golem: meant, query: words }) : { words };
    const wanted = { ...about, archetype, most };
    yield* chosen(library, meant, wanted, { accept, reject, without, out, context });
  });
}

type Choice = typeof ANY & { readonly context: CommandContext };

/** The proposal, and what the owner makes of it. */
async function* chosen(
  library: Library,
  meant: Meant | undefined,
  wanted: Parameters<typeof propose>[1],
  choice: Choice,
): AsyncGenerator<CommandOutput> {
  const lines = await propose(library, wanted);
  const proposed = lines.map(({ entry }) => entry.name);
  const { accept, reject, without, context } = choice;
  const unknown = without.find((name) => !proposed.includes(name));
  if (unknown !== undefined) return yield wrongUse('not-proposed', `${unknown} is not in the proposal.`);
  if (lines.length === 0) {
    yield line(`The library has nothing for ${wanted.archetype}.`);
    return yield told({ decision: null, lines: [] });
  }
  const rows = lines.map((one, at) => [String(at + 1), one.entry.name, percent(one.startsAt), one.reason]);
  yield { type: 'table', columns: ['', 'skill', 'starts at', 'why'], rows };
  const left = accept || reject || without.length > 0 ? without : await asked(lines, context);
  if (left === undefined) {
    const to = meant === undefined ? `--archetype ${wanted.archetype}` : `--for ${meant.called}`;
    yield line(`Nothing is given yet. talaria library kit ${to} --accept, or --without NAME,NAME, or --reject`);
    return yield told({ decision: null, lines: lines.map(plain) });
  }
  const taken = reject || left === 'none' ? [] : proposed.filter((name) => !left.includes(name));
  if (meant !== undefined) return yield* given(library, meant, proposed, taken);
  yield* filed(library, wanted.archetype, {
    proposed,
    taken,
    path: resolve(context.cwd, choice.out ?? `kit-${wanted.archetype}.json`),
  });
}

function plain({ entry: { name, status }, startsAt, reason }: Line) {
  return { name, status, startsAt, reason };
}

/** Names that are left out; `none`: all of them. Undefined: nobody is there to answer. */
async function asked(lines: readonly Line[], { ask }: CommandContext): Promise<readonly string[] | 'none' | undefined> {
  if (ask === undefined) return undefined;
  const said = (await ask('Give all of it? yes, no, or the numbers to leave out')).trim();
  if (isYes(said)) return [];
  const numbers = said.match(/\d+/g) ?? [];
  return numbers.length === 0 ? 'none' : numbers.flatMap((number) => lines[Number(number) - 1]?.entry.name ?? []);
}

async function* given(
  library: Library,
  meant: Meant,
  proposed: readonly string[],
  taken: readonly string[],
): AsyncGenerator<CommandOutput> {
  const done = await giveTo(library, meant, { proposed, taken });
  if (!done.ok) return yield failed(done.reason, done.detail);
  const { called, golem } = meant;
  yield line(
    taken.length === 0
      ? `${called} gets nothing.`
      : `${called} is sent ${plural(taken.length, 'skill')}; it takes them in at its next heartbeat.`,
  );
  yield told({ decision: done.value, golem, taken });
}

async function* filed(
  library: Library,
  archetype: string,
  {
    path,
    ...lists
  }: { readonly proposed: readonly string[]; readonly taken: readonly string[]; readonly path: string },
): AsyncGenerator<CommandOutput> {
  const folder = dirname(path);
  if (!existsSync(folder)) return yield wrongUse('no-such-folder', `There is no folder ${folder}.`);
  const kit = lists.taken.length === 0 ? undefined : await makeKit(library, lists.taken, archetype);
  if (kit !== undefined && !kit.ok) return yield failed(kit.reason, kit.detail);
  if (kit !== undefined) atomicWrite(path, kit.value);
  const decision = await decide(library, { golem: null, signer: null, archetype }, lists);
  yield line(
    kit === undefined
      ? 'No kit is made.'
      : `${plural(lists.taken.length, 'skill')} in ${path}: talaria golem create NAME --from ${path}`,
  );
  yield told({ decision, taken: lists.taken, ...(kit === undefined ? {} : { path }) });
}
