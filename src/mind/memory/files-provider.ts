// Owns the built-in MemoryProvider: both files as a frozen block in the prompt, and the `memory` tool. Knows no prompt builder.
// Invariant: the block is what was on disk when the session started, whatever is written meanwhile (seed 001 ch 8, frozen snapshot).
import { ok } from '#base/result.ts';
import type { ForegroundGate } from '#mind/evidence/gate/foreground-gate.ts';
import { type MemoryBlock, renderMemoryBlock } from './memory-block.ts';
import type { MemoryFiles } from './memory-files.ts';
import type { MemoryProvider } from './memory-provider.ts';
import { createMemoryTool } from './memory-tool.ts';

/** `warn` gets one sentence for each problem found when a session starts. */
export function createFilesProvider(
  files: MemoryFiles,
  warn: (problem: string) => void = () => undefined,
  gate?: ForegroundGate,
): MemoryProvider {
  const tools = [createMemoryTool(files, gate)];
  let block: MemoryBlock = { text: '', problems: [] };
  return {
    name: 'files',
    available: () => ok(true),
    start: async () => {
      block = renderMemoryBlock(files);
      for (const problem of block.problems) warn(problem);
    },
    promptBlock: () => block.text,
    prefetch: async () => [],
    tools: () => tools,
    stop: async () => undefined,
  };
}
