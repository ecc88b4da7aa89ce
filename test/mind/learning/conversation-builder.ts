/** Conversations as plain messages: lines of the owner, calls with their results, answers. */
import type { JsonObject } from '#base/json.ts';
import { type Message, type ToolResultPart, userMessage } from '#core/model/message.ts';

export interface CallSpec {
  readonly name?: string;
  readonly args: JsonObject;
  readonly text?: string;
  readonly isError?: boolean;
  readonly refused?: string;
}

let counter = 0;

export function call(args: JsonObject | string, more: Omit<CallSpec, 'args'> = {}): CallSpec {
  return { ...more, args: typeof args === 'string' ? { command: args } : args };
}

/** One turn: the line, one step for each call, the answer. */
export function turn(
  line: string,
  calls: readonly CallSpec[] = [],
  answer = 'Done.',
  model = 'test/model',
): readonly Message[] {
  return [userMessage(line), ...calls.flatMap((one) => step(one, model)), reply(answer, model)];
}

function step(spec: CallSpec, model: string): readonly Message[] {
  counter += 1;
  const callId = `call_${counter}`;
  const { name = 'terminal', args, text = 'ok', isError = false, refused } = spec;
  const exit = name === 'terminal' && refused === undefined ? { exitCode: isError ? 1 : 0 } : {};
  const result: ToolResultPart = {
    type: 'tool-result',
    callId,
    name,
    text,
    isError,
    origin: 'foreign',
    observed: { ms: 1, bytes: text.length, ...exit, ...(refused === undefined ? {} : { refused }) },
  };
  return [
    { role: 'assistant', model, parts: [{ type: 'tool-call', callId, name, arguments: args, origin: 'model' }] },
    { role: 'tool', parts: [result] },
  ];
}

export function reply(text: string, model = 'test/model'): Message {
  return { role: 'assistant', model, parts: [{ type: 'text', text, origin: 'model' }] };
}
