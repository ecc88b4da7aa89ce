// Owns taking the terminal for a screen and giving it back (modes, suspending, leaving in any way), and the smallest screen: picking a session for
// `--resume` without an id. Knows nothing of what a chat shows. Invariants: however the process ends, but for SIGKILL, the terminal is as it was;
// leaving picks nothing.
import {
  type Component,
  Container,
  matchesKey,
  ProcessTerminal,
  SelectList,
  Spacer,
  Text,
  TuiMainScreen,
} from '@earendil-works/pi-tui';
import { isoTime, systemClock } from '#base/clock.ts';
import { plural } from '#base/text.ts';
import type { SessionRecord } from '#core/agent/session-store.ts';
import type { App } from '#surfaces/app/app.ts';
import { createPaint, oneLine } from '../terminal-text.ts';
import { editorTheme } from './transcript.ts';

/** Lines never wrap by themselves: where a terminal draws a character wider than we counted, the rest of the screen stays right. */
const NO_WRAP = '\u001b[?7l';
/** Longer than the moment between being woken up and the signal that says so. */
const AWAY_MS = 60_000;
const WRAP = '\u001b[?7h';

/** After a stay in the shell the screen is drawn below what was done there, which is not wiped out. */
const NOTHING_SHOWN = {
  previousLines: [],
  previousWidth: 0,
  previousHeight: 0,
  cursorRow: 0,
  hardwareCursorRow: 0,
  maxLinesRendered: 0,
  previousViewportTop: 0,
};

export interface TerminalHold {
  start(): void;
  /** Back to the shell, until the shell says to go on. */
  suspend(): void;
  /** Leaves `last` on the screen and gives the terminal back. */
  end(last: Component): void;
}

export function holdTerminal(tui: TuiMainScreen): TerminalHold {
  let held = false;
  const take = () => {
    held = true;
    tui.terminal.write(NO_WRAP);
    tui.start();
  };
  const release = () => {
    if (!held) return;
    held = false;
    tui.stop();
    tui.terminal.write(WRAP);
  };
  return {
    start: () => {
      process.once('exit', release);
      take();
    },
    suspend: () => {
      release();
      // A paused input keeps no process alive: without this it would end where it should wait.
      const back = new AbortController();
      systemClock.sleep(AWAY_MS, back.signal).catch(() => undefined);
      process.once('SIGCONT', () => {
        back.abort();
        tui.restoreRenderState(NOTHING_SHOWN);
        take();
      });
      process.kill(process.pid, 'SIGTSTP');
    },
    end: (last) => {
      process.off('exit', release);
      if (!held) return;
      for (const child of [...tui.children]) if (child !== last) tui.removeChild(child);
      // Where the cursor stands when the terminal is given back a blank is written: on a line of its own.
      tui.addChild(new Spacer(1));
      tui.renderNow();
      release();
    },
  };
}

/** Sessions that are offered, and how many are in view at once. */
const OFFERED = 100;
const VISIBLE = 12;
const TITLE_WIDTH = 44;
const REFUSED = 3;

/** The id that was picked; the exit code when there is none. */
export async function pickSession(
  app: App,
  out: (text: string) => void,
  signal: AbortSignal,
): Promise<string | number> {
  const { cwd } = app.environment;
  const sessions = offered(
    await app.doors.sessions.list({ cwd, limit: OFFERED }),
    await app.doors.sessions.list({ limit: OFFERED }),
  );
  if (sessions.length === 0) {
    out('talaria: there is no session yet; `talaria` starts one\n');
    return REFUSED;
  }
  const picked = await choose(sessions, cwd, signal);
  return picked ?? 0;
}

/** Those in which something was said, each once. */
function offered(here: readonly SessionRecord[], all: readonly SessionRecord[]): readonly SessionRecord[] {
  const ids = new Set(here.map(({ id }) => id));
  const others = all.filter(({ id }) => !ids.has(id));
  return [...here, ...others].filter(({ messageCount }) => messageCount > 0).slice(0, OFFERED);
}

async function choose(
  sessions: readonly SessionRecord[],
  cwd: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const paint = createPaint(true);
  const tui = new TuiMainScreen(new ProcessTerminal());
  const hold = holdTerminal(tui);
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const list = new SelectList(
    sessions.map((session) => itemOf(session, cwd)),
    VISIBLE,
    editorTheme(paint).selectList,
    {
      minPrimaryColumnWidth: TITLE_WIDTH,
      maxPrimaryColumnWidth: TITLE_WIDTH,
    },
  );
  list.onSelect = ({ value }) => resolve(value);
  list.onCancel = () => resolve(undefined);
  const stop = () => resolve(undefined);
  signal.addEventListener('abort', stop, { once: true });
  tui.addChild(new Text('Go on with which session? (arrows and Enter; Esc leaves)', 0, 0));
  tui.addChild(list);
  tui.setFocus(list);
  tui.addInputListener((data) => {
    if (!matchesKey(data, 'ctrl+c') && !matchesKey(data, 'ctrl+d')) return undefined;
    resolve(undefined);
    return { consume: true };
  });
  try {
    hold.start();
    return await promise;
  } finally {
    signal.removeEventListener('abort', stop);
    hold.end(new Container());
  }
}

function itemOf({ id, title, lastActiveAt, messageCount, cwd }: SessionRecord, here: string) {
  const facts = [isoTime(lastActiveAt).slice(0, 16).replace('T', ' '), plural(messageCount, 'message')];
  const place = cwd === here ? [] : [oneLine(cwd)];
  return { value: id, label: oneLine(title ?? id), description: [...facts, ...place].join(' · ') };
}
