// Owns the intent `undo`: the last memory write of this conversation is taken back by its inverse, built from the history.
// Invariant: what has no inverse says so; an undo takes back one write, and the next undo the one before it.
import type { JsonObject } from '#base/json.ts';
import type { ReflexInput, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import { type Message, type ToolCallPart, toolCalls } from '#core/model/message.ts';
import { ownerLine } from '#core/reflex/decide-turn.ts';
import { english } from '#core/reflex/english/english.ts';
import { reflexInput } from '#core/reflex/rank-rules.ts';
import { forms, texts } from './english.ts';
import { type MemoryWrite, memoryWrites } from './kept-entries.ts';
import { sayWritten } from './memory-answer.ts';

/** Tools that change something that memory cannot take back. */
const LASTING = new Set(['terminal', 'write_file', 'patch']);

export const undoRule: ReflexRule = {
  purpose: 'memory',
  intent: 'undo',
  effect: 'home',
  examples: ['undo that', 'take that back', 'revert the last change'],

  match(input) {
    const fit = input.fit(forms.undo);
    return fit === undefined
      ? undefined
      : { score: fit.score, slots: /\b(?:memory|note|entry)\b/i.test(input.text) ? { memory: 'yes' } : {} };
  },

  restate: ({ slots }) => (slots.memory === undefined ? 'undo that' : 'undo the last memory change'),

  act({ slots }, input, results) {
    const write = standingWrites(input).at(-1);
    const lasting = lastingCall(input.history);
    if (lasting !== undefined && slots.memory === undefined && lasting.at > (write?.at ?? -1))
      return cannot(lasting.call, write);
    if (write === undefined) return { type: 'say', text: texts.nothingToUndo };
    const inverse = inverseOf(write);
    if (inverse === undefined) return { type: 'say', text: texts.cannotUndo.replace('{}', `memory ${write.action}`) };
    const [result] = results;
    if (result === undefined) return { type: 'call', calls: [{ name: 'memory', arguments: inverse }] };
    return sayWritten(texts.undone, { target: write.target, text: write.before ?? write.after ?? '' }, result);
  },
};

/** Writes that no later undo took back: a second undo goes one further. */
function standingWrites(input: ReflexInput): readonly MemoryWrite[] {
  const standing: MemoryWrite[] = [];
  for (const write of memoryWrites(input)) {
    const turn = input.history.slice(0, write.at).findLast((message) => message.role === 'user');
    const undone = reflexInput(ownerLine(turn), input, english).fit(forms.undo) !== undefined;
    if (undone) standing.pop();
    else standing.push(write);
  }
  return standing;
}

function inverseOf(write: MemoryWrite): JsonObject | undefined {
  const { action, target, before, after } = write;
  if (action === 'add') return after === undefined ? undefined : { action: 'remove', target, old_text: after };
  if (before === undefined) return undefined;
  if (action === 'remove') return { action: 'add', target, content: before };
  return after === undefined ? undefined : { action: 'replace', target, old_text: after, content: before };
}

function lastingCall(history: readonly Message[]): { readonly call: ToolCallPart; readonly at: number } | undefined {
  for (let at = history.length - 1; at >= 0; at -= 1) {
    const message = history[at];
    const call = message === undefined ? undefined : toolCalls(message).findLast((one) => LASTING.has(one.name));
    if (call !== undefined) return { call, at };
  }
  return undefined;
}

function cannot(call: ToolCallPart, write: MemoryWrite | undefined): ReflexStep {
  const what = call.arguments.command ?? call.arguments.path ?? '';
  const called = `${call.name} ${typeof what === 'string' ? what : ''}`.trim();
  const text = `${texts.cannotUndo.replace('{}', () => called)}\n${texts.undoFiles}`;
  return write === undefined
    ? { type: 'say', text }
    : { type: 'ask', question: text, choices: ['undo the last memory change'] };
}
