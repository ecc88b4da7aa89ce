// Owns letting go of old parts of the screen: what has scrolled out of sight stays in the terminal's own history, and is neither
// kept nor laid out again. Knows no part's content. Invariant: what is in sight does not move, and nothing is written.
import type { Container, TuiMainScreen } from '@earendil-works/pi-tui';

/** Parts that are kept, at least; a quarter more before anything is done. */
const KEPT = 400;

/** @param container the first child of `tui` */
export function letGoOfOldParts(tui: TuiMainScreen, container: Container, kept = KEPT): void {
  const { children } = container;
  if (children.length <= kept * 1.25) return;
  const state = tui.captureRenderState();
  const { columns, rows } = tui.terminal;
  if (state.previousWidth !== columns || state.previousHeight !== rows) return;
  const count = children.length - kept;
  const gone = children.slice(0, count).reduce((sum, child) => sum + child.render(columns).length, 0);
  if (gone > state.previousViewportTop) return;
  children.splice(0, count);
  tui.restoreRenderState({
    ...state,
    previousLines: state.previousLines.slice(gone),
    cursorRow: state.cursorRow - gone,
    hardwareCursorRow: state.hardwareCursorRow - gone,
    maxLinesRendered: state.maxLinesRendered - gone,
    previousViewportTop: state.previousViewportTop - gone,
  });
}
