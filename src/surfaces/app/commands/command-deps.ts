// Owns what built-in commands are made from. Knows no command.
// Invariant: `app` composes at most once, and only when a command needs it: `doctor` and `config` must work in a broken home.
import type { Clock } from '#base/clock.ts';
import type { App } from '../app.ts';
import type { Environment } from '../environment.ts';
import type { Home } from '../home/home.ts';

export interface CommandDeps {
  readonly environment: Environment;
  readonly home: Home;
  readonly clock: Clock;
  readonly app: () => Promise<App>;
}

/** The last session that somebody had here, in a terminal. */
export async function lastSessionHere({ doors }: App, cwd: string): Promise<string | undefined> {
  const recent = await doors.sessions.list({ cwd, source: 'cli', limit: 20 });
  return recent.find(({ messageCount }) => messageCount > 0)?.id;
}
