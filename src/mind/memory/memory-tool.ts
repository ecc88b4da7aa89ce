// Owns the `memory` tool: what a model may ask of the memory files and how the answer reads (core notes 2.2, seed 001 ch 8).
// Knows no file; everything goes through the door. Invariants: a failure is an answer that lets the model go on, and the third
// failure of a turn tells it to stop; no answer shows an entry that the prompt would block.
import { z } from 'zod';
import type { JsonObject, JsonValue } from '#base/json.ts';
import type { Result } from '#base/result.ts';
import { ellipsize } from '#base/text.ts';
import { type AnyTool, defineTool, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import type { Message } from '#core/model/message.ts';
import { evidenceArgument } from '#mind/evidence/evidence-argument.ts';
import {
  type ForegroundGate,
  foreignRisk,
  groundsOf,
  type KeptDraft,
  sourceLines,
} from '#mind/evidence/gate/foreground-gate.ts';
import { type MemoryOperation, operationsOf } from '#mind/evidence/memory-operation.ts';
import type { ProposalDraft } from '#mind/evidence/proposal.ts';
import type { MemoryFiles, MemoryRefusal, MemoryState, MemoryWritten } from './memory-files.ts';
import { entryHandle, showEntry } from './memory-view.ts';

const MEMORY_TOOL_NAME = 'memory';

/** What belongs into which target, and what into none, stands in the guidance of the prompt. */
const DESCRIPTION =
  'Keep facts across sessions: 2,200 characters in memory, 1,375 in user. When full, merge or remove.';

const PREVIEW = 80;
const FAILURES_UNTIL_STOP = 3;

const action = z.enum(['add', 'replace', 'remove']);
/** Read by `operationsOf`: the single change's own arguments, whose schema stands above. */
const step = z.looseObject({});
const input = z.looseObject({
  target: z.enum(['memory', 'user']).default('memory').describe('default memory'),
  action: action.optional(),
  content: z.string().optional(),
  old_text: z.string().describe('unique piece of the entry').optional(),
  operations: z.array(step).describe('several changes, all or none').optional(),
  evidence: evidenceArgument,
});
type MemoryInput = z.infer<typeof input>;

/** Without a gate every write is made at once: for embedding programs that have no owner to ask. */
export function createMemoryTool(files: MemoryFiles, gate?: ForegroundGate): AnyTool {
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
        return waiting(await gate.draft(draftOf(operations, asked)), sourceLines(source), context);
      }
      const cited = citations.length === 0 ? {} : { citations };
      const result = await files.apply(change.target, operations, { actor: 'agent', sessionId, signal, ...cited });
      return result.ok ? success(result.value) : failure(describeRefusal(result, change.target), context);
    },
  });
}

function draftOf(
  operations: readonly MemoryOperation[],
  asked: Pick<ProposalDraft, 'target' | 'change' | 'sessionId' | 'citations'>,
): ProposalDraft {
  return {
    kind: 'memory',
    actor: 'agent',
    action: operations.length === 1 ? (operations[0]?.action ?? 'add') : 'batch',
    ...asked,
  };
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
