// Owns making a history legal again after a process died in mid-turn: every call gets a result.
// Knows no store. Invariant: only adds what is missing, at the place where it is missing when it can still be appended there.
import type { Message, ToolCallPart, ToolMessage } from '#core/model/message.ts';
import { toolCalls } from '#core/model/message.ts';

/** Results to append so that the last assistant message's calls are all answered; empty when the history is legal. */
export function missingResults(history: readonly Message[]): readonly ToolMessage[] {
  const answered = new Set(history.flatMap((message) => (message.role === 'tool' ? [message.parts[0].callId] : [])));
  const lastAssistant = history.findLast((message) => message.role === 'assistant');
  if (!lastAssistant) return [];
  return toolCalls(lastAssistant)
    .filter((call) => !answered.has(call.callId))
    .map(interruptedResult);
}

function interruptedResult(call: ToolCallPart): ToolMessage {
  const text =
    'No result: the process ended while this call was running. It may or may not have had its effect; check before repeating it.';
  const observed = { ms: 0, bytes: 0, refused: 'interrupted' };
  return {
    role: 'tool',
    parts: [
      { type: 'tool-result', callId: call.callId, name: call.name, text, isError: true, origin: 'observed', observed },
    ],
  };
}
