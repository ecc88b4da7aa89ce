// Owns the work of the `memory` tool (core notes 2.2, seed 001 ch 8); everything goes through the door.
import type { JsonObject, JsonValue } from '#base/json.ts';
import type { Result } from '#base/result.ts';
import { ellipsize } from '#base/text.ts';
import { type AnyTool, defineTool, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import { type Message, startsTurn } from '#core/model/message.ts';
import {
  type ForegroundGate,
  foreignRisk,
  groundsOf,
  type KeptDraft,
  sourceLines,
} from '#mind/evidence/gate/foreground-gate.ts';
import { type MemoryOperation, operationsOf } from '#mind/evidence/proposal.ts';
import { type MemoryInput, memoryCard } from './memory-card.ts';
import {
  entryHandle,
  type MemoryFiles,
  type MemoryRefusal,
  type MemoryState,
  type MemoryWritten,
  showEntry,
} from './memory-files.ts';
import { actionOf } from './memory-journal.ts';

const PREVIEW = 80;
const FAILURES_UNTIL_STOP = 3;

/** Without a gate every write is made at once: for embedding programs that have no owner to ask. */
export function createMemoryTool(files: MemoryFiles, gate?: ForegroundGate): AnyTool {
  return defineTool<MemoryInput>({
    ...memoryCard,
    summary: ({ target, action: asked, content, old_text, operations }) =>
      operations
        ? `memory ${target}: ${operations.length} operations`
        : `memory ${asked ?? ''} ${target}: ${ellipsize(content ?? old_text ?? '', 60)}`,
    risk: (asked, context) => {
      const operations = operationsOf(asked as JsonObject);
      if (gate === undefined || typeof operations === 'string' || gate.say(context.sessionId) === 'draft')
        return { level: 'none' };
      const { source } = groundsOf(gate, context, { texts: textsOf(operations) });
      const preview = [`memory ${asked.target}`, ...operations.map(shown)].join('\n');
      return source ? foreignRisk(preview, source) : { level: 'none' };
    },
    run: async ({ evidence, ...change }, context, signal) => {
      const operations = operationsOf(change as JsonObject);
      if (typeof operations === 'string') return failure({ error: operations, reason: 'incomplete' }, context);
      const { sessionId } = context;
      const grounds = { texts: textsOf(operations), evidence: evidence as JsonValue | undefined };
      const { source, citations } = gate ? groundsOf(gate, context, grounds) : { citations: [] };
      if (gate && source && gate.say(sessionId) === 'draft') {
        const asked = { target: change.target, change: change as JsonObject, sessionId, citations };
        const draft = { kind: 'memory', actor: 'agent', action: actionOf(operations), ...asked } as const;
        return waiting(await gate.draft(draft), sourceLines(source), context);
      }
      const cited = citations.length === 0 ? {} : { citations };
      const result = await files.apply(change.target, operations, { actor: 'agent', sessionId, signal, ...cited });
      return result.ok ? success(result.value) : failure(describeRefusal(result, change.target), context);
    },
  });
}

/** As the owner is shown it. */
function shown(operation: MemoryOperation): string {
  if (operation.action === 'add') return `+ ${operation.content}`;
  return operation.action === 'remove' ? `- ${operation.oldText}` : `- ${operation.oldText}\n+ ${operation.content}`;
}

/** What would stand in the file; what goes from it is never the owner's own sentence alone. */
function textsOf(operations: readonly MemoryOperation[]): readonly string[] {
  return operations.map((operation) => (operation.action === 'add' ? operation.content : `${shown(operation)}\n+`));
}

function waiting(kept: Result<KeptDraft>, from: string, context: ToolContext): ToolOutput {
  if (!kept.ok) return failure({ error: kept.detail, reason: kept.reason }, context);
  const { id, isKnown } = kept.value;
  const message = `It waits for the owner as ${id}${isKnown ? ' already' : ''}: it may rest on text that the owner did not write. Do not repeat this call; go on with the task.`;
  return { ...json({ success: true, staged: true, pending_id: id, message, from }), origin: 'foreign' };
}

function success(written: MemoryWritten): ToolOutput {
  const { target, usage, entries, messages } = written;
  const note = 'Saved. Do not repeat this call; the prompt shows the change from the next session on.';
  const message = messages.join(' ');
  return json({ success: true, done: true, target, usage, entry_count: entries.length, message, note });
}

/** Counted from the conversation itself, so that a rebuilt one stops at the same call. */
function failure(answer: JsonObject, context: ToolContext): ToolOutput {
  const failures = failuresThisTurn(context.history()) + 1;
  const note = `${failures} failed attempts this turn. Stop trying to save this and go on with the task.`;
  const stop: JsonObject = failures < FAILURES_UNTIL_STOP ? {} : { done: true, note };
  // Answers that quote entries are not wholly our own record.
  return { ...json({ success: false, ...answer, ...stop }), isError: true, origin: 'foreign' };
}

function failuresThisTurn(history: readonly Message[]): number {
  const start = history.findLastIndex(startsTurn);
  const results = history.slice(start + 1).flatMap((message) => (message.role === 'tool' ? message.parts : []));
  const ours = results.filter(({ name }) => name === memoryCard.name);
  return ours.length - 1 - ours.findLastIndex(({ isError }) => !isError);
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
