// Owns `forget`: a session, a time or a text leaves the home, bytes included (design 6, 7). Knows no table and no file.
// Invariants: nothing goes before the person said yes; a session that another process has open is refused by name and nothing goes;
// what the owner keeps (memory, skills, settings) goes only with --everywhere, and is named otherwise.
import { z } from 'zod';
import { ok, type Result, refuse } from '#base/result.ts';
import { ellipsize, plural } from '#base/text.ts';
import { refused, wrongUse } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import { type ForgetQuery, type SelectedSession, selectMessages } from '#mind/sessions/forget/select-messages.ts';
import type { SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import type { App } from '../../app.ts';
import { findSession } from '../../find-session.ts';
import { refuseNewerHome } from '../../home/newer-home.ts';
import { type CommandDeps, line } from '../command-deps.ts';
import type { KeptDoors } from './forget-everywhere.ts';
import { type ForgetInput, readForgetQuery } from './forget-query.ts';
import { type Chosen, forgetHeld, restingOn } from './run-forget.ts';
import { restingLines } from './skills-resting.ts';
import { placesWith } from './still-kept.ts';

type Input = ForgetInput & { readonly dryRun: boolean; readonly yes: boolean };

export function forgetCommand(deps: CommandDeps, doorsOf: (app: App) => Promise<KeptDoors> = doorsOfApp): AnyCommand {
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
    run: (input, context) => run({ deps, doorsOf, context }, input),
  });
}

async function doorsOfApp({ memory, skills }: App): Promise<KeptDoors> {
  await skills.library.refresh();
  return { memory, door: skills.door, reader: skills.library };
}

interface Place {
  readonly deps: CommandDeps;
  readonly doorsOf: (app: App) => Promise<KeptDoors>;
  readonly context: CommandContext;
}

async function* run(place: Place, input: Input): AsyncGenerator<CommandOutput> {
  const asked = readForgetQuery(input, place.deps.clock);
  if (!asked.ok) {
    yield wrongUse(asked.reason, asked.detail, 'Nothing was changed.');
    return;
  }
  const app = await place.deps.app();
  refuseNewerHome(app);
  const chosen = await select(app.store, asked.value);
  if (!chosen.ok) {
    yield refused(chosen.reason, chosen.detail, 'Nothing was changed.');
    return;
  }
  yield* showSelection(chosen.value.sessions);
  if (input.dryRun) {
    yield* showDryRun({ ...place, app }, chosen.value);
    return;
  }
  const consent = await agreed(place.context, input);
  if (!consent.ok) {
    yield refused(consent.reason, consent.detail, 'Nothing was changed.');
    return;
  }
  const wish = { ...chosen.value, everywhere: input.everywhere };
  yield* forgetHeld({ ...place, app }, wish);
}

async function select(
  store: SqliteSessionStore,
  query: ForgetQuery,
): Promise<Result<Omit<Chosen, 'everywhere'>, 'no-such-session' | 'ambiguous-session'>> {
  if (query.kind !== 'session') return ok({ query, sessions: selectMessages(store.database, query) });
  const found = await findSession(store, query.sessionId);
  if (!found.ok) return found;
  const exact = { kind: 'session', sessionId: found.value.id } as const;
  return ok({ query: exact, sessions: selectMessages(store.database, exact) });
}

const MOST_SHOWN = 20;

function* showSelection(sessions: readonly SelectedSession[]): Generator<CommandOutput> {
  if (sessions.length === 0) {
    yield line('no stored message is meant');
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

function* showDryRun(
  { deps, app }: Place & { readonly app: App },
  { query, sessions }: Omit<Chosen, 'everywhere'>,
): Generator<CommandOutput> {
  const places = query.kind === 'match' ? placesWith(deps.home, query.text) : [];
  for (const { path } of places) yield line(`holds it now: ${path}`);
  const resting = restingOn({ deps, app }, { query, sessions });
  for (const text of restingLines(resting, 'would still be kept there')) yield line(text);
  yield line('nothing was changed: this was a dry run');
  yield {
    type: 'data',
    value: {
      dryRun: true,
      sessions: sessions.map(({ id, whole, messages }) => ({ id, whole, messages: messages.length })),
      places: places.map(({ path }) => path),
      skills: resting.map((skill) => ({ ...skill })),
    },
  };
}

async function agreed(
  { ask }: CommandContext,
  { yes, everywhere }: Input,
): Promise<Result<true, 'needs-yes' | 'not-agreed'>> {
  if (yes) return ok(true);
  if (!ask) return refuse('needs-yes', 'Forgetting is for good, and nobody is here to agree: add --yes.');
  const also = everywhere ? ', out of memory and skills too' : '';
  const answer = await ask(`Forget this for good${also}? It cannot be brought back. [y/N] `);
  return /^\s*y(?:es)?\s*$/i.test(answer) ? ok(true) : refuse('not-agreed', 'You did not agree.');
}
