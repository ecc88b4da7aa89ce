// Owns `undo` and `diff` of shell and chat: what a session did to files, and what was learned, taken back newest first. Knows learning and
// the kept files by their contracts. Invariants: what was changed since is left as it is, and said; files are put back only where no turn
// can change them meanwhile.
import { z } from 'zod';
import { ok, type Result } from '#base/result.ts';
import { plural } from '#base/text.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  defineCommand,
  line,
  refused,
} from '#core/agent/command-spec.ts';
import {
  type ChangedTurn,
  type FileDiff,
  lastChangedTurn,
  NO_FILES,
  sessionDiff,
  undoFiles,
} from '#mind/sessions/files/undo-files.ts';
import type { App } from '../app.ts';
import { refuseNewerHome } from '../home/session-door.ts';
import { type CommandDeps, lastSessionHere } from './command-deps.ts';

/** Where it is asked for. */
export interface UndoSeat {
  readonly surface: 'cli' | 'chat';
  readonly app: () => Promise<App>;
  /** The session that is meant. */
  readonly sessionOf: (app: App, cwd: string) => Promise<string | undefined>;
  /** Runs `work` while no turn of the session can run. */
  readonly alone: <T>(app: App, sessionId: string, work: () => Promise<T>) => Promise<Result<T>>;
}

/** The last session of this folder. */
export function shellSeat({ app }: CommandDeps): UndoSeat {
  return {
    surface: 'cli',
    app,
    sessionOf: lastSessionHere,
    alone: async ({ doors }, sessionId, work) => {
      const lease = await doors.sessions.claim(sessionId);
      if (!lease.ok) return lease;
      try {
        return ok(await work());
      } finally {
        await lease.value.release();
      }
    },
  };
}

const input = z.object({
  what: z.enum(['files', 'learned']).optional().describe('files or learned; the newest of both when absent'),
});

export function undoCommand(seat: UndoSeat): AnyCommand {
  return defineCommand({
    name: 'undo',
    summary: 'Take back the last thing: the file changes of a turn, or what was learned',
    surfaces: [seat.surface],
    positional: ['what'],
    input,
    examples: [`${wordOf(seat)} files`, `${wordOf(seat)} learned`],
    async *run({ what }, { cwd }): AsyncGenerator<CommandOutput> {
      const app = await seat.app();
      refuseNewerHome(app);
      const sessionId = await seat.sessionOf(app, cwd);
      const asked = { app, sessionId, cwd, what };
      const next = await nextUndo(seat, asked);
      if (next.files && sessionId !== undefined) yield* takeBackFiles(seat, { app, sessionId, cwd });
      else yield* takeBackLearned(seat, asked);
    },
  });
}

interface Asked {
  readonly app: App;
  readonly sessionId: string | undefined;
  readonly cwd: string;
  readonly what?: 'files' | 'learned' | undefined;
}

interface Next {
  readonly files?: ChangedTurn | undefined;
  readonly learned?: string | undefined;
}

/** The newer of both; what another session learned comes after everything that this one did. */
async function nextUndo({ surface }: UndoSeat, { app, sessionId, cwd, what }: Asked): Promise<Next> {
  const files =
    what === 'learned' || sessionId === undefined ? undefined : lastChangedTurn(placeOf(app), { sessionId, cwd });
  if (what === 'files') return { files };
  const known = (await app.doors.learning.load()).undoable(surface === 'chat' ? sessionId : undefined);
  const isNewer = known && (surface === 'cli' || known.isHere) && known.at > (files?.at ?? 0);
  return files && !isNewer ? { files } : { learned: known?.line };
}

function placeOf({ doors, home, clock }: App) {
  return { database: doors.sessions.database, folder: home.checkpoints, clock };
}

async function* takeBackFiles(
  seat: UndoSeat,
  { app, sessionId, cwd }: Asked & { readonly sessionId: string },
): AsyncGenerator<CommandOutput> {
  const held = await seat.alone(app, sessionId, () => undoFiles(placeOf(app), { sessionId, cwd }));
  const undone = held.ok ? held.value : held;
  if (!undone.ok) {
    yield refused(undone.reason, undone.detail, fixOf(seat, undone.reason));
    return;
  }
  for (const text of undone.value) yield line(text);
  yield* sayNext(seat, { app, sessionId, cwd });
}

