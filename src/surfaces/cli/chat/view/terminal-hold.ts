// Owns taking the terminal for the screen and giving it back: modes, suspending, leaving in any way. Knows nothing of what is shown.
// Invariant: however the process ends, but for SIGKILL, the terminal is as it was.
import type { Component, TuiMainScreen } from '@earendil-works/pi-tui';

/** Lines never wrap by themselves: where a terminal draws a character wider than we counted, the rest of the screen stays right. */
const NO_WRAP = '\u001b[?7l';
const WRAP = '\u001b[?7h';

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
      process.once('SIGCONT', () => {
        take();
        tui.requestRender(true);
      });
      process.kill(process.pid, 'SIGTSTP');
    },
    end: (last) => {
      process.off('exit', release);
      if (!held) return;
      for (const child of [...tui.children]) if (child !== last) tui.removeChild(child);
      tui.renderNow();
      release();
    },
  };
}
