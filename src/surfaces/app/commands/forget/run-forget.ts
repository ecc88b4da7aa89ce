// Owns carrying `forget` out and telling what went, what stays and where. Knows no table and no file format.
// Invariants: the sessions are held while it works; `state.db` comes after what is found through it, so that the same command mends a
// stopped run; what cannot be erased now is said.
import { plural } from '#base/text.ts';
import { failed, refused } from '#core/agent/command-failure.ts';
import type { CommandContext, CommandOutput } from '#core/agent/command-spec.ts';
import type { SessionLease } from '#core/agent/session-store.ts';
import { eraseFreed } from '#mind/sessions/forget/erase-freed.ts';
import {
  type ForgetQuery,
  forksHolding,
  type SelectedSession,
  textTest,
} from '#mind/sessions/forget/select-messages.ts';
import type { App } from '../../app.ts';
import type { ExtensionForgot } from '../../extensions.ts';
import { type CommandDeps, line } from '../command-deps.ts';
import { type ForgottenKept, forgetKept, type KeptDoors, removeOldTexts } from './forget-everywhere.ts';
import { forgetInExtensions } from './forget-extensions.ts';
import { type ForgottenFiles, forgetFiles } from './forget-files.ts';
import { type ForgottenElsewhere, type ForgottenInState, forgetElsewhere, forgetInState } from './forget-stores.ts';
import { type RestingSkill, restingLines, skillsResting } from './skills-resting.ts';
import { type KeptPlace, oldCopies, placesWith } from './still-kept.ts';

export interface Chosen {
  readonly query: ForgetQuery;
  readonly sessions: readonly SelectedSession[];
  readonly everywhere: boolean;
}

export interface ForgetPlace {
  readonly deps: CommandDeps;
  readonly doorsOf: (app: App) => Promise<KeptDoors>;
  readonly context: CommandContext;
  readonly app: App;
}

/** Refused by name when another process has one of the sessions; nothing goes then. */
export async function* forgetHeld(place: ForgetPlace, chosen: Chosen): AsyncGenerator<CommandOutput> {
  const leases: SessionLease[] = [];
  try {
    for (const { id } of chosen.sessions) {
      const lease = await place.app.store.claim(id);
      if (!lease.ok) {
        yield refused(lease.reason, `session ${id}: ${lease.detail}`, 'Nothing was changed. Close it there first.');
        return;
      }
      leases.push(lease.value);
    }
    const copies = chosen.query.kind === 'session' ? forksHolding(place.app.store.database, chosen.sessions) : [];
    const resting = restingOn(place, chosen);
    const done = await forgetAll(place, chosen);
    const counts = countsOf(done);
    yield* showGone(counts);
    yield* showKept(place, chosen, { counts, forks: copies, resting });
    yield* showBusy(done.busy);
  } finally {
    for (const lease of leases) await lease.release();
  }
}

/** Skills that hold words of what goes; a text is looked for in every file instead. */
export function restingOn(
  { deps: { home, clock }, app }: Pick<ForgetPlace, 'deps' | 'app'>,
  { query, sessions }: Pick<Chosen, 'query' | 'sessions'>,
): readonly RestingSkill[] {
  if (query.kind === 'match') return [];
  const before = query.kind === 'before' ? { before: query.at } : {};
  return skillsResting({ home, clock, state: app.store.database, sessions, ...before });
}

interface Forgotten {
  readonly kept: ForgottenKept;
  readonly extensions: readonly ExtensionForgot[];
  readonly elsewhere: ForgottenElsewhere;
  readonly state: ForgottenInState;
  readonly files: ForgottenFiles;
  /** Databases whose freed bytes are still held by another process. */
  readonly busy: readonly string[];
}

