// Owns the `memory` tool: what a model may ask of the memory files and how the answer reads (core notes 2.2, seed 001 ch 8).
// Knows no file; everything goes through the door. Invariants: a failure is an answer that lets the model go on, and the third
// failure of a turn tells it to stop; no answer shows an entry that the prompt would block.
import { z } from 'zod';
import type { JsonObject } from '#base/json.ts';
import { ellipsize } from '#base/text.ts';
import { type AnyTool, defineTool, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import type { Message } from '#core/model/message.ts';
import { operationsOf } from '#mind/evidence/memory-operation.ts';
import type { MemoryFiles, MemoryRefusal, MemoryState, MemoryWritten } from './memory-files.ts';
import { entryHandle, showEntry } from './memory-view.ts';

const MEMORY_TOOL_NAME = 'memory';

/** What belongs into which target, and what into none, stands in the guidance of the prompt. */
const DESCRIPTION =
  'Save short durable facts, no task progress. old_text: unique piece of the entry. ' +
  'operations: atomic batch; when full, merge or remove in it.';

const PREVIEW = 80;
const FAILURES_UNTIL_STOP = 3;

const action = z.enum(['add', 'replace', 'remove']);
/** Loose, so that the alias `new_text` is read without costing every request its schema. */
const step = z.looseObject({ action, content: z.string().optional(), old_text: z.string().optional() });
const input = z.looseObject({
  target: z.enum(['memory', 'user']).default('memory'),
  action: action.optional(),
  content: z.string().optional(),
  old_text: z.string().optional(),
  operations: z.array(step).optional(),
});
type MemoryInput = z.infer<typeof input>;
export function createMemoryTool(files: MemoryFiles): AnyTool {
  return defineTool<MemoryInput>({
    name: MEMORY_TOOL_NAME,
    description: DESCRIPTION,
    input,
    toolset: 'memory',
    effect: 'write',
    summary: ({ target, action: asked, content, old_text, operations }) =>
      operations
        ? `memory ${target}: ${operations.length} operations`
        : `memory ${asked ?? ''} ${target}: ${ellipsize(content ?? old_text ?? '', 60)}`,
    run: async (asked, context, signal) => {
      const operations = operationsOf(asked as JsonObject);
      if (typeof operations === 'string') return failure({ error: operations, reason: 'incomplete' }, context);
      const { sessionId } = context;
      const result = await files.apply(asked.target, operations, { actor: 'agent', sessionId, signal });
      return result.ok ? success(result.value) : failure(describeRefusal(result, asked.target), context);
    },
  });
}

function success(written: MemoryWritten): ToolOutput {
  const { target, usage, entries, messages } = written;
  const note = 'Saved. Do not repeat this call; the prompt shows the change from the next session on.';
  return json({
    success: true,
    done: true,
    target,
    usage,
    entry_count: entries.length,
    message: messages.join(' '),
    note,
  });
}

/** Counted from the conversation itself, so that a rebuilt one stops at the same call. */
function failure(answer: JsonObject, context: ToolContext): ToolOutput {
  const failures = failuresThisTurn(context.history()) + 1;
  const stop: JsonObject =
    failures < FAILURES_UNTIL_STOP
      ? {}
      : {
          done: true,
          note: `${failures} failed attempts this turn. Stop trying to save this and go on with the task.`,
        };
  // Answers that quote entries are not wholly our own record.
  return { ...json({ success: false, ...answer, ...stop }), isError: true, origin: 'foreign' };
}

function failuresThisTurn(history: readonly Message[]): number {
  const start = history.findLastIndex(startsTurn);
  const results = history.slice(start + 1).flatMap((message) => (message.role === 'tool' ? message.parts : []));
  const ours = results.filter(({ name }) => name === MEMORY_TOOL_NAME);
  return ours.length - 1 - ours.findLastIndex(({ isError }) => !isError);
}

/** A steer or a notice in mid-turn does not begin a new turn. */
function startsTurn(message: Message): boolean {
  return message.role === 'user' && message.parts.some(({ label }) => label === undefined || label === 'stdin');
}

function describeRefusal(refusal: MemoryRefusal, target: string): JsonObject {
  const { state, matches } = refusal;
  return {
    error: refusal.detail,
    reason: refusal.reason,
    target,
    ...(state ? { usage: state.usage } : {}),
    ...(refusal.reason === 'over_limit' && state ? { current_entries: shownEntries(state) } : {}),
    ...(matches && state ? { [refusal.reason === 'not_found' ? 'nearest' : 'matches']: previews(state, matches) } : {}),
  };
}

function shownEntries(state: MemoryState): readonly string[] {
  return state.entries.map((entry, index) => showEntry(entry, entryHandle(state.target, index)).text);
}

function previews(state: MemoryState, matches: readonly string[]): readonly string[] {
  return matches.map((entry) =>
    ellipsize(showEntry(entry, entryHandle(state.target, state.entries.indexOf(entry))).text, PREVIEW),
  );
}

function json(value: JsonObject): ToolOutput {
  return { text: JSON.stringify(value), origin: 'observed' };
}
