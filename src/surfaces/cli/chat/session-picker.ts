// Owns picking a stored session on the screen, for `--resume` without an id: this folder's first, the rest after. Knows no chat.
// Invariant: the terminal is given back as it was; leaving picks nothing.
import { Container, matchesKey, ProcessTerminal, SelectList, Text, TuiMainScreen } from '@earendil-works/pi-tui';
import { isoTime } from '#base/clock.ts';
import { plural } from '#base/text.ts';
import type { SessionRecord } from '#core/agent/session-store.ts';
import type { App } from '#surfaces/app/app.ts';
import { createPaint, oneLine } from '../terminal-text.ts';
import { editorTheme } from './view/chat-theme.ts';
import { holdTerminal } from './view/terminal-hold.ts';

/** Sessions that are offered, and how many are in view at once. */
const OFFERED = 100;
const VISIBLE = 12;
const TITLE_WIDTH = 44;
const REFUSED = 3;

export interface PickPlace {
  readonly out: (text: string) => void;
  readonly signal: AbortSignal;
}

/** The id that was picked; the exit code when there is none. */
export async function pickSession(app: App, { out, signal }: PickPlace): Promise<string | number> {
  const { cwd } = app.environment;
  const sessions = offered(await app.store.list({ cwd, limit: OFFERED }), await app.store.list({ limit: OFFERED }));
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
