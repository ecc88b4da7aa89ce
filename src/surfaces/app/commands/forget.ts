// Owns `forget`: a session, a time or a text leaves the home, bytes included (design 6, 7): a loop over the rooms, and the files that no room
// keeps. Knows no table. Invariants: nothing goes before the person said yes; the sessions are held while it works, and one that another process
// has open is refused by name; the rooms come after the files and the sessions last, so that the same command mends a stopped run; what the
// owner keeps (memory, skills, settings) goes only with --everywhere, and is named otherwise; what cannot be erased now is said.
import { z } from 'zod';
import { type Clock, localMidnight, parseTime } from '#base/clock.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { ellipsize, isYes, plural } from '#base/text.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  defineCommand,
  failed,
  line,
  refused,
  wrongUse,
} from '#core/agent/command-spec.ts';
import type { Forgets, Forgot, ForgottenSession } from '#core/agent/room.ts';
import type { SessionLease } from '#core/agent/session-store.ts';
import { findSession } from '#mind/sessions/find-session.ts';
import { type ForgetQuery, forksHolding, selectMessages, textTest } from '#mind/sessions/forget-messages.ts';
import { replacing } from '#mind/sessions/sweep-text.ts';
import type { App } from '../app.ts';
import { refuseNewerHome } from '../home/session-door.ts';
import type { CommandDeps } from './command-deps.ts';
import { forgetFiles, forgetOldTexts, oldCopies, placesWith, sweepOthers } from './forget-files.ts';
import { type RestingSkill, restingLines, skillsResting } from './skills-resting.ts';

export function forgetCommand({ app, clock }: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'forget',
    summary: 'Remove what was said for good: a session, everything before a time, or whatever holds a text',
    surfaces: ['cli'],
    input: z.object({
      session: z.string().optional().describe('Session id, its beginning, or `last`'),
      before: z.string().optional().describe('Everything before: 2026-01-31, 2026-01-31T12:00, or 30d, 12h, 4w ago'),
      match: z.string().optional().describe('Every message that holds this text'),
      everywhere: z
        .boolean()
        .default(false)
        .describe('With --match: also out of memory, skills and their earlier texts'),
      dryRun: z.boolean().default(false).describe('Say what would go, change nothing'),
      yes: z.boolean().default(false).describe('Do not ask'),
    }),
    examples: [
      'talaria forget --session last',
      'talaria forget --before 90d --yes',
      'talaria forget --match "my address"',
    ],
    async *run(input, context): AsyncGenerator<CommandOutput> {
      const asked = readForgetQuery(input, clock);
      if (!asked.ok) {
        yield wrongUse(asked.reason, asked.detail, UNCHANGED);
        return;
      }
      const opened = await app();
      refuseNewerHome(opened);
      const what = await select(opened, asked.value, { everywhere: input.everywhere, signal: context.signal });
      if (!what.ok) {
        yield refused(what.reason, what.detail, UNCHANGED);
        return;
      }
      yield* showSelection(what.value.sessions);
      if (input.dryRun) {
        yield* showDryRun(opened, what.value);
        return;
      }
      const consent = await agreed(context, input);
      if (consent.ok) yield* forgetHeld(opened, what.value);
      else yield refused(consent.reason, consent.detail, UNCHANGED);
    },
  });
}

const UNCHANGED = 'Nothing was changed.';

async function select(
  { doors: { sessions: store } }: App,
  query: ForgetQuery,
  how: Pick<Forgets, 'everywhere' | 'signal'>,
): Promise<Result<Forgets, 'no-such-session' | 'ambiguous-session'>> {
  if (query.kind === 'session') {
    const found = await findSession(store, query.sessionId);
    if (!found.ok) return found;
    return ok({ ...how, sessions: selectMessages(store.database, { kind: 'session', sessionId: found.value.id }) });
  }
  const sessions = selectMessages(store.database, query);
  if (query.kind === 'before') return ok({ ...how, sessions, before: query.at });
  const { text } = query;
  return ok({ ...how, sessions, text, holds: textTest(text), replace: replacing(text) });
}

const MOST_SHOWN = 20;

function* showSelection(sessions: readonly ForgottenSession[]): Generator<CommandOutput> {
  if (sessions.length === 0) {
    yield line('no stored message is meant; what else is kept is looked through');
    return;
  }
  yield {
    type: 'table',
    columns: ['session', 'messages', 'goes', 'title'],
    rows: sessions
      .slice(0, MOST_SHOWN)
      .map(({ id, messages, whole, title }) => [
        id,
        String(messages.length),
        whole ? 'wholly' : 'in part',
        ellipsize(title ?? '', 50),
      ]),
  };
  const messages = sessions.reduce((sum, session) => sum + session.messages.length, 0);
  yield line(`${plural(messages, 'message')} in ${plural(sessions.length, 'session')}`);
}

function* showDryRun(app: App, what: Forgets): Generator<CommandOutput> {
  const places = what.text === undefined ? [] : placesWith(app.home, what.text);
  for (const { path } of places) yield line(`holds it now: ${path}`);
  const skills = restingOn(app, what);
  for (const text of restingLines(skills, 'would still be kept there')) yield line(text);
  yield line('nothing was changed: this was a dry run');
  yield {
    type: 'data',
    value: {
      dryRun: true,
      sessions: what.sessions.map(({ id, whole, messages }) => ({ id, whole, messages: messages.length })),
      places: places.map(({ path }) => path),
      skills: skills.map((skill) => ({ ...skill })),
    },
  };
}

