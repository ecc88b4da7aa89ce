// Owns taking the terminal for the screen and giving it back: modes, suspending, leaving in any way. Knows nothing of what is shown.
// Invariant: however the process ends, but for SIGKILL, the terminal is as it was.
import { type Component, Spacer, type TuiMainScreen } from '@earendil-works/pi-tui';
import { systemClock } from '#base/clock.ts';

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
