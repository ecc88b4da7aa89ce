// Owns what a rule can see of the memory: the snapshot in the frozen prompt, then this conversation's own writes on top.
// Knows no file: the tool decides what is really there. Invariant: an entry is shown word for word with its file.
import type { JsonObject } from '#base/json.ts';
import type { ReflexInput } from '#core/agent/reflex-rule.ts';
import { type Message, type ToolCallPart, toolCalls } from '#core/model/message.ts';

export type Target = 'memory' | 'user';

export interface KeptEntry {
  readonly target: Target;
  readonly text: string;
}

/** A memory call of this conversation that succeeded; `before` and `after` are whole entries, as far as they are known. */
export interface MemoryWrite {
  readonly action: 'add' | 'replace' | 'remove';
  readonly target: Target;
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** Index of its message in the history. */
  readonly at: number;
}

export const FILES: Readonly<Record<Target, string>> = { memory: 'MEMORY.md', user: 'USER.md' };

const BLOCK = /═{20,}\n(MEMORY|USER PROFILE) [^\n]*\n═{20,}\n([\s\S]*?)(?=\n\n═{20,}|\n\n(?!§)|$)/g;

export function keptEntries(input: Pick<ReflexInput, 'system' | 'history'>): readonly KeptEntry[] {
  const entries = [...snapshotEntries(input.system)];
  for (const write of memoryWrites(input)) {
    const at = entries.findIndex((entry) => entry.target === write.target && entry.text === write.before);
    if (at >= 0) entries.splice(at, 1);
    if (write.after !== undefined) entries.push({ target: write.target, text: write.after });
  }
  return entries;
}

function snapshotEntries(system: string): readonly KeptEntry[] {
  return [...system.matchAll(BLOCK)].flatMap(([, title, body = '']) => {
    const target: Target = title === 'MEMORY' ? 'memory' : 'user';
    return body
      .split('\n§\n')
      .flatMap((text) => (text.trim() === '' || text.startsWith('[BLOCKED') ? [] : [{ target, text: text.trim() }]));
  });
}

/** Oldest first. */
export function memoryWrites(input: Pick<ReflexInput, 'system' | 'history'>): readonly MemoryWrite[] {
  const calls = new Map<string, ToolCallPart>();
  const entries: KeptEntry[] = [...snapshotEntries(input.system)];
  const writes: MemoryWrite[] = [];
  for (const [at, message] of input.history.entries()) {
    for (const call of toolCalls(message)) calls.set(call.callId, call);
    const call = succeeded(message, calls);
    if (call === undefined) continue;
    for (const step of stepsOf(call.arguments)) {
      const write = { ...resolve(step, entries), at };
      writes.push(write);
      replay(write, entries);
    }
  }
  return writes;
}

function succeeded(message: Message, calls: ReadonlyMap<string, ToolCallPart>): ToolCallPart | undefined {
  if (message.role !== 'tool') return undefined;
  const [result] = message.parts;
  const failed =
    result.isError || result.observed.refused !== undefined || /"success":\s*false|"staged":\s*true/.test(result.text);
  return result.name === 'memory' && !failed ? calls.get(result.callId) : undefined;
}

interface Step {
  readonly action: MemoryWrite['action'];
  readonly target: Target;
  readonly content: string | undefined;
  readonly oldText: string | undefined;
}

function stepsOf(data: JsonObject): readonly Step[] {
  const target: Target = data.target === 'user' ? 'user' : 'memory';
  const steps = Array.isArray(data.operations) ? (data.operations as readonly JsonObject[]) : [data];
  return steps.flatMap((step) => {
    const action = step.action;
    if (action !== 'add' && action !== 'replace' && action !== 'remove') return [];
    return [{ action, target, content: text(step.content ?? step.new_text), oldText: text(step.old_text) }];
  });
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function resolve(step: Step, entries: readonly KeptEntry[]): Omit<MemoryWrite, 'at'> {
  const { action, target, content, oldText } = step;
  const holding =
    oldText === undefined ? [] : entries.filter((entry) => entry.target === target && entry.text.includes(oldText));
  const before = holding.length === 1 ? holding[0]?.text : undefined;
  return {
    action,
    target,
    before: action === 'add' ? undefined : before,
    after: action === 'remove' ? undefined : content,
  };
}

function replay(write: Omit<MemoryWrite, 'at'>, entries: KeptEntry[]): void {
  const at = entries.findIndex((entry) => entry.target === write.target && entry.text === write.before);
  if (at >= 0) entries.splice(at, 1);
  if (write.after !== undefined) entries.push({ target: write.target, text: write.after });
}
