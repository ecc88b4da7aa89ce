// Owns the words `serve` and `mcp serve`: what a server is started with, where its key comes from, and when it may not start. Knows no wire.
// Invariants: what is no loopback address is not opened without a key that the owner set; standard output of `mcp serve` holds protocol lines alone.
import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { z } from 'zod';
import { errorText, TalariaError } from '#base/errors.ts';
import { createAsyncQueue } from '#base/fabric.ts';
import { randomHex } from '#base/ids.ts';
import type { AnyCommand, CommandContext, CommandOutput } from '#core/agent/command-spec.ts';
import { defineCommand, line, refused, wrongUse } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import type { App, AppOptions } from '#surfaces/app/app.ts';
import { serveSchema } from '#surfaces/app/home/config-schema.ts';
import { fillVariables } from '#surfaces/app/home/variables.ts';
import type { ServePart } from '#surfaces/app/serve-part.ts';

/** What the shell lends. */
export interface ServeSeat {
  readonly ground: Ground;
  readonly version: string;
  readonly app: (means?: Pick<AppOptions, 'serves'>) => Promise<App>;
  readonly parts: () => Promise<readonly ServePart[]>;
}

type Outputs = AsyncGenerator<CommandOutput, void>;

const KEY = 'TALARIA_API_KEY';

const address = z.object({
  host: z.string().min(1).optional().describe('Address to listen at'),
  port: z.coerce.number().int().min(0).max(65_535).optional().describe('Port; 0: any that is free'),
});

export function serveCommands(seat: ServeSeat): readonly AnyCommand[] {
  return [
    defineCommand({
      name: 'serve',
      summary: 'Serve the OpenAI-compatible API and MCP, until it is stopped',
      surfaces: ['cli'],
      untilStopped: true,
      input: address,
      examples: ['talaria serve', 'talaria serve --port 9000'],
      run: (asked, context) => serve(seat, asked, context),
    }),
    defineCommand({
      name: 'serve key',
      summary: 'Show the key that clients of talaria serve send',
      surfaces: ['cli'],
      input: z.object({}),
      run: async function* () {
        yield line(await keyOf(seat.ground, true));
      },
    }),
    defineCommand({
      name: 'mcp serve',
      summary: 'Serve MCP on standard input and output',
      surfaces: ['cli'],
      untilStopped: true,
      input: z.object({}),
      run: (_: unknown, context) => serveStdio(seat, context),
    }),
  ];
}

const MADE = /^tal-[0-9a-f]{48}$/;

/** Empty: there is none, and none is to be made. */
async function keyOf(ground: Ground, isMade: boolean): Promise<string> {
  const { key: reference } = (await ground.settings()).section('serve', serveSchema);
  const filled = fillVariables(reference ?? `\${${KEY}}`, ground.variables);
  if (filled.ok) return filled.value;
  const fix = 'Set that variable, or take serve.key out of config.yaml.';
  if (reference !== undefined) throw new TalariaError(`serve.key: ${filled.detail}`, { code: filled.reason, fix });
  const made = isMade ? `tal-${randomHex(24)}` : '';
  if (isMade) await ground.keep({ secrets: { [KEY]: made } });
  return made;
}

async function* serve(seat: ServeSeat, asked: z.infer<typeof address>, { signal }: CommandContext): Outputs {
  const { ground, version } = seat;
  const settings = (await ground.settings()).section('serve', serveSchema);
  const { host = settings.host, port = settings.port } = asked;
  const { bracketed, isLoopback, openServer } = await import('./server.ts');
  const key = await keyOf(ground, isLoopback(host));
  // What was made here was made for this machine alone.
  if (key === '' || (MADE.test(key) && !isLoopback(host))) {
    const fix = `Set ${KEY} to a key of your own, in the environment or in .env of the home.`;
    return yield refused(
      'key-missing',
      `${host} can be reached from other machines, and there is no key of yours`,
      fix,
    );
  }
  const desk = new (await import('./turns.ts')).TurnDesk(await seat.app({ serves: true }));
  for (const text of desk.notices) yield line(text);
  // V8 would let garbage grow to four times what lives, and keep it while nobody asks.
  setFlagsFromString('--heap-growing-percent=40');
  const opened = (await seat.parts()).map((part) => part.open(desk.app, ground, key));
  const parts = (await Promise.all(opened)).flatMap((part) => part ?? []);
  const server = await openServer(desk, { host, port, key, version, parts });
  const own = [...(settings.api ? ['/v1'] : []), ...(settings.mcp ? ['/mcp'] : [])];
  const shown = [...own, ...parts.map((part) => part.shown)].join(', ');
  yield line(`Talaria serves ${shown} at http://${bracketed(host)}:${server.port}; its key: talaria serve key`);
  const faults = createAsyncQueue<CommandOutput>();
  const running = parts.map((part) =>
    part.run(signal).catch((error: unknown) => faults.push(line(`${part.shown} ended: ${errorText(error)}`))),
  );
  if (signal.aborted) faults.close();
  signal.addEventListener('abort', () => faults.close(), { once: true });
  yield* faults;
  await Promise.all([server.close(), ...running]);
}

async function* serveStdio(seat: ServeSeat, { stdio, signal }: CommandContext): Outputs {
  if (!stdio) return yield wrongUse('no-streams', 'mcp serve needs a standard input and output of its own');
  const { input, output } = stdio;
  // What a library says belongs beside the protocol, never into it.
  [console.log, console.info, console.debug] = [console.error, console.error, console.error];
  const { serveStdio: start, StdioServerTransport } = await import('@modelcontextprotocol/server/stdio');
  const { createMcpServers } = await import('./mcp-server.ts');
  const desk = new (await import('./turns.ts')).TurnDesk(await seat.app());
  const ended = Promise.race([once(input, 'end'), once(input, 'close'), once(signal, 'abort')]);
  const handle = start(createMcpServers(desk, seat.version), { transport: new StdioServerTransport(input, output) });
  await ended;
  await handle.close();
  await desk.close(0);
}
