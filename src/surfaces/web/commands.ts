// Owns `talaria dashboard`, and what of the pages lives inside `talaria serve`. Knows no page.
// Invariant: with `serve.dashboard: false` nothing is opened; the key stands in no output but the address that a person asked for.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import { errorText } from '#base/errors.ts';
import { type AnyCommand, type CommandOutput, defineCommand, failed, line, refused } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import type { App } from '#surfaces/app/app.ts';
import { serveSchema } from '#surfaces/app/home/config-schema.ts';
import type { ServePart } from '#surfaces/app/serve-part.ts';
import { PAGES } from './frame.ts';

export interface PageSeat {
  readonly ground: Ground;
  readonly app: () => Promise<App>;
}

/** Commands of another surface by their words; none: it is not here. */
export type Lend = (words: readonly string[], seat: PageSeat) => Promise<readonly AnyCommand[]>;

/** `lend`: whose output the pages show. */
export function webPart(lend: Lend): ServePart {
  return {
    open: async (app, ground, key) => {
      if (!app.loaded.config.serve.dashboard) return undefined;
      const [{ PageDesk }, { pageServer }] = await Promise.all([import('./desk.ts'), import('./server.ts')]);
      const desk = new PageDesk(app, await lend(['gateway'], { ground, app: async () => app }));
      const own = ['login', 'act', 'live', 'pictures', 'app.js', 'style.css'];
      const paths = [...PAGES.map(([path]) => path), ...own];
      const run = (signal: AbortSignal) => desk.run(signal);
      return { shown: 'pages at /', paths, isGuarded: true, fetch: pageServer(desk, key), run };
    },
  };
}

const PATIENCE_MS = 3_000;
const port = z.coerce.number().int().min(1).max(65_535).optional().describe('Where talaria serve listens');

export function dashboardCommands(lend: Lend): (seat: PageSeat) => readonly AnyCommand[] {
  return (seat) => [
    defineCommand({
      name: 'dashboard',
      summary: 'Open the pages of talaria serve: in $BROWSER, or print their address',
      surfaces: ['cli'],
      input: z.object({ port }),
      async *run(asked, context): AsyncGenerator<CommandOutput> {
        const { variables } = seat.ground;
        const settings = (await seat.ground.settings()).section('serve', serveSchema);
        const host = settings.host.replace(/^(?:0\.0\.0\.0|::)$/, 'localhost').replace(/^.*:.*$/, '[$&]');
        const origin = `http://${host}:${asked.port ?? settings.port}`;
        const signal = AbortSignal.any([context.signal, AbortSignal.timeout(PATIENCE_MS)]);
        const there = await fetch(`${origin}/app.js`, { signal }).catch(() => undefined);
        if (!there?.ok)
          return yield refused('not-served', `There are no pages at ${origin}.`, 'Start `talaria serve`.');
        const [keyCommand] = (await lend(['serve', 'key'], seat)).filter(({ name }) => name === 'serve key');
        const said = await Array.fromAsync(keyCommand?.run({} as never, context) ?? []);
        const address = `${origin}/?key=${said.map((one) => (one.type === 'line' ? encodeURIComponent(one.text) : ''))}`;
        yield variables.BROWSER ? await opened(variables.BROWSER, address) : line(address);
      },
    }),
  ];
}

async function opened(browser: string, address: string): Promise<CommandOutput> {
  const [program = '', ...args] = browser.split(' ');
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true });
  child.unref();
  const told = (error: unknown) => failed('no-browser', `${browser}: ${errorText(error)}`, address);
  return once(child, 'spawn').then(() => line(`Opened in ${browser}.`), told);
}