async function* takeBackLearned(seat: UndoSeat, { app, sessionId, cwd, what }: Asked): AsyncGenerator<CommandOutput> {
  if (what === 'files') {
    yield refused('nothing-to-undo', NO_FILES);
    return;
  }
  const undone = await (await app.doors.learning.load()).undoLast(seat.surface === 'chat' ? sessionId : undefined);
  if (!undone.ok) {
    const files = undone.reason === 'nothing-to-undo' && what === undefined ? `${NO_FILES} ` : '';
    yield refused(undone.reason, files + undone.detail, fixOf(seat, undone.reason));
    return;
  }
  yield line(undone.value);
  yield* sayNext(seat, { app, sessionId, cwd });
}

async function* sayNext(seat: UndoSeat, asked: Asked): AsyncGenerator<CommandOutput> {
  const { files, learned } = await nextUndo(seat, asked);
  if (files) {
    const [first = '', ...rest] = files.paths;
    const others = rest.length === 0 ? '' : ` and ${plural(rest.length, 'more file')}`;
    yield line(`The next ${wordOf(seat)} takes back turn ${files.turn}: ${first}${others}`);
  } else if (learned !== undefined) yield line(`The next ${wordOf(seat)} takes back: ${learned}`);
}

function wordOf({ surface }: UndoSeat): string {
  return surface === 'chat' ? '/undo' : 'talaria undo';
}

const FIXES: Readonly<Record<string, string>> = {
  'nothing-to-undo': '{}memory remove takes an entry out, {}skills rollback NAME undoes an older change of a skill.',
  'target-changed': '{}memory show and {}skills log NAME show what stands; {}undo again means the write before it.',
  'later-version': 'Then {}undo means the same write again.',
  'backup-not-found': '{}skills log NAME shows its versions; {}undo again means the write before it.',
  'manifest-changed': '{}skills log NAME shows its versions; {}undo again means the write before it.',
  'file-changed': '{}diff last shows what differs; {}undo learned means what was learned instead.',
  'owned-elsewhere': 'Type /undo there, or leave it first.',
};

function fixOf({ surface }: UndoSeat, reason: string): string {
  const fix = FIXES[reason] ?? 'Mend that, then {}undo again.';
  return fix.replaceAll('{}', surface === 'chat' ? '/' : 'talaria ');
}

const MOST_LINES = 2_000;

export function diffCommand(seat: UndoSeat): AnyCommand {
  return defineCommand({
    name: 'diff',
    summary: 'Show what this session did to files: all of it, or the last turn that changed some',
    surfaces: [seat.surface],
    readOnly: true,
    positional: ['which'],
    input: z.object({ which: z.enum(['last']).optional().describe('last: only the last turn with changes') }),
    async *run({ which }, { cwd }: CommandContext): AsyncGenerator<CommandOutput> {
      const app = await seat.app();
      const sessionId = await seat.sessionOf(app, cwd);
      const files = sessionId === undefined ? [] : await sessionDiff(placeOf(app), { sessionId, cwd }, which ?? 'all');
      for (const file of files) yield* diffLines(file);
      const sum = (key: 'added' | 'removed') => files.reduce((total, file) => total + file[key], 0);
      yield line(
        files.length === 0
          ? 'This session left every file as it was, as far as Talaria kept them.'
          : `${plural(files.length, 'file')}, +${sum('added')} -${sum('removed')}`,
      );
      yield {
        type: 'data',
        value: files.map(({ path, kind, added, removed, text }) => ({ path, kind, added, removed, text })),
      };
    },
  });
}

function* diffLines({ path, kind, text }: FileDiff): Generator<CommandOutput> {
  yield line(`--- ${kind === 'created' ? '/dev/null' : `a/${path}`}`);
  yield line(`+++ ${kind === 'deleted' ? '/dev/null' : `b/${path}`}`);
  const lines = text.replace(/\n$/, '').split('\n');
  for (const one of lines.slice(0, MOST_LINES)) {
    const tone = one.startsWith('+') ? 'added' : one.startsWith('-') ? 'removed' : undefined;
    yield tone ? { type: 'line', text: one, tone } : line(one);
  }
  if (lines.length > MOST_LINES) yield line(`… ${plural(lines.length - MOST_LINES, 'more line')}`);
}
