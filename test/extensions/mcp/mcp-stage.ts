/** One composed agent with servers of the double, and what its sessions see of them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Clock } from '#base/clock.ts';
import { type Asker, absentAsker } from '#core/agent/approver.ts';
import type { SessionPlace } from '#core/agent/room.ts';
import type { AnyTool, ToolContext, ToolOutput } from '#core/agent/tool.ts';
import type { App } from '#surfaces/app/app.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createStage, type Stage } from '../../surfaces/app/app-fixture.ts';

export const DOUBLE = join(import.meta.dirname, '../../doubles/mcp-server.ts');

export interface McpStage extends Stage {
  /** A server of `mcp_servers`: the double with these words. */
  readonly double: (words?: readonly string[], more?: object) => object;
  readonly configure: (servers: object, more?: object) => void;
  /** What the doubles noted: `start PID`, `call NAME`, `cancelled`. */
  readonly notes: () => readonly string[];
  readonly start: (clock?: Clock) => Promise<App>;
}

export function createMcpStage(t: TestContext, variables: Record<string, string> = {}): McpStage {
  const stage = createStage(t, variables);
  const log = join(stage.temp.path, 'notes');
  return {
    ...stage,
    double: (words = [], more = {}) => ({
      command: process.execPath,
      args: [DOUBLE, ...words],
      env: { MCP_LOG: log },
      ...more,
    }),
    configure: (servers, more = {}) =>
      stage.temp.write('home/config.yaml', JSON.stringify({ mcp_servers: servers, ...more })),
    notes: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
    // A clock that stands: a session waits until its servers have answered, however slow the machine.
    start: (clock = createManualClock()) => stage.open({ clock }),
  };
}

export interface Play {
  readonly asker?: Asker;
  readonly signal?: AbortSignal;
  readonly progress?: (chunk: string) => void;
  readonly cwd?: string;
}

/** One call as the loop makes it, without its gates. */
export function callTool(
  app: App,
  tool: AnyTool | undefined,
  input: object = {},
  play: Play = {},
): Promise<ToolOutput> {
  if (!tool) throw new Error('there is no such tool');
  const {
    asker = absentAsker,
    signal = new AbortController().signal,
    progress = () => {},
    cwd = app.environment.cwd,
  } = play;
  const context: ToolContext = {
    ...{ sessionId: 's', callId: 'c', cwd, clock: app.clock, asker, spillFolder: cwd },
    ...{ history: () => [], redact: (text: string) => text, progress },
  };
  return tool.run(input as never, context, signal);
}

export async function sessionTools(app: App, place: Partial<SessionPlace> = {}): Promise<ReadonlyMap<string, AnyTool>> {
  const tools = await (await app.doors.mcp()).sessionTools({ cwd: app.environment.cwd, ...place });
  return new Map(tools.map((tool) => [tool.name, tool]));
}

export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^[ZX]$/.test(stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3));
  } catch {
    return false;
  }
}
