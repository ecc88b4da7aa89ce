// Owns what built-in commands are made from. Knows no command.
// Invariant: `app` composes at most once, and only when a command needs it: `doctor` and `config` must work in a broken home.
import type { Clock } from '#base/clock.ts';
import type { CommandOutput } from '#core/agent/command-spec.ts';
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
export async function lastSessionHere({ store }: App, cwd: string): Promise<string | undefined> {
  const recent = await store.list({ cwd, source: 'cli', limit: 20 });
  return recent.find(({ messageCount }) => messageCount > 0)?.id;
}

export function line(text: string): CommandOutput {
  return { type: 'line', text };
}