/** Skills that hold words of what goes; a text is looked for in every file instead. */
function restingOn(app: App, what: Forgets): readonly RestingSkill[] {
  return what.text === undefined ? skillsResting(app, what) : [];
}

async function agreed(
  { ask }: CommandContext,
  { yes, everywhere }: { readonly yes: boolean; readonly everywhere: boolean },
): Promise<Result<true, 'needs-yes' | 'not-agreed'>> {
  if (yes) return ok(true);
  if (!ask) return refuse('needs-yes', 'Forgetting is for good, and nobody is here to agree: add --yes.');
  const also = everywhere ? ', out of memory and skills too' : '';
  const answer = await ask(`Forget this for good${also}? It cannot be brought back. [y/N] `);
  return isYes(answer) ? ok(true) : refuse('not-agreed', 'You did not agree.');
}

/** Refused by name when another process has one of the sessions; nothing goes then. */
async function* forgetHeld(app: App, what: Forgets): AsyncGenerator<CommandOutput> {
  const { sessions: store } = app.doors;
  const leases: SessionLease[] = [];
  try {
    for (const { id } of what.sessions) {
      const lease = await store.claim(id);
      if (!lease.ok) {
        yield refused(lease.reason, `session ${id}: ${lease.detail}`, `${UNCHANGED} Close it there first.`);
        return;
      }
      leases.push(lease.value);
    }
    const isSession = what.text === undefined && what.before === undefined;
    const forks = isSession ? forksHolding(store.database, what.sessions) : [];
    const skills = restingOn(app, what);
    const files = forgetFiles(app.home, what);
    const rooms = [...(await app.forget(what)), await sweepOthers(app.home, what, app.clock)];
    yield* showGone([...rooms, ...files, forgetOldTexts(app.home, what)], app, { what, forks, skills });
  } finally {
    for (const lease of leases) await lease.release();
  }
}

interface Left {
  readonly what: Forgets;
  /** Sessions that keep a copy. */
  readonly forks: readonly string[];
  readonly skills: readonly RestingSkill[];
}

function* showGone(all: readonly Forgot[], { home }: App, { what, forks, skills }: Left): Generator<CommandOutput> {
  const counts = new Map<string, number>();
  for (const { name, count } of all) if (count > 0) counts.set(name, (counts.get(name) ?? 0) + count);
  const rows = [...counts].map(([name, count]) => [name, String(count)]);
  yield rows.length === 0 ? line('nothing that could go held it') : { type: 'table', columns: ['gone', 'count'], rows };
  const kept = what.text === undefined ? oldCopies(home) : placesWith(home, what.text);
  for (const { path, remedy } of kept) yield line(`still kept there: ${path} (${remedy})`);
  for (const id of forks)
    yield line(`still kept there: session ${id} began as a copy (talaria forget --session ${id})`);
  for (const text of restingLines(skills, 'still kept there')) yield line(text);
  yield {
    type: 'data',
    value: {
      dryRun: false,
      gone: Object.fromEntries(counts),
      kept: kept.map((place) => ({ ...place })),
      forks: [...forks],
      skills: skills.map((skill) => ({ ...skill })),
    },
  };
  const busy = all.flatMap((each) => each.busy ?? []);
  if (busy.length === 0) return;
  yield failed(
    'bytes-held',
    `Deleted, but ${plural(busy.length, 'file')} could not be rewritten while another process reads: ${busy.join(', ')}`,
    'Close the other process and run this again.',
  );
}

// What a person may ask `forget` for: exactly one of a session, a time, a text. Knows no store. Pure but for the clock.

interface ForgetInput {
  readonly session?: string | undefined;
  readonly before?: string | undefined;
  readonly match?: string | undefined;
  readonly everywhere: boolean;
}

type QueryRefusal = 'one-of-three' | 'no-time' | 'text-too-short' | 'everywhere-alone';

/** Shorter texts stand in almost every message. */
const SHORTEST = 3;
const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 };

function readForgetQuery(input: ForgetInput, clock: Clock): Result<ForgetQuery, QueryRefusal> {
  const given = [input.session, input.before, input.match].filter((value) => value !== undefined);
  if (given.length !== 1) return refuse('one-of-three', 'Give one of --session, --before and --match.');
  if (input.everywhere && input.match === undefined) {
    return refuse('everywhere-alone', '--everywhere goes with --match only.');
  }
  if (input.session !== undefined) return ok({ kind: 'session', sessionId: input.session });
  if (input.before !== undefined) return beforeQuery(input.before.trim(), clock);
  const text = (input.match ?? '').trim();
  if (text.length < SHORTEST) return refuse('text-too-short', `--match needs ${SHORTEST} characters or more.`);
  return ok({ kind: 'match', text });
}

/** `30d`, `12h`, `4w` ago; a day, which begins at local midnight; or a whole ISO time. */
function beforeQuery(text: string, clock: Clock): Result<ForgetQuery, 'no-time'> {
  const ago = /^(\d{1,5})([hdw])$/.exec(text);
  if (ago) return ok({ kind: 'before', at: clock.now() - Number(ago[1]) * (UNITS[ago[2] ?? ''] ?? 0) });
  const day = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  const isDate = /^\d{4}-\d\d-\d\d(?:$|[T ])/.test(text);
  const at = isDate ? parseTime(text) : undefined;
  if (at === undefined) {
    return refuse('no-time', `"${text}" is no time: 2026-01-31, 2026-01-31T12:00, or 30d, 12h, 4w for that long ago.`);
  }
  return ok({ kind: 'before', at: day ? localMidnight(Number(day[1]), Number(day[2]), Number(day[3])) : at });
}
