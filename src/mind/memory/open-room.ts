// Owns the memory's front: both files, the block by which they stand in the prompt (core notes 2.2, seed 001 ch 5 and 8), the tool.
import { ok } from '#base/result.ts';
import { sliceText } from '#base/text.ts';
import type { MemoryProvider } from '#core/agent/memory-provider.ts';
import type { Forgets, Forgot, OpenRoom, RoomGround } from '#core/agent/room.ts';
import { type AnyTool, lateTool } from '#core/agent/tool.ts';
import type { ForegroundGate } from '#mind/evidence/gate/foreground-gate.ts';
import { memoryCard } from './memory-card.ts';
import {
  countCharacters,
  createMemoryFiles,
  entryHandle,
  MEMORY_TARGETS,
  type MemoryFiles,
  type MemoryState,
  type MemoryTarget,
  showEntry,
} from './memory-files.ts';

export async function openRoom(ground: RoomGround, { enabled }: { readonly enabled: boolean }): Promise<OpenRoom> {
  const { clock, places, notice } = ground;
  const [ledger, citationsOf, gate, state] = await Promise.all([
    ground.door('proposals'),
    ground.door('citationsOf'),
    ground.door('gate'),
    ground.door('state'),
  ]);
  const files = createMemoryFiles({ root: places.memories, clock, journal: { ledger, citationsOf } });
  const isOpen = (status: 'writing' | 'proposed') => ledger.list({ kind: 'memory', status, limit: 1 }).length > 0;
  if (!state.readOnly && (isOpen('writing') || isOpen('proposed')))
    await (await import('./mend-memory.ts')).reconcileMemory(files, ledger, clock);
  return {
    doors: { memory: files },
    tools: enabled ? [memoryTool(files, gate)] : [],
    rules: async () => (await import('./memory-rules.ts')).memoryRules,
    forget: (what) => forgetEntries(files, what),
    ...(enabled ? { prompt: snapshotOf(files, notice) } : {}),
  };
}

function memoryTool(files: MemoryFiles, gate?: ForegroundGate): AnyTool {
  return lateTool(memoryCard, async () => (await import('./memory-tool.ts')).createMemoryTool(files, gate));
}

async function forgetEntries(files: MemoryFiles, what: Forgets): Promise<readonly Forgot[]> {
  const { everywhere, holds, signal } = what;
  let count = 0;
  for (const target of everywhere && holds ? MEMORY_TARGETS : []) {
    const state = files.read(target);
    for (const oldText of state.ok ? state.value.entries.filter((entry) => holds?.(entry)) : []) {
      const removed = await files.apply(target, [{ action: 'remove', oldText }], { actor: 'owner', signal });
      if (removed.ok) count += 1;
    }
  }
  return [{ name: 'memory entries', count }];
}

/** Both files as they stand in the prompt of a session that starts now. */
function snapshotOf(files: MemoryFiles, notice: (text: string) => void): () => { readonly memory: string } {
  const told = new Set<string>();
  return () => {
    const { text, problems } = renderMemoryBlock(files);
    for (const problem of problems.filter((candidate) => !told.has(candidate))) {
      told.add(problem);
      notice(problem);
    }
    return { memory: text };
  };
}

const RULE = '═'.repeat(46);
const JOINT = '\n§\n';
const TITLES: Readonly<Record<MemoryTarget, string>> = {
  memory: 'MEMORY (your personal notes)',
  user: 'USER PROFILE (who the user is)',
};

interface MemoryBlock {
  /** Empty when there is nothing to show. */
  readonly text: string;
  /** What the owner should know: unreadable files, blocked entries, entries left out. One sentence each. */
  readonly problems: readonly string[];
}

export function renderMemoryBlock(files: MemoryFiles): MemoryBlock {
  const blocks = MEMORY_TARGETS.map((target) => renderTarget(files, target));
  const texts = blocks.map(({ text }) => text).filter(Boolean);
  return { text: texts.join('\n\n'), problems: blocks.flatMap(({ problems }) => problems) };
}

function renderTarget(files: MemoryFiles, target: MemoryTarget): MemoryBlock {
  const read = files.read(target);
  if (!read.ok) return { text: '', problems: [read.detail] };
  const state = read.value;
  if (state.entries.length === 0) return { text: '', problems: [] };
  const shown = state.entries.map((entry, index) => showEntry(entry, entryHandle(target, index)));
  const kept = keepNewest(
    shown.map(({ text }) => text),
    state.limit,
  );
  return {
    text: [RULE, `${TITLES[target]} [${state.usage}]`, RULE, kept.entries.join(JOINT)].join('\n'),
    problems: problemsOf(files.path(target), shown.filter(({ blocked }) => blocked).length, kept.leftOut, state),
  };
}

/** Over the limit (edited by hand) the oldest entries stay out: what was learned last is most likely still true. */
function keepNewest(entries: readonly string[], limit: number): { entries: readonly string[]; leftOut: number } {
  const kept: string[] = [];
  let room = limit;
  for (const entry of entries.toReversed()) {
    const size = countCharacters(entry) + (kept.length > 0 ? JOINT.length : 0);
    if (size > room) break;
    kept.unshift(entry);
    room -= size;
  }
  const leftOut = entries.length - kept.length;
  if (leftOut === 0) return { entries: kept, leftOut };
  const newest = kept.length === 0 ? [`${sliceText(entries.at(-1) ?? '', limit)}…`] : kept;
  return { entries: [`[${leftOut} older entries over the limit are left out]`, ...newest], leftOut };
}

function problemsOf(path: string, blocked: number, leftOut: number, state: MemoryState): readonly string[] {
  const problems: string[] = [];
  if (blocked > 0)
    problems.push(
      `${path}: ${blocked} of ${state.entries.length} entries look like an attack or a secret and are not shown to the model.`,
    );
  if (leftOut > 0)
    problems.push(
      `${path} is over its limit (${state.usage}); its oldest ${leftOut} entries are not shown to the model.`,
    );
  return problems;
}

/** The built-in provider; `warn` gets one sentence for each problem found when a session starts. */
export function createFilesProvider(
  files: MemoryFiles,
  warn: (problem: string) => void = () => undefined,
  gate?: ForegroundGate,
): MemoryProvider {
  const tools = [memoryTool(files, gate)];
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