async function forgetAll(place: ForgetPlace, chosen: Chosen): Promise<Forgotten> {
  const { home, clock } = place.deps;
  const { store } = place.app;
  const what = whatGoes(chosen);
  const kept = await forgetOwn(place, chosen);
  const extensions = await forgetInExtensions(place, what);
  const elsewhere = await forgetElsewhere(home, what, clock);
  const first = forgetFiles(home, { ...what, pending: [], copies: [] });
  const state = await forgetInState(store.database, what);
  const last = forgetFiles(home, { ...what, pending: state.pending, copies: state.copies });
  const old = chosen.everywhere && what.text !== undefined ? removeOldTexts(home, what.text) : 0;
  const isBusy = (await eraseFreed(store.database, clock)) === 'busy';
  const files = {
    removed: first.removed + last.removed + old,
    lines: first.lines + last.lines,
    rewritten: first.rewritten + last.rewritten,
  };
  const held = [...extensions, elsewhere].flatMap(({ busy }) => busy);
  return { kept, extensions, elsewhere, state, files, busy: [...held, ...(isBusy ? [home.stateDatabase] : [])] };
}

function whatGoes({ query, sessions }: Chosen) {
  if (query.kind === 'match') return { sessions, text: query.text, holds: textTest(query.text) };
  return query.kind === 'before' ? { sessions, before: query.at } : { sessions };
}

async function forgetOwn(
  { app, doorsOf, context }: ForgetPlace,
  { query, everywhere }: Chosen,
): Promise<ForgottenKept> {
  if (!everywhere || query.kind !== 'match') return { entries: 0, skills: [] };
  return forgetKept(await doorsOf(app), { text: query.text, holds: textTest(query.text) }, context.signal);
}

type Counts = readonly (readonly [name: string, count: number])[];

function countsOf({ kept, extensions, elsewhere, state, files }: Forgotten): Counts {
  const counts: Counts = [
    ['sessions', state.sessions],
    ['messages', state.messages],
    ['prompts', state.prompts],
    ['quotes', state.quotes],
    ['proposals', state.proposals],
    ['verdicts', state.verdicts],
    ['events', elsewhere.events],
    ['reviews', state.reviews],
    ...extensions.map(({ name, count }) => [name, count] as const),
    ['other cells', elsewhere.cells],
    ['files', files.removed],
    ['lines', files.lines],
    ['manifests', files.rewritten],
    ['memory entries', kept.entries],
    ['skills', kept.skills.length],
  ];
  return counts.filter(([, count]) => count > 0);
}

function* showGone(counts: Counts): Generator<CommandOutput> {
  if (counts.length === 0) yield line('nothing that could go held it');
  else yield { type: 'table', columns: ['gone', 'count'], rows: counts.map(([name, count]) => [name, String(count)]) };
}

function* showKept({ deps }: ForgetPlace, { query }: Chosen, told: Told): Generator<CommandOutput> {
  const places = query.kind === 'match' ? placesWith(deps.home, query.text) : oldCopies(deps.home);
  for (const text of [...keptLines(places, told.forks), ...restingLines(told.resting, 'still kept there')])
    yield line(text);
  yield {
    type: 'data',
    value: {
      dryRun: false,
      gone: Object.fromEntries(told.counts),
      kept: places.map(({ path, remedy }) => ({ path, remedy })),
      forks: [...told.forks],
      skills: told.resting.map((skill) => ({ ...skill })),
    },
  };
}

interface Told {
  readonly counts: Counts;
  /** Sessions that keep a copy. */
  readonly forks: readonly string[];
  readonly resting: readonly RestingSkill[];
}

function keptLines(places: readonly KeptPlace[], forks: readonly string[]): readonly string[] {
  return [
    ...places.map(({ path, remedy }) => `still kept there: ${path} (${remedy})`),
    ...forks.map((id) => `still kept there: session ${id} began as a copy (talaria forget --session ${id})`),
  ];
}

function* showBusy(busy: readonly string[]): Generator<CommandOutput> {
  if (busy.length === 0) return;
  yield failed(
    'bytes-held',
    `Deleted, but ${plural(busy.length, 'file')} could not be rewritten while another process reads: ${busy.join(', ')}`,
    'Close the other process and run this again.',
  );
}
