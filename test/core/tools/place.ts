/** A temporary folder and the surroundings of a tool call in it, for tests of tools. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '#base/clock.ts';
import { absentAsker } from '#core/agent/approver.ts';
import type { AnyTool, Risk, ToolContext, ToolOutput } from '#public/talaria.ts';

export interface ToolPlaceForTest {
  readonly folder: string;
  readonly cwd: string;
  readonly home: string;
  readonly chunks: string[];
  context(extra?: Partial<ToolContext>): ToolContext;
  /** Validates as the loop does, then runs. */
  run(tool: AnyTool, input: unknown, extra?: Partial<ToolContext>, signal?: AbortSignal): Promise<ToolOutput>;
  risk(tool: AnyTool, input: unknown, extra?: Partial<ToolContext>): Risk;
  write(path: string, text: string | Buffer): string;
  remove(): void;
}

export function makeToolPlace(): ToolPlaceForTest {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'talaria-tools-')));
  const cwd = join(folder, 'work');
  const home = join(folder, 'agent-home');
  mkdirSync(cwd);
  mkdirSync(home);
  const chunks: string[] = [];
  const context = (extra: Partial<ToolContext> = {}): ToolContext => ({
    sessionId: 's1',
    callId: 'call_1',
    cwd,
    clock: systemClock,
    asker: absentAsker,
    spillFolder: join(folder, 'spill'),
    history: () => [],
    redact: (text) => text,
    progress: (chunk) => chunks.push(chunk),
    ...extra,
  });
  return {
    folder,
    cwd,
    home,
    chunks,
    context,
    run: (tool, input, extra = {}, signal = new AbortController().signal) =>
      tool.run(tool.input.parse(input), context(extra), signal),
    risk: (tool, input, extra = {}) => tool.risk?.(tool.input.parse(input), context(extra)) ?? { level: 'none' },
    write(path, text) {
      const full = join(cwd, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, text);
      return full;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
